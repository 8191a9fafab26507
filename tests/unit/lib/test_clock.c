// SPDX-License-Identifier: GPL-2.0-or-later
/* The two clocks beside each other, and the speed of one. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/timex.h>

static uint64_t fake_now(void);
static uint64_t fake_real(void);

/* clock_ahead_ns() is in the header: here it reads other clocks. */
#define clock_now_ns  fake_now
#define clock_real_ns fake_real
#include "lib/clock.h"
#include "tests/unit/unit.h"

/* A machine on which the thread loses its CPU for 50 ms at the readings of the given numbers. */
static uint64_t now_ns, real_ahead_ns;
static unsigned int nr_readings, loses_at;

static uint64_t fake_now(void)
{
	return now_ns += loses_at >> nr_readings++ & 1 ? 50000000 : 100;
}

static uint64_t fake_real(void)
{
	return fake_now() + real_ahead_ns;
}

TEST(test_ahead)
{
	static const unsigned int losses[] = { 0, 1 << 0, 1 << 1, 1 << 2, 1 << 1 | 1 << 5,
					       0xffffff };

	real_ahead_ns = 1700000000000000000;
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		nr_readings = 0;
		now_ns = 5000000000;
		loses_at = losses[i];
		assert_int_equal(clock_ahead_ns(), real_ahead_ns);
	}
}

/* In this program adjtimex(2) is this. */
static struct timex discipline;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has its own names */
int adjtimex(struct timex *timex)
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
	assert_true(is_near(clock_rate(), 1));
	discipline.freq = -65536 * 500;
	assert_true(is_near(clock_rate(), 0.9995));
	discipline = (struct timex){ .tick = 10001, .freq = 65536 / 2 };
	assert_true(is_near(clock_rate(), 1.0001005));
	discipline.tick = 0; /* cannot be asked */
	assert_true(is_near(clock_rate(), 1));
}
