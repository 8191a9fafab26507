// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds up moments. A moment's totals, which are stored at intervals, save reading the changes of
 * all moments before it: of two totals the difference is what happened between them, unless a key
 * was forgotten meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "facts/stats.h"
#include "history/segment_ids.h"
#include "history/span.h"
#include "providers/provider.h"

/* Totals do not go on from the moment before one of these. */
#define BREAKS (MOMENT_FIRST | MOMENT_RESET | MOMENT_AFTER_LOSS)

/* What happened to a key of the dictionary here. */
struct sum {
	struct key key;
	bool is_timed;
	bool has_level; /* the latest one is known: moments are read backwards */
	uint64_t count;
	struct change_timing timing;
	UT_hash_handle hh;
};

struct span {
	struct store store;
	struct fields *fields, *own_fields;
	struct segment_ids *ids;
	struct guests *guests;
	struct packer *packer;
	struct blob blob;
	struct moment moment;	   /* the latest that was unpacked */
	struct moment low, high;   /* two totals that are compared */
	uint32_t segment;	   /* of the ids; 0: none yet */
	struct sum *sums;
	struct stored first, last;
	uint64_t elapsed_ns;
};

int span_new(struct store store, struct fields *fields, struct span **ret_span)
{
	struct span *span = calloc(1, sizeof(*span));

	if (!span)
		return -ENOMEM;
	span->store = store;
	span->own_fields = fields ? NULL : fields_new();
	span->fields = fields ? fields : span->own_fields;
	span->ids = segment_ids_new(store, fields);
	span->guests = guests_new(NULL);
	span->packer = packer_new();
	*ret_span = span;
	if (span->fields && span->ids && span->guests && span->packer)
		return 0;
	span_free(span);
	return -ENOMEM;
}

void span_free(struct span *span)
{
	struct sum *sum, *next;

	if (!span)
		return;
	HASH_ITER(hh, span->sums, sum, next) {
		HASH_DEL(span->sums, sum);
		free(sum);
	}
	segment_ids_free(span->ids);
	guests_free(span->guests);
	packer_free(span->packer);
	blob_release(&span->blob);
	moment_release(&span->moment);
	moment_release(&span->low);
	moment_release(&span->high);
	fields_free(span->own_fields);
	free(span);
}

struct guests *span_guests(struct span *span)
{
	return span->guests;
}

struct fields *span_fields(struct span *span)
{
	return span->fields;
}

const struct stored *span_first(const struct span *span)
{
	return &span->first;
}

const struct stored *span_last(const struct span *span)
{
	return &span->last;
}

uint64_t span_elapsed_ns(const struct span *span)
{
	return span->elapsed_ns;
}

/* ---- reading ---- */

static int read_part(struct span *span, uint64_t id, enum moment_part part, struct why *why)
{
	return span->store.type->read(span->store.state, id, part, &span->blob, why);
}

static int read_changes(struct span *span, uint64_t id, struct why *why)
{
	int err = read_part(span, id, PART_CHANGES, why);

	if (!err)
		err = unpack_changes(span->packer, &span->blob, UNPACK_ALL, &span->moment, why);
	return err;
}

static int read_totals(struct span *span, uint64_t id, struct moment *moment, struct why *why)
{
	int err = read_part(span, id, PART_TOTALS, why);

	return err ? err : unpack_totals(span->packer, &span->blob, UNPACK_ALL, moment, why);
}

static int find_flagged(struct span *span, uint64_t id, uint32_t flags, struct stored *ret_stored,
			struct why *why)
{
	return span->store.type->find_flagged(span->store.state, id, flags, ret_stored, why);
}

static const struct change_timing *timing_of(const struct changes *changes,
					     const struct change *change)
{
	return change->timing && change->timing <= changes->nr_timings ?
		       &changes->timings[change->timing - 1] : NULL;
}

/* ---- sums ---- */

static bool is_known(const struct span *span, uint32_t guest)
{
	return guest == GUEST_ANY || guest == STATS_ENDED || guests_find(span->guests, guest);
}

