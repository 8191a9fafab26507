// SPDX-License-Identifier: GPL-2.0-or-later
/* What clients get: documents, statuses, and no more connections than there may be. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/http/server.h"
#include "tests/unit/unit.h"

#define OF_ADDRESS 64 /* connections */
#define LARGE ((size_t)8 << 20)

static char folder[64], address[128];
static struct sockaddr_un unix_address = { .sun_family = AF_UNIX };
static struct server *server;
static struct document *shared; /* what /shared gets */
static bool took_gzip;

static unsigned int answer(void *arg, const struct server_request *request,
			   struct document **ret_document)
{
	assert_ptr_equal(arg, &server);
	took_gzip = request->takes_gzip;
	if (strcmp(request->path, "/none") == 0)
		return 503;
	if (strcmp(request->path, "/shared") == 0)
		*ret_document = document_hold(shared);
	else if (strcmp(request->path, "/text") == 0)
		*ret_document = document_new("text/plain", "hello\n", 6, false);
	else
		return 404;
	return 200;
}

static void start(const char *where)
{
	const struct server_config config = { .address = where, .answer = answer, .arg = &server };
	struct error error = { "" };
	bool is_open = true;

	if (server_start(&config, &server, &is_open, &error) != 0) {
		print_message("%s\n", error.text);
		skip(); /* the library is not there */
	}
	assert_false(is_open);
}

