/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state - the totals of all keys after a moment: totals that were stored, and changes since.
 */
#ifndef KVMTOP_HISTORY_STATE_H
#define KVMTOP_HISTORY_STATE_H

#include "history/moment.h"
#include "history/reader.h"

struct key_state {
	struct key key;
	uint32_t flags; /* CHANGE_* of the moment's change; 0: nothing changed */
	bool is_absent; /* in the sample no more */
	bool is_timed;
	bool is_gone;	/* forgotten with this moment */
	/* Buckets, see struct change_timing; nr_counts 0: nothing ended, or it is not known. */
	uint8_t first_bucket, nr_counts;
	const uint64_t *counts; /* the moment's changes' */
	uint64_t count; /* the total, or the level */
	uint64_t time_ns, max_ns; /* of what ended */
	uint64_t open_ns; /* how long what has not ended has lasted */
	uint64_t spent_ns; /* the time as it passed */
	uint64_t parent_before; /* see struct stats_item */
	/*
	 * A counter that grows through resets, and begins at 0 when its key comes back, has the
	 * value count - count_base. Likewise the time.
	 */
	uint64_t count_base, time_base;
	uint32_t hist; /* see state_hist() */
};

/* Zero-initialised is empty. */
struct state {
	struct key_state *list; /* ascending by key */
	size_t nr, room;
	bool has_gone;
	/* Only where moments are added up, see state_keep_hists(): so most states are small. */
	uint32_t (*hists)[HIST_BUCKETS];
	size_t nr_hists, room_hists;
	uint32_t free_hist; /* the first that is free, and in each the next one; 0: none */
};

/* Replaces the state by a moment's totals. */
void state_load(struct state *state, const struct moment *moment);

/*
 * Goes on to the next moment. flags: the moment's, MOMENT_*; ids: of its segment. Its changes are
 * sorted, and outlive the next call. Durations that were not unpacked stay as the state has them.
 */
void state_apply(struct state *state, const struct changes *changes, uint32_t flags,
		 const struct reader *reader);

/* Remembers the counts; call it before the latest changes are replaced. */
void state_keep_hists(struct state *state);
/* The counts that are remembered of a key; NULL: all are 0. */
static inline const uint32_t *state_hist(const struct state *state, const struct key_state *key)
{
	return key->hist ? state->hists[key->hist - 1] : NULL;
}
/* Forgets the counts of all keys. */
void state_forget_hists(struct state *state);

/* Goes back to the state before these changes, which were the latest. */
void state_undo(struct state *state, const struct changes *changes,
		const struct reader *reader);

void state_release(struct state *state);

#endif