/* The sum of a key of the segment. -ENOENT: its field is not known. */
static int find_sum(struct span *span, const struct key *there, struct sum **ret_sum)
{
	struct key key = { 0 };
	uint32_t source = 0;
	struct sum *sum;

	while (source < SAMPLE_SOURCES && !segment_ids_key(span->ids, there, source, &key))
		source++;
	if (source == SAMPLE_SOURCES)
		return -ENOENT;
	if (!is_known(span, key.guest))
		key = (struct key){ STATS_ENDED, -1, key.field };
	HASH_FIND(hh, span->sums, &key, sizeof(key), sum);
	if (!sum) {
		sum = calloc(1, sizeof(*sum));
		if (!sum)
			return -ENOMEM;
		sum->key = key;
		HASH_ADD(hh, span->sums, key, sizeof(key), sum);
		if (!hash_has(sum)) {
			free(sum);
			return -ENOMEM;
		}
	}
	*ret_sum = sum;
	return 0;
}

static bool is_counter(const struct span *span, const struct sum *sum)
{
	return fields_get(span->fields, sum->key.field)->kind == FIELD_COUNTER;
}

/* The longest of durations, as stats know that of an interval: exact where it was a new longest. */
static uint64_t longest_of(const struct change_timing *timing)
{
	unsigned int top = HIST_BUCKETS;

	if (timing->max_ns)
		return timing->max_ns;
	while (top && !timing->hist[top - 1])
		top--;
	if (!top)
		return 0;
	return hist_edge_ns(top - 1) < timing->time_ns ? hist_edge_ns(top - 1) : timing->time_ns;
}

static void add_timing(struct sum *sum, const struct change_timing *timing)
{
	uint64_t longest_ns = longest_of(timing);

	sum->is_timed = true;
	sum->timing.time_ns += timing->time_ns;
	if (longest_ns > sum->timing.max_ns)
		sum->timing.max_ns = longest_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum->timing.hist[i] += timing->hist[i];
}

/* A change of one moment. */
static int add_change(struct span *span, const struct changes *changes, const struct change *change)
{
	const struct change_timing *timing = timing_of(changes, change);
	struct sum *sum;
	int err;

	/* Of guests that were forgotten the changes are known, each when it happened. */
	if (change->flags & (CHANGE_ABSENT | CHANGE_GONE | CHANGE_IS_TOTAL))
		return 0;
	err = find_sum(span, &change->key, &sum);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (is_counter(span, sum))
		sum->count += change->count;
	else if (!sum->has_level)
		sum->count = change->count;
	sum->has_level = true;
	if (timing)
		add_timing(sum, timing);
	return 0;
}

/* A moment's changes, unless it has no interval, or was dropped meanwhile. */
static int add_moment(struct span *span, const struct stored *stored, struct why *why)
{
	const struct changes *changes = &span->moment.changes;
	int err = stored->elapsed_ns ? read_changes(span, stored->id, why) : -ENOENT;

	for (size_t i = 0; !err && i < changes->nr; i++)
		err = add_change(span, changes, &changes->list[i]);
	return err == -ENOENT ? 0 : err;
}

/* The moments from `to` back to the first one that is later than low_id. */
static int add_moments(struct span *span, uint64_t low_id, const struct stored *to, struct why *why)
{
	struct stored at = *to;
	int err = 0;

	while (!err && at.id > low_id) {
		err = add_moment(span, &at, why);
		if (!err)
			err = span->store.type->step(span->store.state, at.id, true, &at, why);
	}
	return err == -ENOENT ? 0 : err;
}

/* ---- totals ---- */

/* The row of a key from *i on, which stays there; NULL: there is none. Both lists are sorted. */
static const struct change *find_total(const struct changes *totals, const struct key *key,
				       size_t *i)
{
	while (*i < totals->nr && change_compare(&totals->list[*i].key, key) < 0)
		++*i;
	return *i < totals->nr && change_compare(&totals->list[*i].key, key) == 0 ?
		       &totals->list[*i] : NULL;
}

/* Whether no key was forgotten between the two: then its total would be that of STATS_ENDED. */
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

