// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies of descriptors, taken from this process itself. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/env.h"
#include "providers/stats/held.h"
#include "tests/unit/unit.h"

#define NR_COPIES 40 /* more than are open at a time */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* The free numbers are at first together, then between files that are no copies. */
static void the_copies_alone_are_closed(void **state)
{
	const struct env env = { 0 };
	struct held held = HELD_NOTHING;
	struct held_look look;
	int others[3 * NR_COPIES], file;
	char bytes[1];

	(void)state;
	held.pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (held.pidfd < 0) {
		print_message("no pidfd_open(2)\n");
		skip();
	}
	file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < 3 * NR_COPIES; i++)
		others[i] = dup(file);
	for (int i = 0; i < NR_COPIES / 2; i++)
		close(others[i]);
	for (int i = NR_COPIES / 2; i < 3 * NR_COPIES; i += 3)
		close(others[i]);
	assert_int_equal(held_look(&env, getpid(), &held, &look), 0);
	for (int i = 0; i < NR_COPIES; i++)
		assert_int_equal(held_read(&look, file, bytes, 0, sizeof(bytes)), 1);
	held_look_away(&look);
	for (int i = 0; i < 3 * NR_COPIES; i++) {
		bool is_free = i < NR_COPIES / 2 || (i - NR_COPIES / 2) % 3 == 0;

		assert_int_equal(is_open(others[i]), !is_free);
		if (!is_free)
			close(others[i]);
	}
	close(file);
	held_release(&held);
}

UNIT(test_held)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_copies_alone_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