static int setup(void **state)
{
	(void)state;
	server = NULL;
	shared = NULL;
	strcpy(folder, "/tmp/kvmtop-server.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(unix_address.sun_path, sizeof(unix_address.sun_path), "%s/socket", folder);
	snprintf(address, sizeof(address), "unix:%s", unix_address.sun_path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	server_stop(server);
	document_drop(shared);
	return rmdir(folder); /* so the socket is gone */
}

static int connect_here(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&unix_address, sizeof(unix_address)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Up to the end of the connection, or of the room; returns how much there was. */
static size_t hear(int fd, char *text, size_t room)
{
	size_t len = 0;
	ssize_t got;

	while (len + 1 < room && (got = recv(fd, text + len, room - len - 1, 0)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	return len;
}

/* The whole answer to a request, which ends the connection. */
static const char *ask(const char *method, const char *path, const char *more)
{
	static char text[16384];
	char request[512];
	int fd = connect_here();

	snprintf(request, sizeof(request),
		 "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", method, path, more);
	say(fd, request);
	hear(fd, text, sizeof(text));
	close(fd);
	return text;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
	size_t len = strlen(text), end = strlen(with);

	return len >= end && strcmp(text + len - end, with) == 0;
}

TEST(requests_are_answered, setup, teardown)
{
	const char *text;

	start(address);
	text = ask("GET", "/text", "");
	assert_true(begins(text, "HTTP/1.1 200 OK\r\n"));
	assert_non_null(strstr(text, "\r\nContent-Type: text/plain\r\n"));
	assert_non_null(strstr(text, "\r\nX-Content-Type-Options: nosniff\r\n"));
	assert_null(strstr(text, "Content-Encoding"));
	assert_true(ends(text, "\r\n\r\nhello\n"));
	text = ask("HEAD", "/text", "");
	assert_non_null(strstr(text, "\r\nContent-Length: 6\r\n"));
	assert_true(ends(text, "\r\n\r\n"));
	assert_true(begins(ask("GET", "/other", ""), "HTTP/1.1 404 Not Found\r\n"));
	assert_true(ends(ask("GET", "/none", ""),
			 "\r\n\r\n503: there are no numbers now: try again later\n"));
	text = ask("POST", "/text", "Content-Length: 4\r\n\r\nbody");
	assert_true(begins(text, "HTTP/1.1 405 "));
	assert_non_null(strstr(text, "\r\nAllow: GET, HEAD\r\n"));
}

/* Only who says so gets what is compressed. */
TEST(codings, setup, teardown)
{
	static const struct {
		const char *header;
		bool takes;
	} cases[] = {
		{ "", false },
		{ "Accept-Encoding: gzip\r\n", true },
		{ "Accept-Encoding: deflate, gzip;q=0.5\r\n", true },
		{ "Accept-Encoding: gzip;q=0\r\n", false },
		{ "Accept-Encoding: deflate, br\r\n", false },
	};

	shared = document_new("text/plain", "hello\n", 6, true);
	start(address);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_non_null(strstr(ask("GET", "/shared", cases[i].header),
				       "\r\nContent-Encoding: gzip\r\n"));
		if (took_gzip != cases[i].takes)
			fail_msg("%s", cases[i].header);
	}
}

/* A header that has no end is refused, and other clients get their answers. */
TEST(a_long_header, setup, teardown)
{
	static char text[65536];
	int fd;

	start(address);
	fd = connect_here();
	say(fd, "GET /text HTTP/1.1\r\nX: ");
	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 4; i++)
		(void)!send(fd, text, sizeof(text), MSG_NOSIGNAL);
	assert_true(ends(ask("GET", "/text", ""), "hello\n"));
	hear(fd, text, sizeof(text));
	assert_true(!text[0] || begins(text, "HTTP/1.1 4"));
	close(fd);
}

/* Who reads slowly has all of a document that is dropped meanwhile; others do not wait. */
TEST(a_slow_reader, setup, teardown)
{
	char *bytes = calloc(1, LARGE + 4096);
	size_t len;
	int fd;

	assert_non_null(bytes);
	memset(bytes, 'b', LARGE);
	shared = document_new("text/plain", bytes, LARGE, false);
	start(address);
	fd = connect_here();
	say(fd, "GET /shared HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	assert_int_equal(recv(fd, bytes, 4, MSG_WAITALL), 4);
	document_drop(shared);
	shared = NULL;
	assert_true(ends(ask("GET", "/text", ""), "hello\n"));
	len = hear(fd, bytes, LARGE + 4096);
	assert_true(len > LARGE && bytes[len - 1] == 'b' && bytes[len - LARGE] == 'b');
	close(fd);
	free(bytes);
}

/* It ends at once, whatever its clients are doing. */
TEST(the_end, setup, teardown)
{
	char text[64];
	int idle, asking;

	start(address);
	idle = connect_here();
	asking = connect_here();
	say(asking, "GET /tex");
	assert_true(ends(ask("GET", "/text", ""), "hello\n")); /* both are accepted */
	server_stop(server);
	server = NULL;
	assert_int_equal(hear(idle, text, sizeof(text)), 0);
	assert_int_equal(hear(asking, text, sizeof(text)), 0);
	close(idle);
	close(asking);
}

/* ---- clients of an address */

static struct sockaddr_in tcp_address;

/* A port that was free a moment ago. */
static void choose_port(char *text, size_t size)
{
	socklen_t len = sizeof(tcp_address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	tcp_address = (struct sockaddr_in){ .sin_family = AF_INET,
					    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	assert_int_equal(bind(fd, (struct sockaddr *)&tcp_address, sizeof(tcp_address)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&tcp_address, &len), 0);
	close(fd);
	snprintf(text, size, "127.0.0.1:%u", ntohs(tcp_address.sin_port));
}

/* Whether a client from there gets an answer; the connection stays, in ret_fd. */
static bool is_answered(const char *from, int *ret_fd)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { inet_addr(from) } };
	const struct timeval limit = { .tv_sec = 5 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char text[512];
	ssize_t got;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof(here)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&tcp_address, sizeof(tcp_address)), 0);
	(void)!send(fd, "GET /text HTTP/1.1\r\nHost: x\r\n\r\n", 31, MSG_NOSIGNAL);
	got = recv(fd, text, sizeof(text), 0);
	*ret_fd = fd;
	return got > 0 && begins(text, "HTTP/1.1 200 ");
}

TEST(an_address_has_its_share, setup, teardown)
{
	int fds[OF_ADDRESS], fd, tries = 0;
	char where[32];

	choose_port(where, sizeof(where));
	start(where);
	for (int i = 0; i < OF_ADDRESS; i++)
		assert_true(is_answered("127.0.0.1", &fds[i]));
	assert_false(is_answered("127.0.0.1", &fd));
	close(fd);
	assert_true(is_answered("127.0.0.2", &fd));
	close(fd);
	close(fds[0]);
	while (!is_answered("127.0.0.1", &fds[0]) && tries++ < 50) { /* until it sees the end */
		close(fds[0]);
		usleep(20000);
	}
	assert_true(tries < 50);
	for (int i = 0; i < OF_ADDRESS; i++)
		close(fds[i]);
}
