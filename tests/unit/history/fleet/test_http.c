// SPDX-License-Identifier: GPL-2.0-or-later
/* What comes back from a server: answers of any status, and no more bytes or time than allowed. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "history/fleet/http.h"
#include "lib/array.h"
#include "lib/xalloc.h"
#include "tests/unit/unit.h"

static int listener;
static pthread_t thread;
static struct http *http;
static unsigned char *zeros; /* HTTP_ANSWER_MAX and more, */
static unsigned char *packed; /* and the same compressed */
static size_t packed_size;

/* ---- a server in a thread; a connection has one request */

static void pack_zeros(void)
{
	z_stream stream = { .next_in = zeros, .avail_in = HTTP_ANSWER_MAX + 1 };

	packed = xmalloc(1 << 20);
	stream.next_out = packed;
	stream.avail_out = 1 << 20;
	assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	packed_size = stream.total_out;
	deflateEnd(&stream);
}

static void send_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;
	ssize_t sent = 1;

	for (; size && sent > 0; size -= (size_t)sent, at += sent) {
		sent = send(fd, at, size, MSG_NOSIGNAL);
		if (sent < 0)
			return;
	}
}

static void respond(int fd, const char *head, const void *body, size_t size)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", head, size);
	send_all(fd, text, strlen(text));
	send_all(fd, body, size);
}

static void *serve(void *arg)
{
	char request[4096];
	ssize_t got;
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		got = recv(fd, request, sizeof(request) - 1, 0);
		request[got > 0 ? got : 0] = '\0';
		if (strncmp(request, "POST /most ", 11) == 0)
			respond(fd, "200 OK", zeros, HTTP_ANSWER_MAX);
		else if (strncmp(request, "POST /more ", 11) == 0)
			respond(fd, "200 OK", zeros, HTTP_ANSWER_MAX + 1);
		else if (strncmp(request, "POST /half ", 11) == 0)
			respond(fd, "200 OK", zeros, HTTP_ANSWER_MAX / 2 + 1);
		else if (strncmp(request, "POST /packed ", 13) == 0)
			respond(fd, "200 OK\r\nContent-Encoding: gzip", packed, packed_size);
		else if (strncmp(request, "POST /moved ", 12) == 0)
			respond(fd, "302 Found\r\nLocation: /form", "elsewhere", 9);
		else if (strncmp(request, "POST /silent ", 13) == 0)
			(void)!recv(fd, request, sizeof(request), 0); /* until it is closed */
		else
			respond(fd, "400 Bad Request", request, strlen(request));
		close(fd);
	}
	return arg;
}

static int setup(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	static const struct http_access none;
	socklen_t len = sizeof(address);
	struct error error = { "" };
	char url[64];

	(void)state;
	unsetenv("http_proxy");
	zeros = xcalloc(1, HTTP_ANSWER_MAX + 1);
	pack_zeros();
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, len) < 0 || listen(listener, 9) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) < 0)
		return -1;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	http = NULL;
	if (http_open(url, &none, &http, &error) != 0)
		print_message("%s\n", error.text);
	return pthread_create(&thread, NULL, serve, NULL);
}

static int teardown(void **state)
{
	(void)state;
	http_close(http);
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	free(zeros);
	free(packed);
	return close(listener);
}

/* Sends the query nr times at once. */
static int ask(struct http_query *query, size_t nr, const char *path, long timeout_ms,
	       struct error *error)
{
	if (!http)
		skip();
	for (size_t i = 0; i < nr; i++)
		query[i] = (struct http_query){ .path = path, .form = xstrdup("query=up") };
	return http_send(http, query, nr, timeout_ms, error);
}

