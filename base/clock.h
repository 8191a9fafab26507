/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock - the times that samples are stamped with.
 */
#ifndef KVMTOP_BASE_CLOCK_H
#define KVMTOP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds; never 0. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* CLOCK_REALTIME in nanoseconds: the time of day. */
static inline uint64_t clock_real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
