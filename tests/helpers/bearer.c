// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bearer - a server that passes on to another one what is asked with the right token, RFC 6750.
 *
 * usage: bearer TOKEN PORT	(of the loopback interface; prints its own port; until it is ended)
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char refusal[] = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n"
			      "Content-Length: 0\r\nConnection: close\r\n\r\n";

static char wanted[512];

static struct sockaddr_in loopback(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* A head is short: it comes in one piece. What is no head belongs to the request before. */
static bool is_allowed(const char *bytes)
{
	bool is_head = strncmp(bytes, "POST ", 5) == 0 || strncmp(bytes, "GET ", 4) == 0;

	return !is_head || strstr(bytes, wanted);
}

/* Passes on what there is to read. False: the end. */
static bool pass(int from, int to, bool is_asked)
{
	static char bytes[65536];
	ssize_t size = read(from, bytes, sizeof(bytes) - 1);

	if (size <= 0)
		return false;
	bytes[size] = '\0';
	if (is_asked && !is_allowed(bytes)) {
		if (write(from, refusal, strlen(refusal)) >= 0)
			shutdown(from, SHUT_WR);
		return false;
	}
	return write(to, bytes, (size_t)size) == size;
}

static void serve(int client, int port)
{
	struct sockaddr_in address = loopback(port);
	int server = socket(AF_INET, SOCK_STREAM, 0);
	struct pollfd fds[] = { { .fd = client, .events = POLLIN },
				{ .fd = server, .events = POLLIN } };

	if (connect(server, (struct sockaddr *)&address, sizeof(address)) < 0)
		return;
	while (poll(fds, 2, -1) > 0) {
		if ((fds[0].revents && !pass(client, server, true)) ||
		    (fds[1].revents && !pass(server, client, false)))
			return;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = loopback(0);
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (argc != 3 || bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 16) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
		perror("bearer");
		return 1;
	}
	snprintf(wanted, sizeof(wanted), "\r\nAuthorization: Bearer %s\r\n", argv[1]);
	signal(SIGCHLD, SIG_IGN);
	printf("%d\n", ntohs(address.sin_port));
	fclose(stdout);
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (client >= 0 && fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(fd);
			serve(client, atoi(argv[2]));
			return 0;
		}
		close(client);
	}
}
