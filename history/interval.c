// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds up moments. A moment's totals, which are stored at intervals, save reading the changes of
 * all moments before it: of two totals the difference is what happened between them, unless a key
 * was forgotten meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "core/facts/stats.h"
#include "history/interval.h"
#include "history/reader.h"
#include "core/provider.h"

/* Totals do not go on from the moment before one of these. */
#define BREAKS (MOMENT_FIRST | MOMENT_RESET | MOMENT_AFTER_LOSS)

/* What happened to a key of the dictionary here. */
struct sum {
	struct key key;
	bool is_timed;
	bool has_level; /* the latest one is known: moments are read backwards */
	uint64_t count;
	uint64_t time_ns, ended_ns, longest_ns; /* ended: of what ended, as a whole */
	uint64_t open_ns; /* how long what has not ended at the end has lasted */
	uint64_t hist[HIST_BUCKETS];
	UT_hash_handle hh;
};

struct interval {
	struct reader reader;
	struct fields *fields, *own_fields;
	struct guests *guests;
	struct moment low, high; /* two totals that are compared */
	struct sum *sums;
	struct stored first, last;
	uint64_t elapsed_ns;
};

struct interval *interval_new(struct store store, struct fields *fields)
{
	struct interval *interval = xcalloc(1, sizeof(*interval));

	reader_init(&interval->reader, store, fields);
	interval->own_fields = fields ? NULL : fields_new();
	interval->fields = fields ? fields : interval->own_fields;
	interval->guests = guests_new(NULL);
	return interval;
}

void interval_free(struct interval *interval)
{
	struct sum *sum, *next;

	if (!interval)
		return;
	HASH_ITER(hh, interval->sums, sum, next) {
		HASH_DEL(interval->sums, sum);
		free(sum);
	}
	reader_release(&interval->reader);
	guests_free(interval->guests);
	moment_release(&interval->low);
	moment_release(&interval->high);
	fields_free(interval->own_fields);
	free(interval);
}

struct guests *interval_guests(struct interval *interval)
{
	return interval->guests;
}

struct fields *interval_fields(struct interval *interval)
{
	return interval->fields;
}

const struct stored *interval_first(const struct interval *interval)
{
	return &interval->first;
}

const struct stored *interval_last(const struct interval *interval)
{
	return &interval->last;
}

uint64_t interval_elapsed_ns(const struct interval *interval)
{
	return interval->elapsed_ns;
}

/* ---- sums ---- */

static bool is_known(const struct interval *interval, uint32_t guest)
{
	return guest == GUEST_ANY || guest == STATS_ENDED || guests_find(interval->guests, guest);
}

/* The sum of a key of the segment. NULL: its field is not known. */
static struct sum *find_sum(struct interval *interval, const struct key *there)
{
	struct key key = { 0 };
	uint32_t source;
	struct sum *sum;

	if (!reader_key(&interval->reader, there, &source, &key))
		return NULL;
	if (!is_known(interval, key.guest))
		key = (struct key){ STATS_ENDED, -1, key.field };
	HASH_FIND(hh, interval->sums, &key, sizeof(key), sum);
	if (!sum) {
		sum = xcalloc(1, sizeof(*sum));
		sum->key = key;
		hash_add(interval->sums, key, sum);
	}
	return sum;
}

static bool is_counter(const struct interval *interval, const struct sum *sum)
{
	return fields_get(interval->fields, sum->key.field)->kind == FIELD_COUNTER;
}

/*
 * Adds durations. max_ns: the longest, where it is longer than all before; else 0, and the upper
 * edge of the last bucket that counts, before `end`, stands for it, as in stats.
 */
static void add_time(struct sum *sum, const struct change_timing *timing, uint64_t max_ns,
		     unsigned int end)
{
	uint64_t longest_ns = max_ns, ended_ns = timing->time_ns;

	if (!max_ns && end)
		longest_ns = hist_edge_ns(end - 1) < ended_ns ? hist_edge_ns(end - 1) : ended_ns;
	sum->is_timed = true;
	sum->time_ns += change_timing_spent_ns(timing);
	sum->ended_ns += ended_ns;
	if (longest_ns > sum->longest_ns)
		sum->longest_ns = longest_ns;
}

