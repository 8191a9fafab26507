// SPDX-License-Identifier: GPL-2.0-or-later
/* Stored totals, and the changes since. Both are sorted by key, so one pass is enough to add. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/play.h"

void state_release(struct state *state)
{
	free(state->list);
	free(state->hists);
	*state = (struct state){ 0 };
}

/* ---- counts of buckets */

static void drop_hist(struct state *state, struct key_state *key)
{
	if (!key->hist)
		return;
	state->hists[key->hist - 1][0] = state->free_hist;
	state->free_hist = key->hist;
	key->hist = 0;
}

static void make_hist(struct state *state, struct key_state *key)
{
	if (key->hist)
		return;
	if (!state->free_hist)
		array_grow(&state->hists, &state->room_hists, state->nr_hists + 1);
	key->hist = state->free_hist ? state->free_hist : (uint32_t)++state->nr_hists;
	if (state->free_hist)
		state->free_hist = state->hists[key->hist - 1][0];
	memset(state->hists[key->hist - 1], 0, sizeof(*state->hists));
}

void state_keep_hists(struct state *state)
{
	for (size_t i = 0; i < state->nr; i++) {
		struct key_state *key = &state->list[i];

		if (key->nr_counts)
			make_hist(state, key);
		for (unsigned int k = 0; k < key->nr_counts; k++)
			state->hists[key->hist - 1][key->first_bucket + k] +=
				(uint32_t)key->counts[k];
		key->nr_counts = 0;
	}
}

void state_forget_hists(struct state *state)
{
	for (size_t i = 0; i < state->nr; i++)
		state->list[i].hist = 0;
	state->nr_hists = 0;
	state->free_hist = 0;
}

/* ---- totals */

static struct key_state state_of_total(const struct changes *changes, const struct change *total)
{
	const struct change_timing *timing = changes_timing(changes, total);

	return (struct key_state){
		.key = total->key,
		.is_absent = total->flags & CHANGE_ABSENT || total->key.guest == STATS_ENDED,
		.is_timed = total->timing != 0,
		.count = total->count,
		.parent_before = total->parent_before,
		.time_ns = timing ? timing->time_ns : 0,
		.open_ns = timing ? timing->open_ns : 0,
		.spent_ns = timing ? change_timing_spent_ns(timing) : 0,
		.max_ns = timing ? timing->max_ns : 0,
	};
}

static struct key_state *find(const struct state *state, const struct key *key)
{
	size_t at = array_lower_bound(state->nr, i, key_compare(&state->list[i].key, key) < 0);

	return at < state->nr && key_compare(&state->list[at].key, key) == 0 ? &state->list[at] :
									       NULL;
}

/* What was forgotten before is in STATS_ENDED. */
static void load_totals(struct state *state, const struct changes *totals)
{
	array_grow(&state->list, &state->room, totals->nr);
	state->nr = 0;
	for (size_t i = 0; i < totals->nr; i++) {
		if (!(totals->list[i].flags & CHANGE_GONE))
			state->list[state->nr++] = state_of_total(totals, &totals->list[i]);
	}
}

/*
 * The user has set totals to 0; levels stay. Counters of providers were not set back: what a sample
 * has, count - count_base, is the same before and after.
 */
static void reset(struct state *state, const struct reader *reader)
{
	for (size_t i = 0; i < state->nr; i++) {
		struct key_state *key = &state->list[i];

		if (!reader_is_counter(reader, key->key.field))
			continue;
		key->parent_before = 0;
		key->count_base -= key->count;
		key->time_base -= key->time_ns;
		key->count = 0;
		key->time_ns = 0;
		key->spent_ns = 0;
		key->max_ns = 0;
	}
}

static void add(struct state *state, struct key_state *key, const struct changes *changes,
		const struct change *change, bool is_counter)
{
	const struct change_timing *timing = changes_timing(changes, change);

	key->flags = change->flags;
	if (change->flags & CHANGE_GONE) {
		key->is_gone = true;
		return;
	}
	if (change->flags & CHANGE_ABSENT) {
		key->is_absent = true;
		key->count_base = key->count;
		key->time_base = key->time_ns;
		key->open_ns = 0;
		drop_hist(state, key);
		return;
	}
	if (change->flags & CHANGE_IS_TOTAL) {
		uint64_t parent_before = key->parent_before;

		*key = state_of_total(changes, change);
		key->parent_before = parent_before;
		return;
	}
	key->is_absent = false;
	key->is_timed |= change->timing != 0;
	key->count = is_counter ? key->count + change->count : change->count;
	if (!timing)
		return;
	key->time_ns += timing->time_ns;
	key->open_ns = timing->open_ns;
	key->spent_ns += change_timing_spent_ns(timing);
	if (timing->max_ns)
		key->max_ns = timing->max_ns;
	key->first_bucket = timing->first;
	key->nr_counts = timing->nr;
	key->counts = changes_counts(changes, timing);
}

/* Removes the keys that are gone. */
static void sweep(struct state *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->nr; i++) {
		if (state->list[i].is_gone)
			drop_hist(state, &state->list[i]);
		else
			state->list[kept++] = state->list[i];
	}
	state->nr = kept;
	state->has_gone = false;
}

