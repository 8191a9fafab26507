// SPDX-License-Identifier: GPL-2.0-or-later
/* Stored totals, and the changes since. Both are sorted by key, so one pass is enough to add. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/play.h"

void state_release(struct state *state)
{
	free(state->list);
	*state = (struct state){ 0 };
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

static struct key_state *find_key(const struct state *state, const struct key *key)
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

/* The user has set totals to 0; levels stay. */
static void reset_counters(struct state *state, const struct reader *reader)
{
	for (size_t i = 0; i < state->nr; i++) {
		struct key_state *key = &state->list[i];

		if (!reader_is_counter(reader, key->key.field))
			continue;
		key->parent_before = 0;
		key->count = 0;
		key->time_ns = 0;
		key->spent_ns = 0;
		key->max_ns = 0;
	}
}

/* Keeps a forgotten guest's parent_before in the key of all guests that ended. */
static void leave(const struct state *state, const struct key_state *gone)
{
	struct key key = { STATS_ENDED, -1, gone->key.field };
	struct key_state *ended = gone->parent_before ? find_key(state, &key) : NULL;

	if (ended)
		ended->parent_before += gone->parent_before;
}

static void add_change(struct state *state, struct key_state *key, const struct changes *changes,
		       const struct change *change, bool is_counter)
{
	const struct change_timing *timing = changes_timing(changes, change);

	if (change->flags & CHANGE_GONE) {
		leave(state, key);
		*key = (struct key_state){ .key = key->key, .is_gone = true };
		return;
	}
	if (change->flags & CHANGE_ABSENT) {
		key->is_absent = true;
		key->open_ns = 0;
		return;
	}
	if (change->flags & CHANGE_IS_TOTAL) {
		uint64_t parent_before = key->parent_before;

		*key = state_of_total(changes, change);
		key->parent_before = parent_before;
		return;
	}
	key->is_absent = key->is_gone = false;
	key->is_timed |= change->timing != 0;
	key->count = is_counter ? key->count + change->count : change->count;
	if (!timing)
		return;
	key->time_ns += timing->time_ns;
	key->open_ns = timing->open_ns;
	key->spent_ns += change_timing_spent_ns(timing);
	if (timing->max_ns)
		key->max_ns = timing->max_ns;
}

/* Removes the keys that are gone. */
static void sweep(struct state *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->nr; i++) {
		if (!state->list[i].is_gone)
			state->list[kept++] = state->list[i];
	}
	state->nr = kept;
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

/* Whether the key came with these changes. */
static bool is_new(const struct changes *changes, const struct key *key)
{
	size_t at = array_lower_bound(changes->nr, i,
				      key_compare(&changes->list[i].key, key) < 0);

	while (at < changes->nr && changes->list[at].flags & CHANGE_GONE)
		at++;
	return at < changes->nr && key_compare(&changes->list[at].key, key) == 0 &&
	       changes->list[at].flags & CHANGE_NEW;
}

/* A reason that began later than its event, as stats have it. */
static void begin_late(const struct state *state, const struct changes *changes,
		       const struct change *change, const struct reader *reader)
{
	struct key event = change->key;
	struct key_state *key = find_key(state, &change->key);
	const struct key_state *parent;

	event.field = reader_event(reader, event.field);
	parent = event.field == FIELD_NONE ? NULL : find_key(state, &event);
	if (key && parent && !is_new(changes, &event))
		key->parent_before = parent->count;
}

void state_apply(struct state *state, const struct changes *changes, uint32_t flags,
		 const struct reader *reader)
{
	bool is_any_gone = false;
	size_t nr_new, k = 0;

	if (flags & MOMENT_FIRST)
		state->nr = 0;
	if (flags & MOMENT_RESET)
		reset_counters(state, reader);
	nr_new = may_have_new(changes) ? count_new(state, changes) : 0;
	array_grow(&state->list, &state->room, state->nr + nr_new);
	if (nr_new)
		insert(state, changes, nr_new);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		struct key_state *key = find_from(state, &change->key, &k);

		if (key)
			add_change(state, key, changes, change,
				   reader_is_counter(reader, change->key.field));
		is_any_gone |= change->flags & CHANGE_GONE;
	}
	for (size_t i = 0; nr_new && i < changes->nr; i++) {
		if ((changes->list[i].flags & (CHANGE_NEW | CHANGE_HAS_RATE)) == CHANGE_NEW)
			begin_late(state, changes, &changes->list[i], reader);
	}
	if (is_any_gone)
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