static struct change_timing difference(const struct change_timing *low,
				       const struct change_timing *high)
{
	struct change_timing timing = *high;

	if (!low)
		return timing;
	timing.time_ns -= low->time_ns;
	if (low->max_ns == high->max_ns)
		timing.max_ns = 0;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		timing.hist[i] -= low->hist[i];
	return timing;
}

/* What happened to a key between two totals; the first may be NULL. */
static int add_difference(struct span *span, const struct change *low, const struct change *high)
{
	const struct change_timing *before = low ? timing_of(&span->low.totals, low) : NULL;
	const struct change_timing *after = timing_of(&span->high.totals, high);
	struct change_timing timing;
	struct sum *sum;
	int err;

	if (low && low->count == high->count &&
	    (!after || (before && memcmp(before, after, sizeof(*after)) == 0)))
		return 0;
	err = find_sum(span, &high->key, &sum);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (is_counter(span, sum))
		sum->count += high->count - (low ? low->count : 0);
	if (!after)
		return 0;
	timing = difference(before, after);
	add_timing(sum, &timing);
	return 0;
}

/* -EAGAIN: a key was forgotten between the two. */
static int add_totals(struct span *span, uint64_t low_id, uint64_t high_id, struct why *why)
{
	const struct changes *low = &span->low.totals, *high = &span->high.totals;
	int err = read_totals(span, low_id, &span->low, why);
	size_t at = 0;

	if (!err)
		err = read_totals(span, high_id, &span->high, why);
	if (!err && !are_comparable(low, high))
		err = -EAGAIN;
	for (size_t i = 0; !err && i < high->nr; i++) {
		const struct change *before = find_total(low, &high->list[i].key, &at);

		err = add_difference(span, before, &high->list[i]);
	}
	return err;
}

/* The moments after `low`, up to `high`: both have totals. */
static int add_between(struct span *span, const struct stored *low, const struct stored *high,
		       struct why *why)
{
	uint64_t middle_id = low->id + (high->id - low->id) / 2;
	struct stored middle;
	int err;

	if (low->id == high->id)
		return 0;
	err = add_totals(span, low->id, high->id, why);
	if (err != -EAGAIN)
		return err;
	err = find_flagged(span, middle_id, MOMENT_HAS_TOTALS, &middle, why);
	if (err || middle.id <= low->id)
		return add_moments(span, low->id, high, why);
	err = add_between(span, &middle, high, why);
	return err ? err : add_between(span, low, &middle, why);
}

/* Keys that were there and did nothing have a row of 0, and levels the latest one. */
static int add_present(struct span *span, uint64_t id, struct why *why)
{
	int err = read_totals(span, id, &span->high, why);

	for (size_t i = 0; !err && i < span->high.totals.nr; i++) {
		const struct change *total = &span->high.totals.list[i];
		struct sum *sum;

		if (total->flags & CHANGE_ABSENT || total->key.guest == STATS_ENDED)
			continue;
		err = find_sum(span, &total->key, &sum);
		if (!err && !is_counter(span, sum) && !sum->has_level)
			sum->count = total->count;
		if (!err)
			sum->has_level = true;
		if (!err)
			sum->is_timed |= total->timing != 0;
		err = err == -ENOENT ? 0 : err;
	}
	return err;
}

/* ---- runs: moments of one segment, with totals that go on ---- */

/* The first moment from `id` on that has totals; at most `high`, which has. */
static int find_totals(struct span *span, const struct stored *from, uint64_t high_id,
		       struct stored *ret_stored, struct why *why)
{
	struct stored at = *from;
	int err = 0;

	while (!err && at.id < high_id && !(at.flags & MOMENT_HAS_TOTALS))
		err = span->store.type->step(span->store.state, at.id, false, &at, why);
	*ret_stored = at;
	return err;
}

static int add_run(struct span *span, const struct stored *from, const struct stored *to,
		   struct why *why)
{
	struct stored low, high;
	int err = find_flagged(span, to->id, MOMENT_HAS_TOTALS, &high, why);

