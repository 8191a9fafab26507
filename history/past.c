// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plays the chosen moment after a sample of the totals before it, with the rates of the moments
 * before them, so that stats and sparklines are what a live program would have had.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/past.h"
#include "history/rates.h"
#include "history/reader.h"
#include "history/totals.h"

/* Of a moment with one of these, nothing of the moment before is used. */
#define NOTHING_BEFORE (MOMENT_FIRST | MOMENT_AFTER_LOSS)
#define TIMES_BACK 8 /* moments in which the time of a source is looked for */

/* When sources were read: the two latest times of each; 0: not known. */
struct times {
	uint64_t last_ns[SAMPLE_SOURCES], earlier_ns[SAMPLE_SOURCES];
};

struct past {
	struct reader reader;
	struct guests *guests;
	struct stored at, prev; /* the moment before it; id 0: none that is used */
	/*
	 * What is played: the totals before the moment that was chosen, if they are known, a sample
	 * without an interval; that moment; and the moments that past_go_on() adds.
	 */
	bool has_before;
	size_t nr_added;
	/* Read when the first of them is played: */
	bool is_loaded;
	struct totals totals;
	struct state before;
	uint64_t before_id; /* the moment that it is the state after; 0: none */
	struct times before_times;
	struct rates rates; /* up to the first sample */
	/* The sample that was played last: its number, and the totals after it. */
	size_t nr_played;
	struct moment moment; /* of it, or the next one */
	struct state state;
	struct error failure; /* see past_failure() */
};

int past_new(struct store store, struct fields *fields, struct past **ret_past)
{
	struct past *past = xcalloc(1, sizeof(*past));

	reader_init(&past->reader, store, fields);
	past->guests = guests_new(NULL);
	*ret_past = past;
	return 0;
}

void past_free(struct past *past)
{
	if (!past)
		return;
	reader_release(&past->reader);
	guests_free(past->guests);
	moment_release(&past->moment);
	totals_release(&past->totals);
	state_release(&past->before);
	rates_release(&past->rates);
	state_release(&past->state);
	free(past);
}

struct store past_store(const struct past *past)
{
	return past->reader.store;
}

int past_check(const struct past *past, struct error *why)
{
	const struct store *store = &past->reader.store;

	return store->type->check ? store->type->check(store->state, why) : 0;
}

/* Keeps the first failure. Returns err. */
static int note(struct past *past, int err, const struct error *why)
{
	if (err && err != -ENOENT && err != -EAGAIN && !past->failure.text[0])
		error_set(&past->failure, 0, "%s", why->text[0] ? why->text : strerror(-err));
	return err;
}

const char *past_failure(const struct past *past)
{
	return past->failure.text[0] ? past->failure.text : NULL;
}

struct guests *past_guests(struct past *past)
{
	return past->guests;
}

const struct stored *past_at(const struct past *past)
{
	return &past->at;
}

const struct segment *past_segment(const struct past *past)
{
	return &past->reader.segment;
}

/* ---- choosing */

/* The moment before, with id 0 where none is used. */
static int find_prev(struct past *past, const struct stored *at, struct stored *ret_prev,
		     struct error *why)
{
	int err = at->flags & NOTHING_BEFORE ?
			  -ENOENT : reader_near(&past->reader, at, true, ret_prev, why);

	if (err == -ENOENT || (!err && ret_prev->segment != at->segment))
		*ret_prev = (struct stored){ 0 };
	return err == -ENOENT ? 0 : err;
}

static int choose(struct past *past, const struct stored *at, struct error *why)
{
	struct stored prev = { 0 };
	int err = reader_enter(&past->reader, at, why);

	if (!err)
		err = find_prev(past, at, &prev, why);
	if (!err)
		err = reader_guests(&past->reader, at, past->guests, why);
	if (err)
		return err;
	past->at = *at;
	past->prev = prev;
	past->has_before = prev.id || at->elapsed_ns;
	past->nr_added = 0;
	past->nr_played = 0;
	past->is_loaded = false;
	return 0;
}

int past_go(struct past *past, uint64_t time_ns, struct error *why)
{
	const struct store *store = &past->reader.store;
	struct stored at;
	int err = store->type->find(store->state, time_ns, &at, why);

	return note(past, err ? err : choose(past, &at, why), why);
}

