/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts - what an engine has counted for each guest, or for the host as a whole.
 *
 * Targets come and go; what one that left had counted stays in its guest's tally.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_COUNTS_H
#define KVMTOP_PROVIDERS_TRACEPOINT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "providers/tracepoint/engine.h"

enum tally_state {
	TALLY_FRESH,   /* not in a sample yet, its events are new */
	TALLY_RUNNING, /* has been in a sample */
};

/* Arrays are by counter. */
struct tally {
	uint32_t guest;
	uint64_t *retired; /* from targets that are gone */
	uint64_t *now;
	uint8_t *state;	  /* enum tally_state */
	bool *is_counted; /* something was open for it */
	bool is_ending;	  /* its targets are gone: once more, and it is dropped */
	struct tally *next;
};

struct tallies {
	const struct counter *counters;
	uint32_t nr_counters;
	struct tally *first;
};

struct tally *tallies_find(const struct tallies *tallies, uint32_t guest); /* NULL: none */
struct tally *tallies_get(struct tallies *tallies, uint32_t guest); /* NULL: no memory */
void tallies_release(struct tallies *tallies);

/* A counter is wanted from now on; is_running: its events were still open. */
void tallies_begin(struct tallies *tallies, uint32_t counter, bool is_running);

/* Zeroes what is to be read now. */
void tallies_clear_now(struct tallies *tallies);

/*
 * Ends the tallies of guests that are neither among the targets nor keep; is_asked_anew: at once,
 * for the question is another one now.
 */
void tallies_end(struct tallies *tallies, const struct target *targets, size_t nr, uint32_t keep,
		 bool is_asked_anew);

/*
 * A row for each tally and wanted counter, and drops what has ended. failed: by counter, why it is
 * not counted everywhere, or 0; such a one is not begun. NULL: all are counted. 0 or -ENOMEM.
 */
int tallies_emit(struct tallies *tallies, const bool *is_wanted, const int *failed,
		 struct sample *sample);

/* Ascending by (is_thread, id), for qsort() and bsearch() over struct target. */
int target_compare(const void *a, const void *b);

#endif
