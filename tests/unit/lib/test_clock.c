// SPDX-License-Identifier: GPL-2.0-or-later
/* The two clocks beside each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

/* A machine on which the thread loses its CPU for 50 ms at the readings of the given numbers. */
static uint64_t now_ns, real_ahead_ns;
static unsigned int nr_readings, loses_at;

static int fake_gettime(clockid_t clock, struct timespec *now);

#define clock_gettime fake_gettime
#include "lib/clock.h"
#include "tests/unit/unit.h"
#undef clock_gettime

static int fake_gettime(clockid_t clock, struct timespec *now)
{
	uint64_t ns;

	now_ns += loses_at >> nr_readings++ & 1 ? 50000000 : 100;
	ns = now_ns + (clock == CLOCK_REALTIME ? real_ahead_ns : 0);
	now->tv_sec = (time_t)(ns / 1000000000);
	now->tv_nsec = (long)(ns % 1000000000);
	return 0;
}

static void test_ahead(void **state)
{
	static const unsigned int losses[] = { 0, 1 << 0, 1 << 1, 1 << 2, 1 << 1 | 1 << 5,
					       0xffffff };

	(void)state;
	real_ahead_ns = 1700000000000000000;
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		uint64_t off;

		nr_readings = 0;
		now_ns = 5000000000;
		loses_at = losses[i];
		off = clock_ahead_ns() - real_ahead_ns;
		assert_true(off == 0);
	}
}

UNIT(test_clock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ahead),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
