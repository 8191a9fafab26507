// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes what changed in the stats since the sample before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "host/machine.h"
#include "lib/array.h"
#include "core/facts/facts.h"
#include "history/moment.h"

#define BLOCK 16	 /* keys */
#define AHEAD 8		 /* keys */

/* ---- lists */

/* If a key came back, its forgotten row comes first. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int order = key_compare(&x->key, &y->key);

	return order ? order : (int)(y->flags & CHANGE_GONE) - (int)(x->flags & CHANGE_GONE);
}

void changes_sort(struct changes *changes)
{
	if (changes->nr)
		qsort(changes->list, changes->nr, sizeof(*changes->list), compare_changes);
}

/* Room for some more, with durations, and for what copy_delta() writes. */
static void make_room(struct changes *changes, size_t more)
{
	array_grow_unset(&changes->list, &changes->room, changes->nr + more);
	array_grow_unset(&changes->timings, &changes->room_timings, changes->nr_timings + more);
	array_grow_unset(&changes->counts, &changes->room_counts,
			 changes->nr_counts + more * HIST_BUCKETS + DELTA_MORE);
}

/* Gives the change that was just added its durations. Returns where their counts belong. */
static inline uint64_t *put_timing(struct changes *changes, struct change_timing timing)
{
	uint64_t *counts = &changes->counts[changes->nr_counts];

	timing.counts = (uint32_t)changes->nr_counts;
	changes->timings[changes->nr_timings++] = timing;
	changes->list[changes->nr - 1].timing = (uint32_t)changes->nr_timings;
	changes->nr_counts += timing.nr;
	return counts;
}

/*
 * Eight at a time, as most rows have no more: the processor cannot guess when a loop ends that goes
 * by the number. The last ones may be zeros, which the next row's counts overwrite.
 */
static inline void copy_delta(const uint32_t *restrict delta, unsigned int nr,
			      uint64_t *restrict counts)
{
	for (unsigned int i = 0; i < nr; i += DELTA_MORE + 1) {
		counts[i] = delta[i];
		counts[i + 1] = delta[i + 1];
		counts[i + 2] = delta[i + 2];
		counts[i + 3] = delta[i + 3];
		counts[i + 4] = delta[i + 4];
		counts[i + 5] = delta[i + 5];
		counts[i + 6] = delta[i + 6];
		counts[i + 7] = delta[i + 7];
	}
}

void changes_add(struct changes *changes, const struct change *change)
{
	make_room(changes, 1);
	changes->list[changes->nr++] = *change;
}

uint64_t *changes_add_timed(struct changes *changes, const struct change *change,
			    const struct change_timing *timing)
{
	changes_add(changes, change);
	return put_timing(changes, *timing);
}

void changes_reset(struct changes *changes)
{
	changes->nr = 0;
	changes->nr_timings = 0;
	changes->nr_counts = 0;
}

size_t changes_memory(const struct changes *changes)
{
	return changes->room * sizeof(*changes->list) +
	       changes->room_timings * sizeof(*changes->timings) +
	       changes->room_counts * sizeof(*changes->counts);
}

void changes_release(struct changes *changes)
{
	free(changes->list);
	free(changes->timings);
	free(changes->counts);
	*changes = (struct changes){ 0 };
}

struct moment_notice *moment_add_notice(struct moment *moment)
{
	array_grow(&moment->notices, &moment->room_notices, moment->nr_notices + 1);
	return &moment->notices[moment->nr_notices++];
}

void moment_reset(struct moment *moment)
{
	changes_reset(&moment->changes);
	changes_reset(&moment->totals);
	long_exits_reset(&moment->long_exits);
	guests_free(moment->guests);
	moment->guests = NULL;
	moment->nr_fields = 0;
	moment->nr_notices = 0;
	moment->time_ns = 0;
	moment->elapsed_ns = 0;
	moment->flags = 0;
	memset(moment->source_ns, 0, sizeof(moment->source_ns));
}

