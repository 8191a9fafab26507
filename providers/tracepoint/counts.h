/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts - what an engine has counted for each guest, or for the host as a whole.
 *
 * A target that goes away leaves its counts in its guest's sums, so that they never go back.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_COUNTS_H
#define KVMTOP_PROVIDERS_TRACEPOINT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "providers/tracepoint/engine.h"

/* Of a guest, or of the host (GUEST_ANY). Arrays are by counter. */
struct guest_counts {
	uint32_t guest;
	uint64_t *retired; /* the sums of targets that are gone */
	uint64_t *now;	   /* the sums of the others */
	bool *was_sampled; /* false: the next row counts from zero */
	bool *is_counted;  /* its event was open at a target */
	bool is_ending;	   /* its targets are gone: it is dropped after one more sample */
	struct guest_counts *next;
};

struct counts {
	const struct counter *counters;
	uint32_t nr_counters;
	struct guest_counts *first;
};

struct guest_counts *counts_find(const struct counts *counts, uint32_t guest); /* NULL: none */
struct guest_counts *counts_get(struct counts *counts, uint32_t guest);
void counts_release(struct counts *counts);

/* The counter is wanted from now on; is_running: its events were not closed since the last want. */
void counts_begin(struct counts *counts, uint32_t counter, bool is_running);

/* Zeroes the sums that are read next. */
void counts_clear_now(struct counts *counts);

/*
 * Ends the counts of each guest that is not in targets and not keep: after the next sample, or,
 * with is_new_want, at once.
 */
void counts_end(struct counts *counts, const struct target *targets, size_t nr, uint32_t keep,
		bool is_new_want);

/*
 * Adds a row for each guest and wanted counter, then drops the guests that have ended. failed: by
 * counter, an -errno if it is not counted everywhere: then it gets no first row; NULL: none failed.
 *
 */
void counts_emit(struct counts *counts, const bool *is_wanted, const int *failed,
		 struct sample *sample);

/* Ascending by (is_thread, id), for qsort() and bsearch() over struct target. */
int target_compare(const void *a, const void *b);

#endif