	if (err == -ENOENT)
		return add_moments(span, from->id - 1, to, why);
	if (!err && high.id < from->id) {
		err = add_moments(span, from->id - 1, to, why);
		return err ? err : add_present(span, high.id, why);
	}
	if (!err)
		err = add_moments(span, high.id, to, why);
	if (!err)
		err = add_present(span, high.id, why);
	if (!err)
		err = find_totals(span, from, high.id, &low, why);
	if (!err)
		err = add_between(span, &low, &high, why);
	return err ? err : add_moments(span, from->id - 1, &low, why);
}

/* The time that a run took, the first moment's interval included. */
static int add_elapsed(struct span *span, const struct stored *from, const struct stored *to,
		       struct why *why)
{
	uint64_t source_ns[SAMPLE_SOURCES], most_ns = 0;
	int err = read_changes(span, from->id, why);

	memcpy(source_ns, span->moment.source_ns, sizeof(source_ns));
	if (!err)
		err = read_changes(span, to->id, why);
	for (unsigned int i = 0; !err && i < SAMPLE_SOURCES; i++) {
		uint64_t before_ns = source_ns[i], after_ns = span->moment.source_ns[i];

		if (before_ns && after_ns > before_ns && after_ns - before_ns > most_ns)
			most_ns = after_ns - before_ns;
	}
	if (!err)
		span->elapsed_ns += most_ns + from->elapsed_ns;
	return err == -ENOENT ? 0 : err;
}

/* ---- guests ---- */

/* Adds guests that are not known yet; of an earlier inventory they have ended. */
static int add_guests(struct span *span, const struct guests *guests, bool is_latest)
{
	const struct guest *guest;
	int err = 0;

	for (size_t i = 0; !err && (guest = guests_ended_at(guests, i)); i++) {
		if (!guests_find(span->guests, guest->id) &&
		    !guests_ended_at(span->guests, GUESTS_ENDED - 1))
			err = guests_put(span->guests, guest);
	}
	for (size_t i = 0; !err && (guest = guests_at(guests, i)); i++) {
		struct guest copy = *guest;

		copy.has_ended = !is_latest;
		if (!guests_find(span->guests, guest->id) &&
		    (is_latest || !guests_ended_at(span->guests, GUESTS_ENDED - 1)))
			err = guests_put(span->guests, &copy);
	}
	return err;
}

static int read_guests(struct span *span, uint64_t id, struct why *why)
{
	struct guests *here = guests_new(NULL);
	int err = here ? read_part(span, id, PART_GUESTS, why) : -ENOMEM;

	if (!err)
		err = unpack_guests(span->packer, &span->blob, &span->moment, why);
	if (!err)
		err = segment_ids_guests(span->ids, span->moment.guests, here);
	if (!err)
		err = add_guests(span, here, !guests_count(span->guests) &&
						     !guests_ended_at(span->guests, 0));
	guests_free(here);
	return err;
}

/* The inventories of a run, the latest first. */
static int add_inventories(struct span *span, const struct stored *from, const struct stored *to,
			   struct why *why)
{
	struct stored at = *to;
	int err;

	do {
		err = find_flagged(span, at.id, MOMENT_HAS_GUESTS, &at, why);
		if (!err)
			err = read_guests(span, at.id, why);
	} while (!err && at.id-- > from->id);
	return err == -ENOENT ? 0 : err;
}

/* ---- the span ---- */

static int load_segment(struct span *span, uint32_t segment, struct why *why)
{
	struct segment of;
	int err;

	if (segment == span->segment)
		return 0;
	err = span->store.type->segment(span->store.state, segment, &of, why);
	if (!err)
		err = segment_ids_load(span->ids, segment, &of, why);
	if (!err)
		err = segment_ids_open(span->ids, span->fields, why);
	span->segment = segment;
	return err;
}

