/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums - rows that need not be stored, because other rows of the same vCPU add up to them.
 *
 * A vCPU's exits are the sum of its reasons, and its time is the sum of its parts. sums_find()
 * marks such rows where that is so to the digit; unpack.c makes their numbers again. That needs no
 * dictionary: the runs say which fields add up to which.
 */
#ifndef KVMTOP_HISTORY_SUMS_H
#define KVMTOP_HISTORY_SUMS_H

#include "history/moment.h"

/* Fields that add up to one. */
struct sum_run {
	uint32_t first, nr; /* fields */
	uint32_t sum;	    /* the field that is their sum */
};

/* Zero-initialised is empty. */
struct sums {
	struct sum_run *runs; /* ascending */
	size_t nr, room;
	uint32_t *by_field; /* for sums_find() */
	size_t room_fields;
};

void sums_release(struct sums *sums);

/*
 * Makes the runs of sorted changes, and sets CHANGE_IS_SUM in the rows that follow from others: the
 * count, and of durations the time and the buckets.
 */
void sums_find(struct sums *sums, struct changes *changes);

/* Makes change->sum of each row 1 + the index of the CHANGE_IS_SUM row that it adds to; or 0. */
void sums_link(const struct sums *sums, struct changes *changes);

/* Adds up the buckets of rows that are linked. */
void sums_add_hists(struct changes *changes);

/* Takes CHANGE_IS_SUM from all rows. */
void sums_unmark(struct changes *changes);

#endif
