// SPDX-License-Identifier: GPL-2.0-or-later
/* A socket that systemd passes, and whether other machines can reach it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/address.h"

#define PASSED 3 /* systemd's first descriptor */

/* Passes a socket at an address as systemd does, and says what address_listen() says of it. */
static int listen_at(const char *host, bool *ret_is_open)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { inet_addr(host) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0), ret_fd = -1, err;
	struct why why = { "" };
	char pid[16];

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(dup2(fd, PASSED), PASSED);
	if (fd != PASSED)
		close(fd);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	err = address_listen("systemd", &ret_fd, ret_is_open, &why);
	assert_int_equal(ret_fd, PASSED);
	close(PASSED);
	return err;
}

static void test_systemd_is_open(void **state)
{
	bool is_open = true;

	(void)state;
	assert_int_equal(listen_at("127.0.0.1", &is_open), 0);
	assert_false(is_open);
	assert_int_equal(listen_at("0.0.0.0", &is_open), 0);
	assert_true(is_open);
}

static void test_systemd_passes_none(void **state)
{
	bool is_open = true;
	struct why why;
	int fd = -1;

	(void)state;
	unsetenv("LISTEN_PID");
	assert_int_equal(address_listen("systemd", &fd, &is_open, &why), -ENOENT);
	assert_int_equal(fd, -1);
	assert_false(is_open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_systemd_is_open),
		cmocka_unit_test(test_systemd_passes_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
