/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series - what a field counted in each of many moments: for pictures over time.
 */
#ifndef KVMTOP_HISTORY_SERIES_H
#define KVMTOP_HISTORY_SERIES_H

#include "core/facts/sample.h"

/* One interval. */
struct series_point {
	uint64_t id;	      /* of the moment, see store.h */
	uint64_t time_ns;     /* CLOCK_REALTIME at its end */
	uint64_t interval_ns; /* its length; 0: not known, no rate */
	bool is_gap;	      /* before it nothing was recorded for a while */
	bool is_first;	      /* since what is counted changed: perhaps a gap is before it */
	uint32_t segment;     /* of the moment */
	uint64_t count;	      /* exits that began */
	uint64_t exit_ns;     /* the time of exits */
	uint64_t hist[HIST_BUCKETS]; /* the exits that ended, by duration */
};

/* Points, oldest first. Zero-initialised is none. */
struct series {
	struct key subject; /* what is counted; GUEST_ANY, -1: of all guests, all vCPUs */
	struct series_point *points;
	size_t nr, room;
	uint64_t first_id, last_id; /* moments up to which it reaches; not all have a point */
	uint32_t first_segment, last_segment;
	bool is_after_start; /* the next point will be a first one */
};

/* Which points are wanted. */
struct series_span {
	size_t nr;	 /* at most so many up to a moment, and SERIES_MAX */
	size_t nr_after; /* and after it; earlier ones in place of any that do not exist yet */
	bool has_times;	 /* exit_ns and hist are wanted */
};
#define SERIES_MAX 512

struct reader;
struct stored;
struct why;

/*
 * Reads the points up to `at` and after it, on through segments of the same boot. Points that the
 * series has already are not read again. The reader may be in another segment afterwards.
 */
int series_read(struct series *series, struct reader *reader, const struct key *subject,
		const struct stored *at, const struct series_span *span, struct why *why);

#endif