/* Makes room for nr keys that are new, which are among the changes: the list stays sorted. */
static void insert(struct state *state, const struct changes *changes, size_t nr)
{
	size_t from = state->nr, to = state->nr + nr, at = changes->nr;

	state->nr = to;
	while (to > from) {
		const struct key *key = &changes->list[at - 1].key;
		int order = from ? key_compare(&state->list[from - 1].key, key) : -1;

		if (order > 0) {
			state->list[--to] = state->list[--from];
			continue;
		}
		at--;
		if (order < 0)
			state->list[--to] = (struct key_state){ .key = *key };
	}
}

static size_t count_new(const struct state *state, const struct changes *changes)
{
	size_t nr = 0, k = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;

		while (k < state->nr && key_compare(&state->list[k].key, key) < 0)
			k++;
		nr += k == state->nr || key_compare(&state->list[k].key, key) != 0;
	}
	return nr;
}

/* Whether keys may be new: nearly always none is. */
static bool may_have_new(const struct changes *changes)
{
	size_t i = 0;

	while (i < changes->nr && !(changes->list[i].flags & (CHANGE_NEW | CHANGE_IS_TOTAL)))
		i++;
	return i < changes->nr;
}

/* The key that a change is of, from the index on; NULL: damaged changes are of none. */
static inline struct key_state *find_from(const struct state *state, const struct key *key,
					  size_t *index)
{
	int order = -1;
	size_t k = *index;

	while (k < state->nr && (order = key_compare(&state->list[k].key, key)) < 0)
		k++;
	*index = k;
	return k < state->nr && order == 0 ? &state->list[k] : NULL;
}

/* A reason that began later than its event, as stats have it. */
static void begin_late(const struct state *state, const struct change *change,
		       const struct reader *reader)
{
	struct key event = change->key;
	struct key_state *key = find(state, &change->key);
	const struct key_state *parent;

	event.field = reader_event(reader, event.field);
	parent = event.field == FIELD_NONE ? NULL : find(state, &event);
	if (key && parent && !(parent->flags & CHANGE_NEW))
		key->parent_before = parent->count;
}

/* Keeps a forgotten guest's parent_before in the key of all guests that ended. */
static void leave(const struct state *state, const struct key_state *gone)
{
	struct key key = { STATS_ENDED, -1, gone->key.field };
	struct key_state *ended = gone->parent_before ? find(state, &key) : NULL;

	if (ended)
		ended->parent_before += gone->parent_before;
}

void state_apply(struct state *state, const struct changes *changes, uint32_t flags,
		 const struct reader *reader)
{
	size_t nr_new, k = 0;

	if (flags & MOMENT_FIRST) {
		state->nr = 0;
		state_forget_hists(state);
	}
	if (state->has_gone)
		sweep(state);
	if (flags & MOMENT_RESET)
		reset(state, reader);
	for (size_t i = 0; i < state->nr; i++) {
		state->list[i].flags = 0;
		state->list[i].nr_counts = 0;
	}
	nr_new = may_have_new(changes) ? count_new(state, changes) : 0;
	array_grow(&state->list, &state->room, state->nr + nr_new);
	if (nr_new)
		insert(state, changes, nr_new);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		struct key_state *key = find_from(state, &change->key, &k);

		if (!key)
			continue;
		add(state, key, changes, change, reader_is_counter(reader, change->key.field));
		state->has_gone |= key->is_gone;
		if (key->is_gone)
			leave(state, key);
	}
	for (size_t i = 0; nr_new && i < changes->nr; i++) {
		if ((changes->list[i].flags & (CHANGE_NEW | CHANGE_HAS_RATE)) == CHANGE_NEW)
			begin_late(state, &changes->list[i], reader);
	}
}

void state_undo(struct state *state, const struct changes *changes,
		const struct reader *reader)
{
	size_t k = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		const struct change_timing *timing = changes_timing(changes, change);
		struct key_state *key = find_from(state, &change->key, &k);

		if (!key)
			continue;
		key->is_gone = change->flags & CHANGE_NEW;
		if (change->flags & CHANGE_ABSENT)
			key->is_absent = false;
		if (change->flags & ~CHANGE_HAS_RATE ||
		    !reader_is_counter(reader, key->key.field))
			continue;
		key->count -= change->count;
		if (!timing)
			continue;
		key->time_ns -= timing->time_ns;
		key->open_ns = timing->open_before_ns;
		key->spent_ns -= change_timing_spent_ns(timing);
	}
	sweep(state);
}

/* ---- any moment */

int state_read(struct state *state, struct reader *reader, const struct stored *stored,
	       struct error *error)
{
	const struct moment *moment = &reader->moment;
	uint64_t is_after = state->id;
	struct stored at;
	int err = reader_find_flagged(reader, stored->id, MOMENT_HAS_TOTALS, &at, error);

	state->id = 0;
	if (err)
		return err;
	if (is_after >= at.id && is_after <= stored->id) {
		at.id = is_after;
	} else {
		err = reader_totals(reader, at.id, NULL, error);
		if (!err)
			load_totals(state, &moment->totals);
	}
	while (!err && at.id < stored->id) {
		err = reader_step(reader, &at, false, &at, error);
		if (!err)
			err = reader_changes(reader, at.id, UNPACK_TIMES, NULL, error);
		if (!err)
			state_apply(state, &moment->changes, at.flags, reader);
	}
	if (!err)
		state->id = stored->id;
	return err;
}
