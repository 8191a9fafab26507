// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's clocks, and how fast they run. */
#include <sys/timex.h>
#include <time.h>

#include "lib/clock.h"

#define TICK_US	   10000
#define FREQ_UNITS 65536e6

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

double clock_rate(void)
{
	struct timex ntp = { .modes = 0 };

	if (adjtimex(&ntp) < 0)
		return 1;
	return (double)ntp.tick / TICK_US * (1 + (double)ntp.freq / FREQ_UNITS);
}
