/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * minutes - the exits of a minute by guest and reason, summed up from its moments.
 *
 * A moment belongs to the minute in which the middle of its interval is.
 */
#ifndef KVMTOP_HISTORY_MINUTES_H
#define KVMTOP_HISTORY_MINUTES_H

#include "history/moment.h"

struct minute_row {
	uint32_t guest, field; /* the field of the reason */
	uint64_t count;
	bool is_timed; /* the rest is known */
	uint64_t time_ns, max_ns, p50_ns, p99_ns;
};

/* Zero-initialised: nothing was added. */
struct minutes {
	uint64_t start_s; /* of the minute that is summed up, in seconds since 1970; 0: none is */
	struct minute_sum *sums;
	struct minute_sum *next; /* where the next key likely is: they come in the same order */
};

/* In which minute a moment is. */
uint64_t minute_of(const struct moment *moment);

/* Adds a moment to the minute. fields: the dictionary of its ids. */
void minutes_add(struct minutes *minutes, const struct moment *moment,
		 const struct fields *fields);

/* Called for each row, ascending by guest and field. 0 goes on; else it is returned. */
typedef int (*minute_row_fn)(void *arg, const struct minute_row *row);
int minutes_each(struct minutes *minutes, minute_row_fn take, void *arg);

/* Begins with the next minute. */
void minutes_reset(struct minutes *minutes);
void minutes_release(struct minutes *minutes);

#endif
