// SPDX-License-Identifier: GPL-2.0-or-later
/* What is before the moment is read when its first sample is played. */
#include <errno.h>
#include <string.h>

#include "core/provider.h"
#include "lib/array.h"
#include "history/play.h"

#define TIMES_BACK 8 /* moments in which the time of a source is looked for */

/* ---- choosing */

void replay_choose(struct replay *replay, const struct stored *at, const struct stored *prev)
{
	replay->at = *at;
	replay->prev = *prev;
	replay->nr_added = 0;
	replay->nr_played = 0;
}

void replay_add(struct replay *replay, const struct stored *at)
{
	replay->nr_added++;
	replay->at = *at;
}

size_t replay_samples(const struct replay *replay)
{
	return 1 + replay->nr_added;
}

bool replay_goes_on(const struct replay *replay, const struct stored *at)
{
	return replay->nr_played == replay_samples(replay) &&
	       at->segment == replay->at.segment && !(at->flags & NOTHING_BEFORE);
}

void replay_forget(struct replay *replay)
{
	rates_release(&replay->rates);
	replay->state.id = 0;
	replay->nr_played = 0;
}

void replay_release(struct replay *replay)
{
	moment_release(&replay->moment);
	long_exits_release(&replay->long_exits);
	rates_release(&replay->rates);
	state_release(&replay->state);
}

/* ---- what is before the moment */

static uint64_t elapsed(uint64_t before_ns, uint64_t now_ns)
{
	return before_ns && now_ns > before_ns ? now_ns - before_ns : 0;
}

/* A source is not in every moment. Returns whether the times of all are known. */
static bool add_times(const struct reader *reader, const uint64_t *ns, uint64_t *times_ns)
{
	bool are_all = true;

	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++) {
		if (!times_ns[i])
			times_ns[i] = ns[i];
		are_all &= times_ns[i] || !reader_has_source(reader, i);
	}
	return are_all;
}

/* When all sources were read at the begin of the moment's interval, as far as that is known. */
static void put_times_before(const struct replay *replay, const struct stored *of,
			     const struct brief *brief, uint64_t *ret_ns)
{
	uint64_t latest_ns = 0;

	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		latest_ns = brief->source_ns[i] > latest_ns ? brief->source_ns[i] : latest_ns;
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++) {
		uint64_t now_ns = brief->source_ns[i];

		if (!now_ns && reader_has_source(replay->reader, i))
			now_ns = latest_ns; /* this moment lacks it */
		ret_ns[i] = elapsed(of->elapsed_ns, now_ns);
	}
}

/* When each source was read before a moment; ret_ns[source] 0: not known. */
static int find_times(struct replay *replay, const struct stored *of, uint64_t *ret_ns,
		      struct error *error)
{
	const struct brief *brief = NULL;
	struct stored at = *of;
	bool is_any = false, are_all = false;
	int err = 0;

	memset(ret_ns, 0, SAMPLE_SOURCES * sizeof(*ret_ns));
	for (int i = 0; !err && i < TIMES_BACK && !(at.flags & NOTHING_BEFORE) && !are_all; i++) {
		err = reader_near(replay->reader, &at, true, &at, error);
		if (!err && at.segment != of->segment)
			break;
		if (!err)
			err = reader_brief(replay->reader, at.id, &brief, error);
		if (!err)
			are_all = add_times(replay->reader, brief->source_ns, ret_ns);
		is_any |= !err;
	}
	if ((err && err != -ENOENT) || is_any || !of->elapsed_ns)
		return err == -ENOENT ? 0 : err;
	err = reader_brief(replay->reader, of->id, &brief,
			   error); /* what was before is not there */
	if (!err)
		put_times_before(replay, of, brief, ret_ns);
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

static void put_rates(struct replay *replay, const struct stored *of, const struct moment *moment,
		      const uint64_t *before_ns)
{
	const struct changes *changes = &moment->changes;
	uint64_t elapsed_ns[SAMPLE_SOURCES];

	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		elapsed_ns[i] = elapsed(before_ns[i], moment->source_ns[i]);
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
	uint64_t before_ns[SAMPLE_SOURCES];
	int err = find_times(replay, of, before_ns, error);

	if (!err)
		err = reader_changes(replay->reader, of->id, UNPACK_COUNTS, NULL, error);
	if (!err)
		put_rates(replay, of, &replay->reader->moment, before_ns);
	return err;
}

/* The moments before the first one that is played: sparklines show their rates. */
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

