/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * datagrams - a process that is full of softirqs: it sends datagrams to itself by the loopback
 * device, where a softirq takes each one within the call.
 *
 * usage: datagrams [--name NAME] NR
 *
 * Prints "ready PID", waits for a line on stdin, sends, prints "done", and stays for two minutes.
 * What its socket has no room for is dropped. Exit status: 0; 1 failure.
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/worlds/small_guest.h"

int main(int argc, char **argv)
{
	static const char text[64];
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int first = first_argument(argc, argv);
	int fd = must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(bind(fd, (struct sockaddr *)&address, size), "bind");
	must(getsockname(fd, (struct sockaddr *)&address, &size), "getsockname");
	must(connect(fd, (struct sockaddr *)&address, size), "connect");
	small_guest_wait();
	for (uint32_t left = first < argc ? number_of(argv[first]) : 0; left > 0; left--) {
		if (send(fd, text, sizeof(text), 0) < 0)
			die("send");
	}
	small_guest_stay();
	return 0;
}
