/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock - the times that samples are stamped with.
 */
#ifndef KVMTOP_LIB_CLOCK_H
#define KVMTOP_LIB_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds; never 0. */
uint64_t clock_now_ns(void);

/* CLOCK_REALTIME in nanoseconds: the time of day. */
uint64_t clock_real_ns(void);

/*
 * How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, modulo 2^64. A thread may lose its CPU
 * between two readings, so the closest of a few is taken.
 */
static inline uint64_t clock_ahead_ns(void)
{
	uint64_t closest = UINT64_MAX, ahead = 0;

	for (int i = 0; i < 8 && closest > 1000; i++) {
		uint64_t before = clock_now_ns(), real = clock_real_ns();
		uint64_t apart = clock_now_ns() - before;

		if (apart < closest) {
			closest = apart;
			ahead = real - before - apart / 2;
		}
	}
	return ahead;
}

/*
 * How fast CLOCK_MONOTONIC runs, as NTP wills it: 1 is the speed that the machine's own counter is
 * said to have.
 */
double clock_rate(void);

#endif