TEST(answers_of_any_status, setup, teardown)
{
	struct http_query query;
	struct error error = { "" };

	assert_int_equal(ask(&query, 1, "/form", 9000, &error), 0);
	assert_int_equal(query.status, 400);
	assert_memory_equal(query.body + query.size - 8, "query=up", 8);
	http_drop(&query, 1);
	/* User and password go to no other server. */
	assert_int_equal(ask(&query, 1, "/moved", 9000, &error), 0);
	assert_int_equal(query.status, 302);
	assert_memory_equal(query.body, "elsewhere", query.size);
	http_drop(&query, 1);
}

TEST(answers_that_are_too_large, setup, teardown)
{
	struct http_query queries[2];
	struct error error = { "" };

	assert_int_equal(ask(queries, 1, "/most", 9000, &error), 0);
	assert_int_equal(queries[0].size, HTTP_ANSWER_MAX);
	http_drop(queries, 1);
	assert_int_equal(ask(queries, 1, "/more", 9000, &error), -EFBIG);
	assert_non_null(strstr(error.text, ": the answers are larger than 32 MiB"));
	http_drop(queries, 1);
	assert_int_equal(ask(queries, 1, "/packed", 9000, &error), -EFBIG);
	http_drop(queries, 1);
	/* All answers of a call together; the next call begins anew. */
	assert_int_equal(ask(queries, 2, "/half", 9000, &error), -EFBIG);
	http_drop(queries, 2);
	assert_int_equal(ask(queries, 1, "/half", 9000, &error), 0);
	http_drop(queries, 1);
}

TEST(no_answer, setup, teardown)
{
	struct http_query query;
	struct error error = { "" };

	assert_int_equal(ask(&query, 1, "/silent", 1000, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, " has not answered within 1 s"));
	http_drop(&query, 1);
	http_stop(http);
	assert_int_equal(ask(&query, 1, "/silent", 9000, &error), -ECANCELED);
	http_drop(&query, 1);
}

/* Opens another way to the server, and sends a query to what the URL names. */
static char *asked(const char *url, const struct http_access *access)
{
	struct error error = { "" };
	struct http_query query;

	http_close(http);
	http = NULL;
	assert_int_equal(http_open(url, access, &http, &error), 0);
	assert_int_equal(ask(&query, 1, "/x", 9000, &error), 0);
	array_grow(&query.body, &query.room, query.size + 1);
	query.body[query.size] = '\0';
	free(query.form);
	return query.body;
}

TEST(servers_by_other_names, setup, teardown)
{
	static const struct http_access none;
	const char *address = http ? http_url(http) + strlen("http://") : NULL;
	char *urls[3], *body;

	if (!address)
		skip();
	urls[0] = xasprintf("http://%s//", address);
	urls[1] = xstrdup(address);
	urls[2] = xasprintf("%s/", address);
	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		body = asked(urls[i], &none);
		assert_memory_equal(body, "POST /x HTTP/1.1", 16);
		free(body);
		free(urls[i]);
	}
}

TEST(headers_and_a_proxy, setup, teardown)
{
	char *headers[] = { xstrdup("X-Scope-OrgID: a"), xstrdup("empty;") };
	struct http_access access = { .headers = headers, .nr_headers = 2 };
	char *body;

	if (!http)
		skip();
	access.proxy_url = xstrdup(http_url(http));
	setenv("no_proxy", "*", 1);
	body = asked("http://elsewhere.invalid/prefix/", &access);
	assert_memory_equal(body, "POST http://elsewhere.invalid/prefix/x HTTP/1.1", 47);
	assert_non_null(strstr(body, "\r\nX-Scope-OrgID: a\r\n"));
	assert_non_null(strstr(body, "\r\nempty:\r\n"));
	free(body);
	unsetenv("no_proxy");
	free(access.proxy_url);
	free(headers[0]);
	free(headers[1]);
}

TEST(text_of_a_form)
{
	char *escaped = http_escape("a-Z_0.9~ {x=\"\xc3\xa4\"}&+%");

	assert_string_equal(escaped, "a-Z_0.9~%20%7Bx%3D%22%C3%A4%22%7D%26%2B%25");
	free(escaped);
}