int past_go_to(struct past *past, uint64_t time_ns, struct error *why)
{
	const struct store *store = &past->reader.store;
	struct stored at, next;
	int err = store->type->find(store->state, time_ns, &at, why);

	if (!err && at.time_ns < time_ns) {
		err = reader_step(&past->reader, &at, false, &next, why);
		if (!err && next.time_ns > time_ns && next.time_ns - time_ns < next.elapsed_ns)
			at = next;
		err = err == -ENOENT ? 0 : err;
	}
	return note(past, err ? err : choose(past, &at, why), why);
}

int past_step(struct past *past, bool is_back, struct error *why)
{
	struct stored at;
	int err = past->at.id ? reader_step(&past->reader, &past->at, is_back, &at, why) : -ENOENT;

	return note(past, err ? err : choose(past, &at, why), why);
}

int past_enter(struct past *past, const char *machine, struct error *why)
{
	const struct store *store = &past->reader.store;

	return store->type->enter ? store->type->enter(store->state, machine, why) : -ENOTSUP;
}

int past_news_fd(const struct past *past)
{
	const struct store *store = &past->reader.store;

	return store->type->news_fd ? store->type->news_fd(store->state) : -1;
}

bool past_has_machines(const struct past *past)
{
	return past->reader.store.type->enter;
}

static size_t count_samples(const struct past *past)
{
	return past->has_before + 1 + past->nr_added;
}

/* Whether the samples of a moment follow the ones that were played, and go on from them. */
static bool follows(const struct past *past, const struct stored *at)
{
	return past->nr_played == count_samples(past) && at->segment == past->at.segment &&
	       !(at->flags & NOTHING_BEFORE);
}

int past_go_on(struct past *past, struct error *why)
{
	const struct fields *fields = past->reader.fields;
	uint32_t nr_fields = fields ? fields_count(fields) : 0;
	struct stored at;
	int err = past->at.id ? reader_step(&past->reader, &past->at, false, &at, why) : -ENOENT;

	if (err)
		return note(past, err, why);
	if (follows(past, &at))
		err = reader_enter(&past->reader, &at, why);
	/* What is wanted may be more now. */
	if (err || !follows(past, &at) || (fields && fields_count(fields) != nr_fields)) {
		err = err ? err : choose(past, &at, why);
		return err ? note(past, err, why) : 1;
	}
	if (at.flags & MOMENT_HAS_GUESTS)
		err = reader_guests(&past->reader, &at, past->guests, why);
	if (err)
		return note(past, err, why);
	past->nr_added++;
	past->at = at;
	return 0;
}

/* ---- what is before the moment */

/* Where the moment before is not known, its totals are made of this one's. */
static int undo_moment(struct past *past, struct error *why)
{
	int err = totals_load(&past->totals, &past->reader, &past->at, NULL, &past->before,
			      &past->before_id, why);

	past->before_id = 0;
	if (!err)
		state_undo(&past->before, &past->moment.changes, &past->reader);
	return err;
}

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

static bool has_times(const struct past *past, const struct times *times, bool needs_earlier)
{
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++) {
		if (reader_has_source(&past->reader, i) &&
		    (!times->last_ns[i] || (needs_earlier && !times->earlier_ns[i])))
			return false;
	}
	return true;
}

/* When all sources were read at the begin of the moment's interval, as far as that is known. */
static void put_times_before(const struct past *past, const struct stored *of,
			     const struct brief *brief, struct times *ret_times)
{
	uint64_t latest_ns = 0;

	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		latest_ns = brief->source_ns[i] > latest_ns ? brief->source_ns[i] : latest_ns;
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++) {
		uint64_t now_ns = brief->source_ns[i];

		if (!now_ns && reader_has_source(&past->reader, i))
			now_ns = latest_ns; /* this moment lacks it */
		ret_times->last_ns[i] = elapsed(of->elapsed_ns, now_ns);
	}
}

/* The times before a moment: a source is not in every one. */
static int find_times(struct past *past, const struct stored *of, bool needs_earlier,
		      struct times *ret_times, struct error *why)
{
	const struct brief *brief = NULL;
	struct stored at = *of;
	bool is_any = false;
	int err = 0;

