/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * totals - the state after any moment: stored totals, and the changes since. What was found is kept
 * at intervals, because the next moment that is asked for is probably near.
 */
#ifndef KVMTOP_HISTORY_TOTALS_H
#define KVMTOP_HISTORY_TOTALS_H

#include "history/reader.h"
#include "history/state.h"

#define MILESTONES 16

/* Gets each moment that is unpacked for the totals. take: 0, or -errno with why. */
struct totals_watch {
	int (*take)(void *arg, const struct stored *stored, const struct moment *moment,
		    struct error *why);
	void *arg;
};

/* The state after a moment. */
struct milestone {
	uint64_t id; /* 0: none */
	struct state state;
};

/* Zero-initialised is empty. */
struct totals {
	struct milestone milestones[MILESTONES];
	size_t next;
	struct state prepared; /* see totals_prepare() */
	struct moment moment;  /* the latest that was unpacked */
};

/*
 * Makes *state the state after a moment of the segment that the reader has entered. *state_id: the
 * moment that the state is after, before the call and after it; 0: none. 0, or -errno with why and
 * *state_id 0. watch may be NULL.
 */
int totals_load(struct totals *totals, struct reader *reader, const struct stored *stored,
		const struct totals_watch *watch, struct state *state, uint64_t *state_id,
		struct error *why);

/*
 * For a moment soon after stored totals: prepares the state before these totals, for steps back.
 * Each call takes a few ms. 1: there is more to do; 0: not now, or -errno with why.
 */
int totals_prepare(struct totals *totals, struct reader *reader, const struct stored *stored,
		   struct error *why);

void totals_release(struct totals *totals);

#endif