void moment_release(struct moment *moment)
{
	moment_reset(moment);
	changes_release(&moment->changes);
	changes_release(&moment->totals);
	long_exits_release(&moment->long_exits);
	free(moment->fields);
	free(moment->notices);
	*moment = (struct moment){ 0 };
}

/* ---- taking */

static inline uint32_t sum_of(const struct field *field)
{
	return field->adds_up ? field->parent + 1 : 0;
}

static bool has_durations(const struct stats_timing *timing)
{
	return timing->delta_ns || timing->delta_first != timing->delta_end ||
	       timing->open_ns != timing->open_before_ns;
}

/* All that take a key have room for it. */
static void take_total(const struct stats_item *item, const struct field *field, uint32_t flags,
		       struct changes *changes)
{
	const struct stats_timing *from = item->timing;
	unsigned int first = 0, end = HIST_BUCKETS;

	changes->list[changes->nr++] = (struct change){
		.key = item->key,
		.flags = flags,
		.sum = sum_of(field),
		.count = item->total,
	};
	if (!from)
		return;
	while (first < end && !from->total[first])
		first++;
	while (end > first && !from->total[end - 1])
		end--;
	memcpy(put_timing(changes, (struct change_timing){
		.time_ns = from->total_ended_ns,
		.open_ns = from->open_ns,
		.open_before_ns = from->total_ended_ns + from->open_ns - from->total_ns,
		.max_ns = from->max_ns,
		.first = (uint8_t)first,
		.nr = (uint8_t)(end - first),
	}), &from->total[first], (end - first) * sizeof(*from->total));
}

/* What happened to a key that is in the sample. */
static inline void take_present(const struct stats_item *item, const struct field *field,
				bool is_new, struct changes *changes)
{
	const struct stats_timing *from = item->timing;
	bool is_counter = field->kind == FIELD_COUNTER;
	bool is_timed = from && (is_new || has_durations(from));
	uint64_t *counts;

	if (!is_new && !is_timed && (is_counter ? !item->delta : item->raw == item->total))
		return;
	changes->list[changes->nr++] = (struct change){
		.key = item->key,
		.flags = is_new ? CHANGE_NEW | (item->has_rate ? CHANGE_HAS_RATE : 0) : 0,
		.sum = sum_of(field),
		.count = is_counter ? item->delta : item->total,
	};
	if (!is_timed)
		return;
	counts = put_timing(changes, (struct change_timing){
		.time_ns = from->delta_ended_ns,
		.open_ns = from->open_ns,
		.open_before_ns = from->open_before_ns,
		/* A longest of the interval that is the longest of all may be new. */
		.max_ns = from->interval_max_ns == from->max_ns ? from->max_ns : 0,
		.first = from->delta_first,
		.nr = (uint8_t)(from->delta_end - from->delta_first),
	});
	copy_delta(&from->delta[from->delta_first], from->delta_end - from->delta_first, counts);
}

static inline void take_item(const struct facts *facts, const struct stats_item *item,
			     const struct field *field, uint64_t tick, struct moment *moment)
{
	struct changes *changes = &moment->changes;

	if (item->key.guest == STATS_ENDED) { /* it changes when other keys are removed */
		if (stats_removed_at(facts->stats, 0))
			take_total(item, field, CHANGE_IS_TOTAL, changes);
	} else if (item->seen == tick) {
		take_present(item, field, item->born == tick, changes);
	} else if (moment->source_ns[field->source] &&
		   item->seen == facts->stats->before[field->source]) {
		changes->list[changes->nr++] = (struct change){ .key = item->key,
								.flags = CHANGE_ABSENT };
	}
}

/* The durations are spread over the memory, and each would be waited for. */
static inline void fetch(const struct stats_item *next)
{
	if (next->timing) {
		__builtin_prefetch(next->timing);
		__builtin_prefetch(&next->timing->delta[HIST_BUCKETS / 2]);
	}
}