/* A change of one moment. */
static void add_change(struct interval *interval, const struct changes *changes,
		       const struct change *change, bool is_last)
{
	const struct change_timing *timing = changes_timing(changes, change);
	struct sum *sum;

	/* A total of forgotten guests has nothing new: their changes came when they happened. */
	if (change->flags & (CHANGE_ABSENT | CHANGE_GONE | CHANGE_IS_TOTAL))
		return;
	sum = find_sum(interval, &change->key);
	if (!sum)
		return;
	if (is_counter(interval, sum))
		sum->count += change->count;
	else if (!sum->has_level)
		sum->count = change->count;
	sum->has_level = true;
	if (!timing)
		return;
	add_time(sum, timing, timing->max_ns, timing->nr ? timing->first + timing->nr : 0);
	if (is_last && timing->open_ns > sum->open_ns)
		sum->open_ns = timing->open_ns;
	changes_add_counts(changes, timing, sum->hist);
}

/* A moment's changes, unless it has no interval, or was dropped meanwhile. */
static int add_moment(struct interval *interval, const struct stored *stored, struct error *why)
{
	const struct changes *changes = &interval->reader.moment.changes;
	int err = -ENOENT;

	if (stored->elapsed_ns)
		err = reader_changes(&interval->reader, stored->id, UNPACK_ALL, NULL, why);

	for (size_t i = 0; !err && i < changes->nr; i++)
		add_change(interval, changes, &changes->list[i], stored->id == interval->last.id);
	return err == -ENOENT ? 0 : err;
}

/* The moments from `to` back to the first one that is later than low_id. */
static int add_moments(struct interval *interval, uint64_t low_id, const struct stored *to,
		       struct error *why)
{
	struct stored at = *to;
	int err = 0;

	while (!err && at.id > low_id) {
		err = add_moment(interval, &at, why);
		if (!err)
			err = reader_step(&interval->reader, &at, true, &at, why);
	}
	return err == -ENOENT ? 0 : err;
}

/* ---- totals ---- */

/* The row of a key from *i on, which stays there; NULL: there is none. Both lists are sorted. */
static const struct change *find_total(const struct changes *totals, const struct key *key,
				       size_t *i)
{
	while (*i < totals->nr && key_compare(&totals->list[*i].key, key) < 0)
		++*i;
	return *i < totals->nr && key_compare(&totals->list[*i].key, key) == 0 ?
		       &totals->list[*i] : NULL;
}

/* Whether no key was forgotten between the two, which moves its total to STATS_ENDED. */
static bool are_comparable(const struct changes *low, const struct changes *high)
{
	size_t at = 0;

	for (size_t i = 0; i < low->nr; i++) {
		if (!find_total(high, &low->list[i].key, &at))
			return false;
	}
	at = 0;
	for (size_t i = 0; i < high->nr; i++) {
		const struct change *total = &high->list[i], *before;

		before = find_total(low, &total->key, &at);
		if (total->key.guest == STATS_ENDED && (!before || before->count != total->count))
			return false;
	}
	return true;
}

/* The durations between two totals; the first may be NULL. */
static void add_timing_between(const struct interval *interval, struct sum *sum,
			       const struct change_timing *low, const struct change_timing *high)
{
	uint64_t before[HIST_BUCKETS] = { 0 }, after[HIST_BUCKETS] = { 0 };
	const struct change_timing between = {
		.time_ns = high->time_ns - (low ? low->time_ns : 0),
		.open_ns = high->open_ns,
		.open_before_ns = high->open_before_ns -
				  (low ? low->open_before_ns - low->open_ns : 0),
	};
	bool is_longest = !low || low->max_ns != high->max_ns;
	unsigned int end = 0;

	if (low)
		changes_add_counts(&interval->low.totals, low, before);
	changes_add_counts(&interval->high.totals, high, after);
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		sum->hist[i] += after[i] - before[i];
		end = after[i] != before[i] ? i + 1 : end;
	}
	add_time(sum, &between, is_longest ? high->max_ns : 0, end);
}