/* The run that ends with `to`, and the moment before the run; id 0: none. */
static int read_run(struct span *span, struct stored *to, struct why *why)
{
	struct stored from;
	int err = find_flagged(span, to->id, BREAKS, &from, why);

	if (err == -ENOENT || from.id < span->first.id) {
		from = span->first; /* what is older was dropped, or is not of the span */
		err = 0;
	}
	if (!err)
		err = load_segment(span, to->segment, why);
	if (!err)
		err = add_inventories(span, &from, to, why);
	if (!err)
		err = add_run(span, &from, to, why);
	if (!err)
		err = add_elapsed(span, &from, to, why);
	if (err)
		return err;
	if (from.id == span->first.id) {
		to->id = 0;
		return 0;
	}
	return span->store.type->step(span->store.state, from.id, true, to, why);
}

/* The first moment that is later, and the last one that is not later. */
static int find_ends(struct span *span, uint64_t from_ns, uint64_t to_ns, struct why *why)
{
	const struct store *store = &span->store;
	int err = store->type->find(store->state, to_ns, &span->last, why);

	if (!err)
		err = store->type->find(store->state, from_ns, &span->first, why);
	if (!err && span->first.time_ns <= from_ns)
		err = store->type->step(store->state, span->first.id, false, &span->first, why);
	if (!err && (span->last.time_ns > to_ns || span->last.id < span->first.id))
		err = -ENOENT;
	return err;
}

int span_read(struct span *span, uint64_t from_ns, uint64_t to_ns, struct why *why)
{
	struct stored at;
	int err = find_ends(span, from_ns, to_ns, why);

	if (err) {
		span->first.id = span->last.id = 0;
		return err;
	}
	at = span->last;
	while (!err && at.id)
		err = read_run(span, &at, why);
	return err;
}

/* ---- playing ---- */

struct source {
	const struct span *span;
	uint32_t source;
	bool has_begun;
};

static void source_close(void *state)
{
	free(state);
}

static int source_open(const void *recording, const struct provider_args *args, void **ret_state,
		       struct why *why)
{
	const struct span *span = *(struct span *const *)recording;
	struct source *source;

	if (!segment_ids_has_source(span->ids, args->source))
		return why_set(why, -ENODATA, "nothing of it was recorded");
	source = calloc(1, sizeof(*source));
	if (!source)
		return -ENOMEM;
	*source = (struct source){ .span = span, .source = args->source };
	*ret_state = source;
	return 0;
}

static size_t source_rewind(void *state)
{
	struct source *source = state;

	source->has_begun = false;
	return 2;
}

static int play(const struct sum *sum, uint32_t flags, struct sample *sample)
{
	struct timing timing = { .time_ns = sum->timing.time_ns, .max_ns = sum->timing.max_ns };

	if (!sum->is_timed)
		return sample_add(sample, sum->key, sum->count, flags);
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		timing.hist[i] = sum->timing.hist[i] < UINT32_MAX ? (uint32_t)sum->timing.hist[i] :
								    UINT32_MAX;
	return sample_add_timed(sample, sum->key, sum->count, flags, &timing);
}

static int source_next(void *state, const struct want *want, uint32_t flags,
		       struct sample *sample, struct why *why)
{
	struct source *source = state;
	const struct span *span = source->span;
	struct sum *sum, *next;
	int err = 0;

	(void)why;
	sample->time_ns[source->source] = 1; /* 0 is none */
	if (!source->has_begun) {
		source->has_begun = true;
		return 0;
	}
	sample->time_ns[source->source] += span->elapsed_ns;
	HASH_ITER(hh, span->sums, sum, next) {
		const struct field *field = fields_get(span->fields, sum->key.field);

		if (!err && field->source == source->source &&
		    field_set_has(&want->fields, sum->key.field))
			err = play(sum, flags, sample);
	}
	return err;
}

#define SPAN_PLAYER(its_name, of_exits) \
	&(const struct player){ \
		.name = (its_name), \
		.is_of_exits = (of_exits), \
		.is_always_by_guest = true, \
		.open = source_open, \
		.rewind = source_rewind, \
		.next = source_next, \
		.close = source_close, \
	}

const struct player *const span_players[] = {
	[PROVIDER_DEBUGFS] = SPAN_PLAYER("debugfs", false),
	[PROVIDER_TRACEPOINT] = SPAN_PLAYER("tracepoint", false),
	[PROVIDER_EXITS] = SPAN_PLAYER("exits", true),
	NULL,
};
