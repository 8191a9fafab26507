// SPDX-License-Identifier: GPL-2.0-or-later
/* Sockets that are made, or that systemd passes, and whether other machines can reach them. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/http/access.h"
#include "lib/http/server.h"
#include "tests/unit/unit.h"

#define PASSED 3 /* systemd's first descriptor */

/* Passes a descriptor as systemd does, and says what address_listen() says of it. */
static int listen_passed(int fd, struct listener *ret_listener)
{
	struct error error = { "" };
	char pid[16];
	int err;

	assert_true(fd >= 0);
	assert_int_equal(dup2(fd, PASSED), PASSED);
	if (fd != PASSED)
		close(fd);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	err = address_listen("systemd", ret_listener, &error);
	assert_int_equal(err ? strstr(error.text, "Accept=no") == NULL :
			       ret_listener->fd != PASSED, 0);
	close(PASSED);
	return err;
}

static int listen_at(const char *host, bool *ret_is_open)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { inet_addr(host) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0), err;
	struct listener listener = { .fd = -1 };

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	err = listen_passed(fd, &listener);
	*ret_is_open = listener.is_open;
	return err;
}

TEST(test_systemd_is_open)
{
	bool is_open = true;

	assert_int_equal(listen_at("127.0.0.1", &is_open), 0);
	assert_false(is_open);
	assert_int_equal(listen_at("0.0.0.0", &is_open), 0);
	assert_true(is_open);
}

TEST(test_systemd_passes_none)
{
	struct listener listener = { .fd = -1 };
	struct error error;

	unsetenv("LISTEN_PID");
	assert_int_equal(address_listen("systemd", &listener, &error), -ENOENT);
	assert_int_equal(listener.fd, -1);
}

/* Sockets that have no clients to accept: a server would turn in circles. */
TEST(test_systemd_passes_another_kind)
{
	struct listener listener = { .fd = -1 };
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(listen_passed(fds[0], &listener), -ENOTSOCK);
	close(fds[1]);
	assert_int_equal(listen_passed(socket(AF_INET, SOCK_DGRAM, 0), &listener), -ENOTSOCK);
	assert_int_equal(listen_passed(socket(AF_INET, SOCK_STREAM, 0), &listener), -ENOTSOCK);
	assert_int_equal(listen_passed(open("/dev/null", O_RDONLY), &listener), -ENOTSOCK);
	assert_int_equal(listener.fd, -1);
}

/* Whether an address with no port of its own is open to other machines; -1: it is refused. */
static int is_open(const char *text)
{
	struct listener listener = { .fd = -1 };
	struct error error = { "" };
	int err = address_listen(text, &listener, &error);

	if (err)
		return -1;
	close(listener.fd);
	return listener.is_open;
}

TEST(test_who_can_reach_it)
{
	assert_int_equal(is_open("0"), 0);
	assert_int_equal(is_open("localhost:0"), 0);
	assert_int_equal(is_open("127.0.0.1:0"), 0);
	assert_int_equal(is_open(":0"), 1); /* as Go has it, and so all of Prometheus' */
	assert_int_equal(is_open("0.0.0.0:0"), 1);
	assert_int_equal(is_open(":"), -1);
	assert_int_equal(is_open("[]:0"), -1);
}

/* Every address: of IPv4, too. */
TEST(test_all_addresses)
{
	struct sockaddr_storage bound;
	struct sockaddr_in ip4 = { .sin_family = AF_INET,
				   .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(bound);
	struct listener listener;
	struct error error = { "" };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(address_listen(":0", &listener, &error), 0);
	assert_int_equal(getsockname(listener.fd, (struct sockaddr *)&bound, &size), 0);
	ip4.sin_port = ((struct sockaddr_in *)&bound)->sin_port; /* at the same place in both */
	assert_int_equal(connect(fd, (struct sockaddr *)&ip4, sizeof(ip4)), 0);
	close(fd);
	close(listener.fd);
}

/* Another program took the path meanwhile: its socket stays. */
TEST(test_removes_its_own_only)
{
	struct listener one, other;
	struct error error = { "" };
	char text[64];
	const char *path = text + strlen("unix:");

	snprintf(text, sizeof(text), "unix:/tmp/test_address.%d", (int)getpid());
	assert_int_equal(address_listen(text, &one, &error), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(address_listen(text, &other, &error), 0);
	address_remove(&one);
	assert_int_equal(access(path, F_OK), 0);
	address_remove(&other);
	assert_int_not_equal(access(path, F_OK), 0);
	close(one.fd);
	close(other.fd);
}

TEST(what_an_address_is)
{
	struct sockaddr_in6 one = { .sin6_family = AF_INET6 }, other = one;
	struct sockaddr_in ip4 = { .sin_family = AF_INET, .sin_addr = { inet_addr("192.0.2.1") } };
	struct client_address a, b;

	inet_pton(AF_INET6, "2001:db8:0:1::1", &one.sin6_addr);
	inet_pton(AF_INET6, "2001:db8:0:1:ffff::2", &other.sin6_addr);
	a = client_address_of((struct sockaddr *)&one);
	b = client_address_of((struct sockaddr *)&other);
	assert_true(client_address_is_same(&a, &b)); /* a network is one client's */
	inet_pton(AF_INET6, "2001:db8:0:2::1", &other.sin6_addr);
	b = client_address_of((struct sockaddr *)&other);
	assert_false(client_address_is_same(&a, &b));
	inet_pton(AF_INET6, "::ffff:192.0.2.1", &other.sin6_addr);
	a = client_address_of((struct sockaddr *)&ip4);
	b = client_address_of((struct sockaddr *)&other);
	assert_true(client_address_is_same(&a, &b));
	/* So is this machine. */
	ip4.sin_addr.s_addr = inet_addr("127.0.0.1");
	a = client_address_of((struct sockaddr *)&ip4);
	ip4.sin_addr.s_addr = inet_addr("127.9.8.7");
	b = client_address_of((struct sockaddr *)&ip4);
	assert_true(client_address_is_same(&a, &b));
}