/* Whether two totals say the same. Damaged ones may have no durations. */
static bool is_same(const struct interval *interval, const struct change *low,
		    const struct change *high)
{
	const struct change_timing *before = changes_timing(&interval->low.totals, low);
	const struct change_timing *after = changes_timing(&interval->high.totals, high);

	if (low->count != high->count || !after)
		return low->count == high->count;
	if (!before || before->time_ns != after->time_ns || before->max_ns != after->max_ns ||
	    before->open_ns != after->open_ns ||
	    before->open_before_ns != after->open_before_ns ||
	    before->first != after->first || before->nr != after->nr)
		return false;
	return !after->nr || memcmp(changes_counts(&interval->low.totals, before),
				    changes_counts(&interval->high.totals, after),
				    after->nr * sizeof(uint64_t)) == 0;
}

/* What happened to a key between two totals; the first may be NULL. */
static void add_difference(struct interval *interval, const struct change *low,
			   const struct change *high)
{
	const struct change_timing *before, *after;
	struct sum *sum;

	if (low && is_same(interval, low, high))
		return;
	sum = find_sum(interval, &high->key);
	if (!sum)
		return;
	if (is_counter(interval, sum))
		sum->count += high->count - (low ? low->count : 0);
	before = low ? changes_timing(&interval->low.totals, low) : NULL;
	after = changes_timing(&interval->high.totals, high);
	if (after)
		add_timing_between(interval, sum, before, after);
}

/* -EAGAIN: a key was forgotten between the two. */
static int add_totals(struct interval *interval, uint64_t low_id, uint64_t high_id,
		      struct error *why)
{
	const struct changes *low = &interval->low.totals, *high = &interval->high.totals;
	int err = reader_totals(&interval->reader, low_id, &interval->low, why);
	size_t at = 0;

	if (!err)
		err = reader_totals(&interval->reader, high_id, &interval->high, why);
	if (!err && !are_comparable(low, high))
		err = -EAGAIN;
	for (size_t i = 0; !err && i < high->nr; i++) {
		const struct change *before = find_total(low, &high->list[i].key, &at);

		add_difference(interval, before, &high->list[i]);
	}
	return err;
}

/* The moments after `low`, up to `high`: both have totals. */
static int add_between(struct interval *interval, const struct stored *low,
		       const struct stored *high, struct error *why)
{
	uint64_t middle_id = low->id + (high->id - low->id) / 2;
	struct stored middle;
	int err;

	if (low->id == high->id)
		return 0;
	err = add_totals(interval, low->id, high->id, why);
	if (err != -EAGAIN)
		return err;
	err = reader_find_flagged(&interval->reader, middle_id, MOMENT_HAS_TOTALS, &middle, why);
	if (err || middle.id <= low->id)
		return add_moments(interval, low->id, high, why);
	err = add_between(interval, &middle, high, why);
	return err ? err : add_between(interval, low, &middle, why);
}

/* Keys that were there and did nothing have a row of 0, and levels the latest one. */
static int add_present(struct interval *interval, uint64_t id, struct error *why)
{
	int err = reader_totals(&interval->reader, id, &interval->high, why);

	for (size_t i = 0; !err && i < interval->high.totals.nr; i++) {
		const struct change *total = &interval->high.totals.list[i];
		struct sum *sum;

		if (total->flags & CHANGE_ABSENT || total->key.guest == STATS_ENDED)
			continue;
		sum = find_sum(interval, &total->key);
		if (!sum)
			continue;
		if (!is_counter(interval, sum) && !sum->has_level)
			sum->count = total->count;
		sum->has_level = true;
		sum->is_timed |= total->timing != 0;
		if (id == interval->last.id && total->timing)
			sum->open_ns = interval->high.totals.timings[total->timing - 1].open_ns;
	}
	return err;
}

/* ---- runs: moments of one segment, with totals that go on ---- */

/* The first moment from `id` on that has totals; at most `high`, which has. */
static int find_totals(struct interval *interval, const struct stored *from, uint64_t high_id,
		       struct stored *ret_stored, struct error *why)
{
	struct stored at = *from;
	int err = 0;

	while (!err && at.id < high_id && !(at.flags & MOMENT_HAS_TOTALS))
		err = reader_step(&interval->reader, &at, false, &at, why);
	*ret_stored = at;
	return err;
}

static int add_run(struct interval *interval, const struct stored *from, const struct stored *to,
		   struct error *why)
{
	struct stored low, high;
	int err = reader_find_flagged(&interval->reader, to->id, MOMENT_HAS_TOTALS, &high, why);

