// SPDX-License-Identifier: GPL-2.0-or-later
/* What is before the moment is read when its first sample is played. */
#include <errno.h>
#include <string.h>

#include "lib/array.h"
#include "history/play.h"

#define TIMES_BACK 8 /* moments in which the time of a source is looked for */

/* ---- choosing */

void replay_choose(struct replay *replay, const struct stored *at, const struct stored *prev)
{
	replay->at = *at;
	replay->prev = *prev;
	replay->has_before = prev->id || at->elapsed_ns;
	replay->nr_added = 0;
	replay->nr_played = 0;
	replay->is_loaded = false;
}

void replay_add(struct replay *replay, const struct stored *at)
{
	replay->nr_added++;
	replay->at = *at;
}

size_t replay_samples(const struct replay *replay)
{
	return replay->has_before + 1 + replay->nr_added;
}

bool replay_goes_on(const struct replay *replay, const struct stored *at)
{
	return replay->nr_played == replay_samples(replay) &&
	       at->segment == replay->at.segment && !(at->flags & NOTHING_BEFORE);
}

void replay_forget(struct replay *replay)
{
	rates_release(&replay->rates);
	replay->is_loaded = false;
	replay->nr_played = 0;
}

void replay_release(struct replay *replay)
{
	moment_release(&replay->moment);
	state_release(&replay->before);
	rates_release(&replay->rates);
	state_release(&replay->state);
}

/* ---- what is before the moment */

static uint64_t elapsed(uint64_t before_ns, uint64_t now_ns)
{
	return before_ns && now_ns > before_ns ? now_ns - before_ns : 0;
}

static void add_times(struct times *times, const uint64_t *ns)
{
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++) {
		if (!times->last_ns[i])
			times->last_ns[i] = ns[i];
		else if (!times->earlier_ns[i])
			times->earlier_ns[i] = ns[i];
	}
}

static bool has_times(const struct replay *replay, const struct times *times, bool needs_earlier)
{
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++) {
		if (reader_has_source(replay->reader, i) &&
		    (!times->last_ns[i] || (needs_earlier && !times->earlier_ns[i])))
			return false;
	}
	return true;
}

/* When all sources were read at the begin of the moment's interval, as far as that is known. */
static void put_times_before(const struct replay *replay, const struct stored *of,
			     const struct brief *brief, struct times *ret_times)
{
	uint64_t latest_ns = 0;

	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		latest_ns = brief->source_ns[i] > latest_ns ? brief->source_ns[i] : latest_ns;
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++) {
		uint64_t now_ns = brief->source_ns[i];

		if (!now_ns && reader_has_source(replay->reader, i))
			now_ns = latest_ns; /* this moment lacks it */
		ret_times->last_ns[i] = elapsed(of->elapsed_ns, now_ns);
	}
}

/* The times before a moment: a source is not in every one. */
static int find_times(struct replay *replay, const struct stored *of, bool needs_earlier,
		      struct times *ret_times, struct error *error)
{
	const struct brief *brief = NULL;
	struct stored at = *of;
	bool is_any = false;
	int err = 0;

	*ret_times = (struct times){ .last_ns = { 0 } };
	for (int i = 0; !err && i < TIMES_BACK && !(at.flags & NOTHING_BEFORE) &&
	     !has_times(replay, ret_times, needs_earlier); i++) {
		err = reader_near(replay->reader, &at, true, &at, error);
		if (!err && at.segment != of->segment)
			break;
		if (!err)
			err = reader_brief(replay->reader, at.id, &brief, error);
		if (!err)
			add_times(ret_times, brief->source_ns);
		is_any |= !err;
	}
	if ((err && err != -ENOENT) || is_any || !of->elapsed_ns)
		return err == -ENOENT ? 0 : err;
	err = reader_brief(replay->reader, of->id, &brief,
			   error); /* what was before is not there */
	if (!err)
		put_times_before(replay, of, brief, ret_times);
	return err;
}

/* ---- the rates before it */

/* The moment before, as far as rates go on: also a segment's before of the same boot. */
static int step_to_rates(struct replay *replay, struct stored *at, struct error *error)
{
	struct stored before;
	int err = reader_near_of_boot(replay->reader, at, true, &before, error);

	if (!err && before.segment == at->segment && at->flags & NOTHING_BEFORE)
		err = -ENOENT;
	*at = before;
	return err;
}