	if (replay->prev.id || replay->at.elapsed_ns) /* after a loss nothing is known of it */
		moments[--first] = replay->prev;
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

/* What is before the moment; where that is not known, the state is the one after it. */
static int load_before(struct replay *replay, struct error *error)
{
	struct run_up run_up = { .nr = 0 };
	int err = choose_run_up(replay, &run_up, error);

	if (!err)
		err = state_read(&replay->state, replay->reader,
				 replay->prev.id ? &replay->prev : &replay->at, error);
	if (!err)
		err = find_times(replay, &replay->at, replay->before_ns, error);
	for (size_t i = 0; i < run_up.nr && !err; i++) {
		if (rates_want(&replay->rates, run_up.moments[i].id))
			err = load_rates(replay, &run_up.moments[i], error);
	}
	return err;
}

/* ---- playing */

/* Plays the moment that is chosen, or the next one. */
static int advance(struct replay *replay, struct error *error)
{
	int err = 0;

	long_exits_reset(&replay->long_exits);
	reader_hold(replay->reader, true);
	if (!replay->nr_played)
		err = load_before(replay, error);
	if (!err)
		err = reader_changes(replay->reader, replay->at.id, UNPACK_ALL, &replay->moment,
				     error);
	if (!err)
		err = reader_long_exits(replay->reader, &replay->at, &replay->long_exits, error);
	reader_hold(replay->reader, false);
	if (!err && replay->state.id != replay->at.id)
		state_apply(&replay->state, &replay->moment.changes, replay->at.flags,
			    replay->reader);
	replay->state.id = err ? 0 : replay->at.id;
	replay->nr_played += !err;
	return err;
}

int replay_go_to(struct replay *replay, size_t nr, struct error *error)
{
	int err = 0;

	while (!err && replay->nr_played < nr)
		err = advance(replay, error);
	return err;
}

static struct timing_given give_timing(const struct replay *replay, const struct key_state *key,
				       const struct change *change)
{
	const struct changes *changes = &replay->moment.changes;
	const struct change_timing *timing = change ? changes_timing(changes, change) : NULL;
	struct timing_given given = {
		.total_ns = key->spent_ns,
		.total_ended_ns = key->time_ns,
		.open_ns = key->open_ns,
		.max_ns = key->max_ns,
	};

	if (!timing || change->flags & CHANGE_IS_TOTAL)
		return given;
	given.delta_ns = change_timing_spent_ns(timing);
	given.delta_ended_ns = timing->time_ns;
	given.first = timing->first;
	given.nr = timing->nr;
	given.counts = changes_counts(changes, timing);
	given.interval_max_ns = timing->max_ns ?
		timing->max_ns :
		hist_longest_ns(timing->nr ? timing->first + timing->nr : 0, key->max_ns);
	return given;
}

/* change: of the moment; NULL: nothing happened to the key. */
static void add_row(struct replay *replay, const struct key_state *key,
		    const struct change *change, struct key as, uint32_t source,
		    struct sample *sample)
{
	bool is_new = change && change->flags & CHANGE_NEW;
	/* In a segment's first sample all are new, also what an earlier segment had. */
	bool is_first = replay->at.flags & MOMENT_FIRST;
	bool has_past = replay->nr_played == 1 && (!is_new || is_first) &&
			reader_is_counter(replay->reader, key->key.field);
	struct row_given given = {
		.delta = change && !(change->flags & CHANGE_IS_TOTAL) ? change->count : 0,
		.parent_before = key->parent_before,
		.is_absent = key->is_absent || !sample->time_ns[source],
		.has_rate = !is_new || change->flags & CHANGE_HAS_RATE,
		.is_timed = key->is_timed,
		.timing = give_timing(replay, key, change),
	};

	sample_add_given(sample, as, key->count, &given);
	if (has_past)
		rates_of(&replay->rates, &as, source, sample_add_past(sample)->per_s);
}

/* The change of a key, from the index on; NULL: it has none. Both are sorted. */
static const struct change *find_change(const struct changes *changes, const struct key *key,
					size_t *index)
{
	size_t i = *index;

	while (i < changes->nr && (key_compare(&changes->list[i].key, key) < 0 ||
				   changes->list[i].flags & CHANGE_GONE))
		i++;
	*index = i;
	return i < changes->nr && key_compare(&changes->list[i].key, key) == 0 ?
		       &changes->list[i] : NULL;
}

static bool is_wanted(const struct replay *replay, const struct key *there, uint32_t source,
		      const struct want *want, struct key *ret_key)
{
	uint32_t its_source;

	return reader_key(replay->reader, there, &its_source, ret_key) && its_source == source &&
	       field_set_has(&want->fields, ret_key->field);
}

void play_long_exits(const struct long_exits *exits, struct sample *sample)
{
	if (!exits->longer_ns)
		sample->long_exits.none = LONG_EXITS_ELSEWHERE;
	else
		long_exits_take(&sample->long_exits, exits);
}

void replay_collect(struct replay *replay, uint32_t source, const struct want *want,
		    struct sample *sample)
{
	const struct changes *changes = &replay->moment.changes;
	struct key as;
	size_t k = 0;

	sample->is_given = true;
	if (source == PROVIDER_EXITS)
		play_long_exits(&replay->long_exits, sample);
	sample->time_ns[source] = replay->moment.source_ns[source];
	if (replay->nr_played == 1)
		sample->elapsed_ns[source] = elapsed(replay->before_ns[source],
						     sample->time_ns[source]);
	for (size_t i = 0; i < changes->nr; i++) {
		if (changes->list[i].flags & CHANGE_GONE &&
		    is_wanted(replay, &changes->list[i].key, source, want, &as))
			sample_add_given(sample, as, 0, &(struct row_given){ .is_gone = true });
	}
	for (size_t i = 0; i < replay->state.nr; i++) {
		const struct key_state *key = &replay->state.list[i];

		if (is_wanted(replay, &key->key, source, want, &as))
			add_row(replay, key, find_change(changes, &key->key, &k), as, source,
				sample);
	}
}