	if (err == -ENOENT)
		return add_moments(interval, from->id - 1, to, why);
	if (!err && high.id < from->id) {
		err = add_moments(interval, from->id - 1, to, why);
		return err ? err : add_present(interval, high.id, why);
	}
	if (!err)
		err = add_moments(interval, high.id, to, why);
	if (!err)
		err = add_present(interval, high.id, why);
	if (!err)
		err = find_totals(interval, from, high.id, &low, why);
	if (!err)
		err = add_between(interval, &low, &high, why);
	return err ? err : add_moments(interval, from->id - 1, &low, why);
}

/* The time that a run took, the first moment's interval included. */
static int add_elapsed(struct interval *interval, const struct stored *from,
		       const struct stored *to, struct error *why)
{
	uint64_t before_ns[SAMPLE_SOURCES], most_ns = 0;
	const struct brief *brief;
	int err = reader_brief(&interval->reader, from->id, &brief, why);

	if (!err)
		memcpy(before_ns, brief->source_ns, sizeof(before_ns));
	if (!err)
		err = reader_brief(&interval->reader, to->id, &brief, why);
	for (unsigned int i = 0; !err && i < SAMPLE_SOURCES; i++) {
		uint64_t after_ns = brief->source_ns[i];

		if (before_ns[i] && after_ns > before_ns[i] && after_ns - before_ns[i] > most_ns)
			most_ns = after_ns - before_ns[i];
	}
	if (!err)
		interval->elapsed_ns += most_ns + from->elapsed_ns;
	return err == -ENOENT ? 0 : err;
}

/* ---- guests ---- */

/* Adds guests that are not known yet; of an earlier inventory they have ended. */
static void add_guests(struct interval *interval, const struct guests *guests, bool is_latest)
{
	const struct guest *guest;

	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++) {
		if (!guests_find(interval->guests, guest->id) &&
		    !guests_ended_at(interval->guests, GUESTS_ENDED - 1))
			guests_put(interval->guests, guest);
	}
	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		struct guest copy = *guest;

		copy.has_ended = !is_latest;
		if (!guests_find(interval->guests, guest->id) &&
		    (is_latest || !guests_ended_at(interval->guests, GUESTS_ENDED - 1)))
			guests_put(interval->guests, &copy);
	}
}

static int read_guests(struct interval *interval, const struct stored *at, struct error *why)
{
	struct guests *here = guests_new(NULL);
	int err = reader_guests(&interval->reader, at, here, why);

	if (!err)
		add_guests(interval, here, !guests_count(interval->guests) &&
						   !guests_ended_at(interval->guests, 0));
	guests_free(here);
	return err;
}

/* The inventories of a run, the latest first. */
static int add_inventories(struct interval *interval, const struct stored *from,
			   const struct stored *to, struct error *why)
{
	struct stored at = *to;
	int err;

	do {
		err = reader_find_flagged(&interval->reader, at.id, MOMENT_HAS_GUESTS, &at, why);
		if (!err)
			err = read_guests(interval, &at, why);
	} while (!err && at.id-- > from->id);
	return err == -ENOENT ? 0 : err;
}

/* ---- the interval ---- */

/* The run that ends with `to`, and the moment before the run; id 0: none. */
static int read_run(struct interval *interval, struct stored *to, struct error *why)
{
	struct stored from;
	int err = reader_find_flagged(&interval->reader, to->id, BREAKS, &from, why);

	if (err == -ENOENT || from.id < interval->first.id) {
		from = interval->first; /* what is older was dropped, or is not of it */
		err = 0;
	}
	if (!err)
		err = reader_enter(&interval->reader, to, why);
	if (!err)
		err = reader_open(&interval->reader, interval->fields, why);
	if (!err)
		err = add_inventories(interval, &from, to, why);
	if (!err)
		err = add_run(interval, &from, to, why);
	if (!err)
		err = add_elapsed(interval, &from, to, why);
	if (err)
		return err;
	if (from.id == interval->first.id) {
		to->id = 0;
		return 0;
	}
	return reader_step(&interval->reader, &from, true, to, why);
}