static void take_changes(const struct facts *facts, struct moment *moment)
{
	const struct field *const *fields = fields_all(facts->fields);
	size_t nr = facts->stats->nr;
	uint64_t tick = facts->stats->tick;
	const struct stats_item *removed;

	for (size_t i = 0; i < nr; i++) {
		const struct stats_item *item = &facts->stats->list[i];

		if (i % BLOCK == 0)
			make_room(&moment->changes, BLOCK);
		if (i + AHEAD < nr)
			fetch(&facts->stats->list[i + AHEAD]);
		take_item(facts, item, fields[item->key.field], tick, moment);
	}
	for (size_t i = 0; (removed = stats_removed_at(facts->stats, i)); i++)
		changes_add(&moment->changes,
			    &(struct change){ .key = removed->key, .flags = CHANGE_GONE });
}

static void take_forgotten(const struct facts *facts, struct changes *forgotten)
{
	const struct stats_item *item;

	for (size_t i = 0; (item = stats_removed_at(facts->stats, i)); i++) {
		make_room(forgotten, 1);
		take_total(item, fields_get(facts->fields, item->key.field), CHANGE_GONE,
			   forgotten);
	}
}

/* Moves the rows to the end of another list. */
static void move_changes(struct changes *from, struct changes *to)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct change change = from->list[i];
		const struct change_timing *timing = changes_timing(from, &change);
		uint64_t *counts;

		change.timing = 0;
		if (!timing) {
			changes_add(to, &change);
			continue;
		}
		counts = changes_add_timed(to, &change, timing);
		if (timing->nr)
			memcpy(counts, changes_counts(from, timing), timing->nr * sizeof(*counts));
	}
	changes_reset(from);
}

/* What was forgotten comes first. */
static void take_totals(struct moment_taker *taker, const struct facts *facts,
			struct moment *moment)
{
	if (taker->forgotten.nr)
		moment->flags |= MOMENT_HAS_FORGOTTEN;
	move_changes(&taker->forgotten, &moment->totals);
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *item = &facts->stats->list[i];
		const struct field *field = fields_get(facts->fields, item->key.field);
		bool is_absent = item->seen < facts->stats->latest[field->source];

		make_room(&moment->totals, 1);
		take_total(item, field, is_absent ? CHANGE_ABSENT : 0, &moment->totals);
		moment->totals.list[moment->totals.nr - 1].parent_before = item->parent_before;
	}
}

static int compare_took(const void *a, const void *b)
{
	const struct long_exit *x = a, *y = b;

	return (x->took_ns < y->took_ns) - (x->took_ns > y->took_ns);
}

