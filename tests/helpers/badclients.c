// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * badclients - does to an HTTP server at a port of this machine what bad clients do, and after each
 * says whether it still answers: idle connections, many that come and go, many that never stop to
 * say something, long, broken and half requests, slow readers.
 *
 * usage: badclients PORT [slow]; slow: also waits until slow clients have had their time
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define IDLE 1000
#define DRIPPING 2500
#define DRIP_S 25 /* longer than a server waits for a request */
#define BURST 4000
#define SOON_S 5
#define LONG (1 << 20)
#define GET "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static struct sockaddr_in address = { .sin_family = AF_INET };

/* Bad clients are from 127.0.0.2: as many from one address as a server takes are all it has. */
static int connect_from(uint32_t host)
{
	const struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr = { htonl(host) } };
	const struct timeval patience = { .tv_sec = 30 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (bind(fd, (const struct sockaddr *)&from, sizeof(from)) == 0 &&
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static int open_connection(void)
{
	return connect_from(INADDR_LOOPBACK + 1);
}

static void say(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = send(fd, text, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		text += n;
		size -= (size_t)n;
	}
}

/* Whether the server answers one more client. */
static bool answers_to(uint32_t host)
{
	int fd = connect_from(host);
	char text[64] = "";
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return false;
	say(fd, GET, strlen(GET));
	while (n > 0 && len < sizeof(text) - 1) {
		n = recv(fd, text + len, sizeof(text) - 1 - len, 0);
		len += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	return strncmp(text, "HTTP/1.1 200 ", 13) == 0;
}

static bool answers(void)
{
	return answers_to(INADDR_LOOPBACK);
}

static void check(const char *name)
{
	printf("%s: %s\n", name, answers() ? "answers" : "no answer");
	fflush(stdout);
}

/* The same, for which it must not take long. */
static void check_soon(const char *name, time_t begin)
{
	bool is_answered = answers();

	printf("%s: %s\n", name, !is_answered ? "no answer" :
				 time(NULL) - begin > SOON_S ? "an answer, late" : "answers");
	fflush(stdout);
}

/* Says something on a new connection and leaves without a goodbye. */
static void say_and_leave(const char *text, size_t size)
{
	const struct linger at_once = { .l_onoff = 1 };
	int fd = open_connection();

	if (fd < 0)
		return;
	say(fd, text, size);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

static void burst(void)
{
	time_t begin = time(NULL);

	for (int i = 0; i < BURST; i++) {
		int fd = open_connection();

		if (fd < 0)
			break;
		say(fd, "GET /metrics HTTP/1.1\r\nX: ", 27);
		close(fd);
	}
	check_soon("burst", begin);
}

/* They are ended when a request took too long: then their address is served again. */
static void wait_for_end(time_t begin)
{
	bool is_refused = !answers_to(INADDR_LOOPBACK + 1);

	while (time(NULL) - begin < DRIP_S - 2)
		sleep(1);
	printf("their address: %s\n", !is_refused ? "has no limit" :
				      answers_to(INADDR_LOOPBACK + 1) ? "answers" : "no answer");
}

/* A process goes on to drip, so that none of its connections is idle. */
static void drip(bool waits)
{
	static int fds[DRIPPING];
	time_t begin = time(NULL);
	pid_t child;

	for (int i = 0; i < DRIPPING; i++) {
		fds[i] = open_connection();
		if (fds[i] >= 0)
			say(fds[i], "GET /metrics HTTP/1.1\r\nX: ", 27);
	}
	child = fork();
	for (int s = 0; child == 0 && s < DRIP_S; s++) {
		sleep(1);
		for (int i = 0; i < DRIPPING; i++) {
			if (fds[i] >= 0)
				send(fds[i], "a", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		}
	}
	if (child == 0)
		_exit(0);
	for (int i = 0; i < DRIPPING; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	check_soon("dripping clients", begin);
	if (waits)
		wait_for_end(begin);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
}

static void idle(void)
{
	static int fds[IDLE];
	int nr = 0;

	for (int i = 0; i < IDLE; i++) {
		fds[i] = open_connection();
		nr += fds[i] >= 0;
	}
	printf("%d connections\n", nr);
	check("idle");
	for (int i = 0; i < IDLE; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/* A request that begins well and never ends. */
static void long_request(char *text, const char *begin)
{
	memset(text, 'a', LONG);
	for (size_t i = 0; begin[i]; i++)
		text[i] = begin[i];
	say_and_leave(text, LONG);
}

static void slow_reader(void)
{
	static const char get[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	int fd = open_connection(), small = 1;
	char byte;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (int i = 0; i < 200; i++)
		say(fd, get, strlen(get));
	(void)!recv(fd, &byte, 1, 0);
	check("slow reader");
	close(fd);
}

int main(int argc, char **argv)
{
	static char text[LONG];
	struct rlimit limit;

	if (argc != 2 && argc != 3)
		return 2;
	address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	idle();
	burst();
	drip(argc == 3);
	long_request(text, "GET /");
	check("long path");
	long_request(text, "GET / HTTP/1.1\r\nX: ");
	check("long header");
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 2654435761u >> 13);
	say_and_leave(text, sizeof(text));
	check("noise");
	say_and_leave("GET /metrics HT", 15);
	check("half a request");
	say_and_leave("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nx", 58);
	check("a body that never comes");
	slow_reader();
	return 0;
}
