// SPDX-License-Identifier: GPL-2.0-or-later
/* The two clocks beside each other, and the speed of one. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/timex.h>
#include <time.h>

/* A machine on which the thread loses its CPU for 50 ms at the readings of the given numbers. */
static uint64_t now_ns, real_ahead_ns;
static unsigned int nr_readings, loses_at;
static struct timex discipline;

static int fake_gettime(clockid_t clock, struct timespec *now);
static int fake_adjtimex(struct timex *timex);

#define clock_gettime fake_gettime
#define adjtimex      fake_adjtimex
#define clock_rate    rate_of_fake
#define clock_now_ns  now_of_fake
#define clock_real_ns real_of_fake
#include "lib/clock.c"
#include "tests/unit/unit.h"
#undef clock_gettime
#undef adjtimex

static int fake_gettime(clockid_t clock, struct timespec *now)
{
	uint64_t ns;

	now_ns += loses_at >> nr_readings++ & 1 ? 50000000 : 100;
	ns = now_ns + (clock == CLOCK_REALTIME ? real_ahead_ns : 0);
	now->tv_sec = (time_t)(ns / 1000000000);
	now->tv_nsec = (long)(ns % 1000000000);
	return 0;
}

TEST(test_ahead)
{
	static const unsigned int losses[] = { 0, 1 << 0, 1 << 1, 1 << 2, 1 << 1 | 1 << 5,
					       0xffffff };

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

static int fake_adjtimex(struct timex *timex)
{
	if (!discipline.tick)
		return -1;
	*timex = discipline;
	return TIME_ERROR;
}

static bool is_near(double value, double wanted)
{
	return value > wanted - 1e-9 && value < wanted + 1e-9;
}

/* 65536 is one millionth. */
TEST(test_rate)
{
	discipline = (struct timex){ .tick = 10000 };
	assert_true(is_near(rate_of_fake(), 1));
	discipline.freq = -65536 * 500;
	assert_true(is_near(rate_of_fake(), 0.9995));
	discipline = (struct timex){ .tick = 10001, .freq = 65536 / 2 };
	assert_true(is_near(rate_of_fake(), 1.0001005));
	discipline.tick = 0; /* cannot be asked */
	assert_true(is_near(rate_of_fake(), 1));
}