	*ret_times = (struct times){ .last_ns = { 0 } };
	for (int i = 0; !err && i < TIMES_BACK && !(at.flags & NOTHING_BEFORE) &&
	     !has_times(past, ret_times, needs_earlier); i++) {
		err = reader_near(&past->reader, &at, true, &at, why);
		if (!err && at.segment != of->segment)
			break;
		if (!err)
			err = reader_brief(&past->reader, at.id, &brief, why);
		if (!err)
			add_times(ret_times, brief->source_ns);
		is_any |= !err;
	}
	if ((err && err != -ENOENT) || is_any || !of->elapsed_ns)
		return err == -ENOENT ? 0 : err;
	err = reader_brief(&past->reader, of->id, &brief, why); /* what was before is not there */
	if (!err)
		put_times_before(past, of, brief, ret_times);
	return err;
}

/* ---- the rates before it */

/* The moment before, as far as rates go on: also a segment's before of the same boot. */
static int step_to_rates(struct past *past, struct stored *at, struct error *why)
{
	struct stored before;
	bool goes_on = true;
	int err = reader_near(&past->reader, at, true, &before, why);

	if (!err && before.segment == at->segment)
		goes_on = !(at->flags & NOTHING_BEFORE);
	else if (!err)
		err = reader_is_same_boot(&past->reader, before.segment, at->segment, &goes_on,
					  why);
	*at = before;
	return err ? err : goes_on ? 0 : -ENOENT;
}

/* before: the times before the moment. */
static void put_rates(struct past *past, const struct stored *of, const struct moment *moment,
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
		    !reader_is_counter(&past->reader, change->key.field) ||
		    !reader_key(&past->reader, &change->key, &rate.source, &rate.key))
			continue;
		rates_add(&past->rates, &rate);
	}
	rates_put(&past->rates, of->id, elapsed_ns);
}

/* Of a moment that is unpacked while the totals before are made. */
static int take_rates(void *arg, const struct stored *of, const struct moment *moment,
		      struct error *why)
{
	struct past *past = arg;
	struct times before;
	int err;

	if (!rates_want(&past->rates, of->id))
		return 0;
	err = find_times(past, of, false, &before, why);
	if (!err)
		put_rates(past, of, moment, &before);
	return err;
}

static int load_rates(struct past *past, const struct stored *of, struct error *why)
{
	struct times before = { 0 };
	int err = reader_visit(&past->reader, of, why);

	if (!err)
		err = find_times(past, of, false, &before, why);
	if (!err)
		err = reader_changes(&past->reader, of->id, UNPACK_COUNTS, NULL, why);
	if (!err)
		put_rates(past, of, &past->reader.moment, &before);
	return err;
}

/* The moments up to the first sample that is played: sparklines show their rates. */
struct run_up {
	struct stored moments[STATS_HISTORY]; /* the oldest first */
	size_t nr;
};

static int choose_run_up(struct past *past, struct run_up *ret_run_up, struct error *why)
{
	struct stored moments[STATS_HISTORY], at = past->prev.id ? past->prev : past->at;
	uint64_t ids[STATS_HISTORY];
	size_t first = STATS_HISTORY;
	int err = 0;

	moments[--first] = past->prev; /* a first one has no rate */
	while (!err && first) {
		err = step_to_rates(past, &at, why);
		if (!err)
			moments[--first] = at;
	}
	ret_run_up->nr = STATS_HISTORY - first;
	for (size_t i = 0; i < ret_run_up->nr; i++) {
		ret_run_up->moments[i] = moments[first + i];
		ids[i] = moments[first + i].id;
	}
	rates_choose(&past->rates, ids, ret_run_up->nr);
	return err == -ENOENT ? 0 : err;
}

static int load_before(struct past *past, struct error *why)
{
	const struct totals_watch watch = { take_rates, past };

	if (past->prev.id)
		return totals_load(&past->totals, &past->reader, &past->prev, &watch,
				   &past->before, &past->before_id, why);
	if (past->has_before)
		return undo_moment(past, why);
	past->before.nr = 0;
	past->before_id = 0;
	return 0;
}

