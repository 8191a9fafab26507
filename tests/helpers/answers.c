// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * answers - a server that says the bytes of a file to whoever connects, or never anything.
 *
 * usage: answers [FILE [PORT]]	(of the loopback interface; without PORT, one that is free; prints
 *	its port; until it is ended)
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static char request[65536], bytes[65536];

static size_t read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

	if (file)
		fclose(file);
	return size;
}

/* A request is short: it comes in one piece. */
static void answer(int fd, size_t size)
{
	if (read(fd, request, sizeof(request)) > 0 && write(fd, bytes, size) >= 0)
		shutdown(fd, SHUT_WR);
	while (read(fd, request, sizeof(request)) > 0)
		;
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	size_t size = argc > 1 ? read_file(argv[1]) : 0;

	/* A port may be the one of a server that has just ended. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	address.sin_port = htons(argc > 2 ? (uint16_t)atoi(argv[2]) : 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 16) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
		perror("answers");
		return 1;
	}
	printf("%d\n", ntohs(address.sin_port));
	fclose(stdout);
	for (;;) {
		int client;

		if (argc < 2) {
			pause();
			continue;
		}
		client = accept(fd, NULL, NULL);
		if (client >= 0)
			answer(client, size);
	}
}