/* before: the times before the moment. */
static void put_rates(struct replay *replay, const struct stored *of, const struct moment *moment,
		      const struct times *before)
{
	const struct changes *changes = &moment->changes;
	uint64_t elapsed_ns[SAMPLE_SOURCES];

	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		elapsed_ns[i] = elapsed(before->last_ns[i], moment->source_ns[i]);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		struct rates_change rate = {
			/* In a segment's first sample all are, also what an earlier one had. */
			.is_new = change->flags & CHANGE_NEW && !(of->flags & MOMENT_FIRST),
			.has_rate = change->flags & CHANGE_HAS_RATE,
			.count = change->count,
		};

		if (change->flags & (CHANGE_ABSENT | CHANGE_GONE | CHANGE_IS_TOTAL) ||
		    !reader_is_counter(replay->reader, change->key.field) ||
		    !reader_key(replay->reader, &change->key, &rate.source, &rate.key))
			continue;
		rates_add(&replay->rates, &rate);
	}
	rates_put(&replay->rates, of->id, elapsed_ns);
}

static int load_rates(struct replay *replay, const struct stored *of, struct error *error)
{
	struct times before = { 0 };
	int err = find_times(replay, of, false, &before, error);

	if (!err)
		err = reader_changes(replay->reader, of->id, UNPACK_COUNTS, NULL, error);
	if (!err)
		put_rates(replay, of, &replay->reader->moment, &before);
	return err;
}

/* The moments up to the first sample that is played: sparklines show their rates. */
struct run_up {
	struct stored moments[STATS_HISTORY]; /* the oldest first */
	size_t nr;
};

static int choose_run_up(struct replay *replay, struct run_up *ret_run_up, struct error *error)
{
	struct stored moments[STATS_HISTORY], at = replay->prev.id ? replay->prev : replay->at;
	uint64_t ids[STATS_HISTORY];
	size_t first = STATS_HISTORY;
	int err = 0;

	moments[--first] = replay->prev; /* a first one has no rate */
	while (!err && first) {
		err = step_to_rates(replay, &at, error);
		if (!err)
			moments[--first] = at;
	}
	ret_run_up->nr = STATS_HISTORY - first;
	for (size_t i = 0; i < ret_run_up->nr; i++) {
		ret_run_up->moments[i] = moments[first + i];
		ids[i] = moments[first + i].id;
	}
	rates_choose(&replay->rates, ids, ret_run_up->nr);
	return err == -ENOENT ? 0 : err;
}

/* The state after the moment before; where that is not known, it is made of the moment's. */
static int load_before(struct replay *replay, struct error *error)
{
	struct state *before = &replay->before;
	int err = 0;

	if (replay->prev.id)
		return state_read(before, replay->reader, &replay->prev, error);
	if (replay->has_before) {
		err = state_read(before, replay->reader, &replay->at, error);
		if (!err)
			state_undo(before, &replay->moment.changes, replay->reader);
	} else {
		before->nr = 0;
	}
	before->id = 0;
	return err;
}

static int load(struct replay *replay, struct error *error)
{
	struct run_up run_up = { .nr = 0 };
	int err = reader_changes(replay->reader, replay->at.id, UNPACK_ALL, &replay->moment, error);

	if (!err)
		err = choose_run_up(replay, &run_up, error);
	if (!err)
		err = load_before(replay, error);
	if (!err)
		err = find_times(replay, &replay->at, true, &replay->before_times, error);
	for (size_t i = 0; i < run_up.nr && !err; i++) {
		if (rates_want(&replay->rates, run_up.moments[i].id))
			err = load_rates(replay, &run_up.moments[i], error);
	}
	return err;
}

/* ---- playing */

/* What ended before has its total, and is closed when it is absent in the next sample, too. */
static void begin(struct state *to, const struct state *from)
{
	array_grow(&to->list, &to->room, from->nr);
	to->nr = from->nr;
	to->has_gone = from->has_gone;
	for (size_t i = 0; i < from->nr; i++) {
		struct key_state *key = &to->list[i];

		*key = from->list[i];
		key->flags = 0;
		key->nr_counts = 0;
		key->count_base = 0;
		key->time_base = 0;
	}
	state_forget_hists(to);
}

/* Counters that are closed begin at 0 when their keys come back. */
static void close_absent(struct state *state)
{
	for (size_t i = 0; i < state->nr; i++) {
		struct key_state *key = &state->list[i];

		if (!key->is_absent)
			continue;
		key->count_base = key->count;
		key->time_base = key->time_ns;
	}
}

