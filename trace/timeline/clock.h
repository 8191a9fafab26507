/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock - from the words of time in recordings to nanoseconds since the beginning.
 */
#ifndef KVMTOP_TRACE_TIMELINE_CLOCK_H
#define KVMTOP_TRACE_TIMELINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct timeline_clock {
	bool has_base;
	uint64_t base; /* what is 0 in the timeline */
	uint64_t hz;   /* cycles in a second; 0: times are nanoseconds */
	bool has_no_tsc; /* the recording's times are of another clock than the TSC */
};

/* Makes this time the one that is after_ns after the beginning. */
static inline void timeline_clock_begin(struct timeline_clock *clock, uint64_t time,
					uint64_t after_ns)
{
	unsigned __int128 after = after_ns;

	/* The base may be before 0: only differences are used. */
	clock->base = time - (uint64_t)(clock->hz ? after * clock->hz / 1000000000 : after);
	clock->has_base = true;
}

static inline int64_t timeline_clock_ns(const struct timeline_clock *clock, uint64_t time)
{
	int64_t since = (int64_t)(time - clock->base);

	if (!clock->hz)
		return since;
	return (int64_t)((__int128)since * 1000000000 / (int64_t)clock->hz);
}

#endif
