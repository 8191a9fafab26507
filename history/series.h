/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series - what chosen keys did in each of many moments: for pictures over time.
 */
#ifndef KVMTOP_HISTORY_SERIES_H
#define KVMTOP_HISTORY_SERIES_H

#include "facts/facts.h"

/* The keys that are summed up. */
struct series_keys {
	uint32_t guest; /* GUEST_ANY: all */
	int32_t vcpu;	/* -1: all */
	struct field_set fields;
};

/* One interval. */
struct series_point {
	uint64_t time_ns;     /* CLOCK_REALTIME at its end */
	uint64_t interval_ns; /* its length; 0: not known, no rate */
	bool is_gap;	      /* before it nothing was recorded for a while */
	uint64_t count;	      /* exits that began */
	uint64_t exit_ns;     /* the time of the exits that ended */
	uint64_t hist[HIST_BUCKETS]; /* the exits that ended, by duration */
};

/* Points, oldest first. */
struct series {
	struct series_point *points;
	size_t nr, room;
};

#endif