/* Plays the moment that is chosen, or the next one. */
static int play(struct replay *replay, struct error *error)
{
	bool is_first = replay->nr_played == replay->has_before;
	int err = 0;

	if (!is_first) {
		state_keep_hists(&replay->state);
		err = reader_changes(replay->reader, replay->at.id, UNPACK_ALL, &replay->moment,
				     error);
	}
	if (!err)
		state_apply(&replay->state, &replay->moment.changes, replay->at.flags,
			    replay->reader);
	if (!err && is_first)
		close_absent(&replay->state);
	return err;
}

/* Plays the next sample. */
static int advance(struct replay *replay, struct error *error)
{
	int err = 0;

	if (!replay->is_loaded) {
		reader_hold(replay->reader, true);
		err = load(replay, error);
		reader_hold(replay->reader, false);
		replay->is_loaded = !err;
	}
	if (!err && !replay->nr_played)
		begin(&replay->state, &replay->before);
	if (!err && replay->nr_played >= replay->has_before)
		err = play(replay, error);
	replay->nr_played += !err;
	return err;
}

static void add_past(struct replay *replay, const struct key_state *key, struct key as,
		     uint32_t source, struct sample *sample)
{
	struct row_past row = {
		.parent_before = key->parent_before,
		.untold_ns = key->time_ns + key->open_ns - key->spent_ns,
	};

	rates_of(&replay->rates, &as, source, row.history);
	sample_add_past(sample, &row);
}

/*
 * The row that a live provider would have added. What ended before the first sample is in that one,
 * so that its totals are known.
 */
static void add_row(struct replay *replay, const struct key_state *key, struct key as,
		    uint32_t source, struct sample *sample)
{
	bool is_first = replay->nr_played == 1;
	bool is_counter = reader_is_counter(replay->reader, key->key.field);
	/* Such as a thread's time: the counter was found while it counted. */
	bool was_found = is_counter && !key->count &&
			 (key->flags & (CHANGE_NEW | CHANGE_HAS_RATE)) == CHANGE_NEW;
	uint32_t flags = (was_found ? 0 : ROW_FROM_ZERO) |
			 (key->flags & CHANGE_HAS_RATE ? ROW_WHOLE_INTERVAL : 0);
	struct timing timing = {
		.time_ns = key->time_ns - key->time_base + key->open_ns,
		.open_ns = key->open_ns,
		.max_ns = key->max_ns,
	};
	const uint32_t *before = state_hist(&replay->state, key);

	if (key->is_gone || (key->is_absent && !is_first))
		return;
	if (before)
		memcpy(timing.hist, before, sizeof(timing.hist));
	for (unsigned int i = 0; i < key->nr_counts; i++)
		timing.hist[key->first_bucket + i] += (uint32_t)key->counts[i];
	if (key->is_timed)
		sample_add_timed(sample, as, key->count - key->count_base, flags, &timing);
	else
		sample_add(sample, as, key->count - (is_counter ? key->count_base : 0),
			   flags);
	if (is_first && is_counter)
		add_past(replay, key, as, source, sample);
}

static void add_rows(struct replay *replay, uint32_t source, const struct want *want,
		     struct sample *sample)
{
	for (size_t i = 0; i < replay->state.nr; i++) {
		const struct key_state *key = &replay->state.list[i];
		uint32_t its_source;
		struct key as;

		if (reader_key(replay->reader, &key->key, &its_source, &as) &&
		    its_source == source && field_set_has(&want->fields, as.field))
			add_row(replay, key, as, source, sample);
	}
}

int replay_go_to(struct replay *replay, size_t nr, struct error *error)
{
	int err = 0;

	if (replay->nr_played > nr)
		replay->nr_played = 0;
	while (!err && replay->nr_played < nr)
		err = advance(replay, error);
	return err;
}

void replay_collect(struct replay *replay, uint32_t source, const struct want *want,
		    struct sample *sample)
{
	const struct times *before = &replay->before_times;

	if (replay->nr_played > replay->has_before) {
		sample->is_reset |= (replay->at.flags & MOMENT_RESET) != 0;
		sample->time_ns[source] = replay->moment.source_ns[source];
	} else {
		sample->time_ns[source] = before->last_ns[source];
		sample->elapsed_ns[source] = elapsed(before->earlier_ns[source],
						     before->last_ns[source]);
	}
	if (sample->time_ns[source])
		add_rows(replay, source, want, sample);
}