static int load(struct past *past, struct error *why)
{
	struct run_up run_up = { .nr = 0 };
	int err = reader_visit(&past->reader, &past->at, why);

	if (!err)
		err = reader_changes(&past->reader, past->at.id, UNPACK_ALL, &past->moment, why);
	if (!err)
		err = choose_run_up(past, &run_up, why);
	if (!err)
		err = load_before(past, why);
	if (!err)
		err = find_times(past, &past->at, true, &past->before_times, why);
	for (size_t i = 0; i < run_up.nr && !err; i++) {
		if (rates_want(&past->rates, run_up.moments[i].id))
			err = load_rates(past, &run_up.moments[i], why);
	}
	return err ? err : reader_visit(&past->reader, &past->at, why);
}

bool past_prepare(struct past *past)
{
	int more;

	if (!past->is_loaded || !past->prev.id)
		return false;
	reader_hold(&past->reader, true);
	more = totals_prepare(&past->totals, &past->reader, &past->prev, &(struct error){ "" });
	reader_hold(&past->reader, false);
	return more > 0;
}

/* ---- playing */

/* What ended before has its total, and is closed when it is absent in the next sample, too. */
static void begin(struct state *to, const struct state *from)
{
	array_grow(&to->list, &to->room, from->nr);
	to->nr = from->nr;
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
static int play(struct past *past, struct error *why)
{
	bool is_first = past->nr_played == past->has_before;
	int err = 0;

	if (!is_first) {
		state_keep_hists(&past->state);
		err = reader_changes(&past->reader, past->at.id, UNPACK_ALL, &past->moment, why);
	}
	if (!err)
		state_apply(&past->state, &past->moment.changes, past->at.flags,
			    &past->reader);
	if (!err && is_first)
		close_absent(&past->state);
	return err;
}

/* Goes on to the next sample. */
static int advance(struct past *past, struct error *why)
{
	int err = 0;

	if (!past->is_loaded) {
		reader_hold(&past->reader, true);
		err = load(past, why);
		reader_hold(&past->reader, false);
		past->is_loaded = !err;
	}
	if (!err && !past->nr_played)
		begin(&past->state, &past->before);
	if (!err && past->nr_played >= past->has_before)
		err = play(past, why);
	past->nr_played += !err;
	return err;
}

static void add_past(struct past *past, const struct key_state *key, struct key as,
		     uint32_t source, struct sample *sample)
{
	struct row_past row = {
		.parent_before = key->parent_before,
		.untold_ns = key->time_ns + key->open_ns - key->spent_ns,
	};

	rates_of(&past->rates, &as, source, row.history);
	sample_add_past(sample, &row);
}

/*
 * What a live provider would have said. What ended before the first sample is in that one, so that
 * its totals are known.
 */
static void add_row(struct past *past, const struct key_state *key, struct key as,
		    uint32_t source, struct sample *sample)
{
	uint32_t flags = ROW_FROM_ZERO |
			 (key->flags & CHANGE_HAS_RATE ? ROW_WHOLE_INTERVAL : 0);
	bool is_first = past->nr_played == 1;
	bool is_counter = reader_is_counter(&past->reader, key->key.field);
	struct timing timing = {
		.time_ns = key->time_ns - key->time_base + key->open_ns,
		.open_ns = key->open_ns,
		.max_ns = key->max_ns,
	};
	const uint32_t *before = state_hist(&past->state, key);

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
		add_past(past, key, as, source, sample);
}

static void add_rows(struct past *past, uint32_t source, const struct want *want,
		     struct sample *sample)
{
	for (size_t i = 0; i < past->state.nr; i++) {
		const struct key_state *key = &past->state.list[i];
		uint32_t its_source;
		struct key as;

		if (reader_key(&past->reader, &key->key, &its_source, &as) &&
		    its_source == source && field_set_has(&want->fields, as.field))
			add_row(past, key, as, source, sample);
	}
}

struct source {
	struct past *past;
	uint32_t source;
	size_t nr_played;
	const struct want *want; /* the latest */
};

static void source_close(void *state)
{
	free(state);
}

static int source_open(const struct provider_args *args, void **ret_state, struct error *why)
{
	struct past *past = *(struct past *const *)args->recording;
	struct source *source;
	int err = note(past, reader_open(&past->reader, args->fields, why), why);

	if (err)
		return err;
	rates_release(&past->rates); /* the dictionary may be another */
	past->is_loaded = false;
	past->nr_played = 0;
	source = xcalloc(1, sizeof(*source));
	*source = (struct source){ .past = past, .source = args->source };
	*ret_state = source;
	return 0;
}

static int exits_open(const struct provider_args *args, void **ret_state, struct error *why)
{
	struct past *past = *(struct past *const *)args->recording;
	int err = reader_open(&past->reader, args->fields, why);

	if (!err && !reader_has_source(&past->reader, args->source))
		err = error_set(why, -ENODATA, "no exits were recorded");
	return err ? err : source_open(args, ret_state, why);
}

static int source_want(void *state, const struct want *want, struct error *why)
{
	struct source *source = state;

	(void)why;
	source->want = want;
	return 0;
}

static size_t source_rewind(void *state)
{
	struct source *source = state;
	struct past *past = source->past;
	const struct stored at = past->at;

	source->nr_played = 0;
	if (past->nr_added) /* a failure is one of the samples, too */
		choose(past, &at, &(struct error){ "" });
	return count_samples(past);
}

/* A sample that is damaged has no rows. */
static int source_collect(void *state, struct sample *sample, struct error *why)
{
	struct source *source = state;
	struct past *past = source->past;
	uint32_t i = source->source;

	source->nr_played++;
	if (past->nr_played > source->nr_played)
		past->nr_played = 0;
	while (past->nr_played < source->nr_played) {
		if (note(past, advance(past, why), why) < 0)
			return 0;
	}
	if (past->nr_played > past->has_before) {
		sample->is_reset |= (past->at.flags & MOMENT_RESET) != 0;
		sample->time_ns[i] = past->moment.source_ns[i];
	} else {
		sample->time_ns[i] = past->before_times.last_ns[i];
		sample->elapsed_ns[i] = elapsed(past->before_times.earlier_ns[i],
						past->before_times.last_ns[i]);
	}
	if (sample->time_ns[i])
		add_rows(past, i, source->want, sample);
	return 0;
}

static int exits_collect(void *state, struct sample *sample, struct error *why)
{
	const struct source *source = state;

	if (source->want->longer_ns)
		sample->long_exits.none = LONG_EXITS_ELSEWHERE;
	return source_collect(state, sample, why);
}

#define PAST_PLAYER(its_name, of_exits, its_open, its_collect) \
	&(const struct provider){ \
		.name = (its_name), \
		.is_of_exits = (of_exits), \
		.is_always_by_guest = true, \
		.open = (its_open), \
		.want = source_want, \
		.rewind = source_rewind, \
		.collect = (its_collect), \
		.close = source_close, \
	}

const struct provider *const past_players[] = {
	[PROVIDER_DEBUGFS] = PAST_PLAYER("debugfs", false, source_open, source_collect),
	[PROVIDER_TRACEPOINT] = PAST_PLAYER("tracepoint", false, source_open, source_collect),
	[PROVIDER_EXITS] = PAST_PLAYER("exits", true, exits_open, exits_collect),
	[PROVIDER_STATS] = PAST_PLAYER("stats", false, source_open, source_collect),
	[PROVIDER_HOST] = PAST_PLAYER("host", false, source_open, source_collect),
	NULL,
};

const struct provider *const past_recorded_players[] = {
	PAST_PLAYER("recording", false, source_open, source_collect),
	PAST_PLAYER("exits", true, exits_open, source_collect),
	NULL,
};

int past_series(struct past *past, const struct key *subject, bool is_now,
		const struct series_span *span, struct series *series, struct error *why)
{
	const struct store *store = &past->reader.store;
	struct stored at = past->at;
	int err = 0, back;

	reader_hold(&past->reader, true);
	if (is_now)
		err = store->type->find(store->state, UINT64_MAX, &at, why);
	if (!err)
		err = series_read(series, &past->reader, subject, &at, span, why);
	back = past->at.id ? reader_visit(&past->reader, &past->at, why) : 0;
	reader_hold(&past->reader, false);
	return note(past, err ? err : back, why);
}
