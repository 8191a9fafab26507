/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series - what a field counted in each of many moments: for pictures over time.
 */
#ifndef KVMTOP_HISTORY_SERIES_H
#define KVMTOP_HISTORY_SERIES_H

#include "facts/sample.h"

/* One interval. */
struct series_point {
	uint64_t id;	      /* of the moment, see store.h */
	uint64_t time_ns;     /* CLOCK_REALTIME at its end */
	uint64_t interval_ns; /* its length; 0: not known, no rate */
	bool is_gap;	      /* before it nothing was recorded for a while */
	uint64_t count;	      /* exits that began */
	uint64_t exit_ns;     /* the time of the exits that ended */
	uint64_t hist[HIST_BUCKETS]; /* the exits that ended, by duration */
};

/* Points, oldest first. Zero-initialised is none. */
struct series {
	struct key subject; /* what is counted; GUEST_ANY, -1: of all guests, all vCPUs */
	uint32_t segment;   /* of the moments */
	struct series_point *points;
	size_t nr, room;
	bool is_after_gap; /* the next point will be */
};

#endif