/* The first moment that is later, and the last one that is not later. */
static int find_ends(struct interval *interval, uint64_t from_ns, uint64_t to_ns, struct error *why)
{
	const struct store *store = &interval->reader.store;
	int err = store->type->find(store->state, to_ns, &interval->last, why);

	if (!err)
		err = store->type->find(store->state, from_ns, &interval->first, why);
	if (!err && interval->first.time_ns <= from_ns)
		err = reader_step(&interval->reader, &interval->first, false, &interval->first,
				  why);
	if (!err && (interval->last.time_ns > to_ns || interval->last.id < interval->first.id))
		err = -ENOENT;
	return err;
}

int interval_read(struct interval *interval, uint64_t from_ns, uint64_t to_ns, struct error *why)
{
	struct stored at;
	int err = find_ends(interval, from_ns, to_ns, why);

	if (err) {
		interval->first.id = interval->last.id = 0;
		return err;
	}
	at = interval->last;
	while (!err && at.id)
		err = read_run(interval, &at, why);
	return err;
}

/* ---- playing ---- */

struct source {
	const struct interval *interval;
	uint32_t source;
	bool has_begun;
	const struct want *want; /* the latest */
};

static void source_close(void *state)
{
	free(state);
}

static int source_open(const struct provider_args *args, void **ret_state, struct error *why)
{
	const struct interval *interval = *(struct interval *const *)args->recording;
	struct source *source;

	if (args->source == PROVIDER_EXITS &&
	    !reader_has_source(&interval->reader, args->source))
		return error_set(why, -ENODATA, "no exits were recorded");
	source = xcalloc(1, sizeof(*source));
	*source = (struct source){ .interval = interval, .source = args->source };
	*ret_state = source;
	return 0;
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

	source->has_begun = false;
	return 2;
}

/*
 * The first sample has nothing, but for what was open then and ended in the interval: as a whole it
 * took longer than the time that it has in the interval.
 */
static void play_open(const struct sum *sum, struct sample *sample)
{
	const struct timing timing = {
		.open_ns = sum->ended_ns - (sum->time_ns - sum->open_ns),
	};

	if (timing.open_ns)
		sample_add_timed(sample, sum->key, 0, ROW_FROM_ZERO, &timing);
}

static void play(const struct sum *sum, struct sample *sample)
{
	const uint32_t flags = ROW_FROM_ZERO | ROW_WHOLE_INTERVAL;
	struct timing timing = {
		.time_ns = sum->time_ns,
		.open_ns = sum->open_ns,
		.max_ns = sum->longest_ns,
	};

	if (!sum->is_timed) {
		sample_add(sample, sum->key, sum->count, flags);
		return;
	}
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		timing.hist[i] = sum->hist[i] < UINT32_MAX ? (uint32_t)sum->hist[i] : UINT32_MAX;
	sample_add_timed(sample, sum->key, sum->count, flags, &timing);
}

static int source_collect(void *state, struct sample *sample, struct error *why)
{
	struct source *source = state;
	const struct interval *interval = source->interval;
	struct sum *sum = NULL, *next;
	bool is_end = source->has_begun;

	(void)why;
	/* 0 is none */
	sample->time_ns[source->source] = 1 + (is_end ? interval->elapsed_ns : 0);
	source->has_begun = true;
	HASH_ITER(hh, interval->sums, sum, next) {
		const struct field *field = fields_get(interval->fields, sum->key.field);

		if (field->source != source->source ||
		    !field_set_has(&source->want->fields, sum->key.field))
			continue;
		if (is_end)
			play(sum, sample);
		else
			play_open(sum, sample);
	}
	return 0;
}

#define INTERVAL_PLAYER(its_name, of_exits) \
	&(const struct provider){ \
		.name = (its_name), \
		.is_of_exits = (of_exits), \
		.is_always_by_guest = true, \
		.open = source_open, \
		.want = source_want, \
		.rewind = source_rewind, \
		.collect = source_collect, \
		.close = source_close, \
	}

const struct provider *const interval_players[] = {
	[PROVIDER_DEBUGFS] = INTERVAL_PLAYER("debugfs", false),
	[PROVIDER_TRACEPOINT] = INTERVAL_PLAYER("tracepoint", false),
	[PROVIDER_EXITS] = INTERVAL_PLAYER("exits", true),
	[PROVIDER_STATS] = INTERVAL_PLAYER("stats", false),
	[PROVIDER_HOST] = INTERVAL_PLAYER("host", false),
	NULL,
};