static int compare_end(const void *a, const void *b)
{
	const struct long_exit *x = a, *y = b;

	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/*
 * The longest of the latest sample, in the order in which they ended. Halts are listed while a
 * screen shows them: a history has none.
 */
static void take_long_exits(struct moment_taker *taker, const struct long_exits *from,
			    struct long_exits *to)
{
	struct long_exits *all = &taker->long_exits;

	to->longer_ns = from->longer_ns;
	to->lost = from->lost_latest;
	long_exits_reset(all);
	for (size_t i = from->nr - from->nr_latest; i < from->nr; i++) {
		const struct long_exit *exit = long_exits_at(from, i);

		if (!exit->is_idle)
			long_exits_add(all, exit);
	}
	if (all->nr > LONG_EXITS_KEPT) {
		qsort(all->list, all->nr, sizeof(*all->list), compare_took);
		to->lost += all->nr - LONG_EXITS_KEPT;
		all->nr = LONG_EXITS_KEPT;
	}
	if (all->nr)
		qsort(all->list, all->nr, sizeof(*all->list), compare_end);
	for (size_t i = 0; i < all->nr; i++)
		long_exits_add(to, &all->list[i]);
}

static void take_field(struct moment *moment, uint32_t id, const struct field *from)
{
	*array_add(moment->fields, moment->nr_fields, moment->room_fields) =
		(struct moment_field){ id, *from };
}

static uint32_t flags_of(const struct moment_taker *taker, const struct facts *facts)
{
	bool is_first = !taker->tick || facts->stats->tick != taker->tick + 1;
	bool is_reset = !is_first && taker->resets != facts->stats->resets;
	uint32_t flags = (is_first ? MOMENT_FIRST : 0) | (is_reset ? MOMENT_RESET : 0) |
			 (taker->has_lost ? MOMENT_AFTER_LOSS : 0);

	if (flags || taker->since_totals + 1 >= MOMENT_TOTALS_EVERY)
		flags |= MOMENT_HAS_TOTALS;
	if (flags & MOMENT_HAS_TOTALS ||
	    taker->generation != guests_generation(facts->guests))
		flags |= MOMENT_HAS_GUESTS;
	return flags;
}

/* The moment's interval is the one of the exits, of which pictures over time show rates. */
static void take_times(const struct facts *facts, uint64_t time_ns, struct moment *moment)
{
	struct exits exits = exits_choose(facts, false, false);

	moment->time_ns = time_ns;
	if (exits.rank)
		moment->elapsed_ns = facts->stats->elapsed_ns[exits.source];
	for (uint32_t i = 0; i < SAMPLE_SOURCES; i++) {
		moment->source_ns[i] = stats_time_ns(facts->stats, i);
		if (!moment->elapsed_ns)
			moment->elapsed_ns = facts->stats->elapsed_ns[i];
	}
}

void moment_take(struct moment_taker *taker, const struct facts *facts, uint64_t time_ns,
		 struct moment *ret_moment)
{
	struct moment *moment = ret_moment;
	uint32_t flags = flags_of(taker, facts);

	moment_reset(moment);
	moment->flags = flags;
	take_times(facts, time_ns, moment);
	take_changes(facts, moment);
	take_forgotten(facts, &taker->forgotten);
	if (flags & MOMENT_HAS_TOTALS)
		take_totals(taker, facts, moment);
	if (flags & MOMENT_HAS_GUESTS)
		moment->guests = guests_copy(facts->guests);
	if (taker->has_long_exits)
		take_long_exits(taker, &facts->stats->long_exits, &moment->long_exits);
	for (uint32_t id = taker->has_lost ? 0 : taker->nr_fields;
	     id < fields_count(facts->fields); id++)
		take_field(moment, id, fields_get(facts->fields, id));
	taker->tick = facts->stats->tick;
	taker->resets = facts->stats->resets;
	taker->generation = guests_generation(facts->guests);
	taker->nr_fields = fields_count(facts->fields);
	taker->since_totals = flags & MOMENT_HAS_TOTALS ? 0 : taker->since_totals + 1;
	taker->has_lost = false;
}

void moment_skip(struct moment_taker *taker, const struct facts *facts)
{
	if (!taker->tick || facts->stats->tick != taker->tick + 1)
		taker->tick = 0; /* the first moment is missing: the next is the first */
	else
		taker->tick = facts->stats->tick;
	taker->has_lost = true;
}

void moment_taker_release(struct moment_taker *taker)
{
	changes_release(&taker->forgotten);
	long_exits_release(&taker->long_exits);
}

void blob_release(struct blob *blob)
{
	free(blob->bytes);
	*blob = (struct blob){ 0 };
}

/* ---- the segment */

void segment_of_machine(const struct env *env, const char *engine, double interval_s,
			struct segment *ret_segment)
{
	struct segment *segment = ret_segment;

	*segment = (struct segment){ .nr_cpus = host_cpus(env), .interval_s = interval_s };
	host_name(env, segment->host, sizeof(segment->host));
	env_read_line(env, segment->kernel, sizeof(segment->kernel), "/proc/sys/kernel/osrelease");
	env_read_line(env, segment->boot_id, sizeof(segment->boot_id),
		      "/proc/sys/kernel/random/boot_id");
	snprintf(segment->arch, sizeof(segment->arch), "%s", env->arch->name);
	snprintf(segment->engine, sizeof(segment->engine), "%s", engine ? engine : "");
}
