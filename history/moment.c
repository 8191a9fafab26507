// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes what changed in the stats since the sample before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "history/moment.h"

#define TOTALS_EVERY 128 /* moments; kvmtop-history(5) */

/* ---- lists */

static int compare(const void *a, const void *b)
{
	return change_compare(&((const struct change *)a)->key, &((const struct change *)b)->key);
}

void changes_sort(struct changes *changes)
{
	size_t i = 1;

	while (i < changes->nr && compare(&changes->list[i - 1], &changes->list[i]) <= 0)
		i++;
	if (i < changes->nr)
		qsort(changes->list, changes->nr, sizeof(*changes->list), compare);
}

int changes_add(struct changes *changes, const struct change *change)
{
	if (array_grow(&changes->list, &changes->room, changes->nr + 1) < 0)
		return -ENOMEM;
	changes->list[changes->nr++] = *change;
	return 0;
}

uint64_t *changes_add_timed(struct changes *changes, const struct change *change,
			    const struct change_timing *timing)
{
	size_t at = changes->nr_counts;

	if (array_grow(&changes->timings, &changes->room_timings, changes->nr_timings + 1) < 0 ||
	    array_grow(&changes->counts, &changes->room_counts, at + HIST_BUCKETS) < 0 ||
	    changes_add(changes, change) < 0)
		return NULL;
	changes->timings[changes->nr_timings] = *timing;
	changes->timings[changes->nr_timings++].counts = (uint32_t)at;
	changes->list[changes->nr - 1].timing = (uint32_t)changes->nr_timings;
	changes->nr_counts += timing->nr;
	return &changes->counts[at];
}

void changes_reset(struct changes *changes)
{
	changes->nr = 0;
	changes->nr_timings = 0;
	changes->nr_counts = 0;
}

void changes_release(struct changes *changes)
{
	free(changes->list);
	free(changes->timings);
	free(changes->counts);
	*changes = (struct changes){ 0 };
}

static void forget_fields(struct moment *moment)
{
	for (size_t i = 0; i < moment->nr_fields; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(moment->fields[i].texts); k++)
			free(moment->fields[i].texts[k]);
	}
	moment->nr_fields = 0;
}

void moment_reset(struct moment *moment)
{
	changes_reset(&moment->changes);
	changes_reset(&moment->totals);
	guests_free(moment->guests);
	moment->guests = NULL;
	forget_fields(moment);
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
	free(moment->fields);
	*moment = (struct moment){ 0 };
}

/* ---- taking */

static bool has_durations(const struct stats_timing *timing)
{
	return timing && (timing->delta_ns || timing->delta_first != timing->delta_end);
}

static int take_total(const struct stats_item *item, uint32_t flags, struct changes *changes)
{
	const struct change change = { .key = item->key, .flags = flags, .count = item->total };
	const struct stats_timing *from = item->timing;
	unsigned int first = 0, end = HIST_BUCKETS;
	struct change_timing timing;
	uint64_t *counts;

	if (!from)
		return changes_add(changes, &change);
	while (first < end && !from->total[first])
		first++;
	while (end > first && !from->total[end - 1])
		end--;
	timing = (struct change_timing){
		.time_ns = from->total_ns,
		.max_ns = from->max_ns,
		.first = (uint8_t)first,
		.nr = (uint8_t)(end - first),
	};
	counts = changes_add_timed(changes, &change, &timing);
	if (!counts)
		return -ENOMEM;
	memcpy(counts, &from->total[first], timing.nr * sizeof(*counts));
	return 0;
}

static int take_durations(const struct stats_timing *from, const struct change *change,
			  struct changes *changes)
{
	/* A longest of the interval that is the longest of all may be new. */
	const struct change_timing timing = {
		.time_ns = from->delta_ns,
		.max_ns = from->interval_max_ns == from->max_ns ? from->max_ns : 0,
		.first = from->delta_first,
		.nr = (uint8_t)(from->delta_end - from->delta_first),
	};
	uint64_t *counts = changes_add_timed(changes, change, &timing);

	if (!counts)
		return -ENOMEM;
	for (unsigned int i = 0; i < timing.nr; i++)
		counts[i] = from->delta[timing.first + i];
	return 0;
}

/* What happened to a key that is in the sample. */
static int take_present(const struct stats_item *item, enum field_kind kind, bool is_new,
			struct changes *changes)
{
	bool is_counter = kind == FIELD_COUNTER, is_timed = has_durations(item->timing);
	const struct change change = {
		.key = item->key,
		.flags = is_new ? CHANGE_NEW | (item->has_rate ? CHANGE_HAS_RATE : 0) : 0,
		.count = is_counter ? item->delta : item->total,
	};

	if (!is_new && !is_timed && (is_counter ? !item->delta : item->raw == item->total))
		return 0;
	if (!is_timed && !(is_new && item->timing))
		return changes_add(changes, &change);
	return take_durations(item->timing, &change, changes);
}

static int take_item(const struct facts *facts, const struct stats_item *item,
		     const struct moment *moment, struct changes *changes)
{
	const struct field *field = fields_get(facts->fields, item->key.field);
	const struct change absent = { .key = item->key, .flags = CHANGE_ABSENT };
	uint64_t tick = stats_tick(facts->stats);

	if (item->key.guest == STATS_ENDED) /* it changes when other keys are removed */
		return stats_removed_at(facts->stats, 0) ?
			       take_total(item, CHANGE_IS_TOTAL, changes) : 0;
	if (item->seen == tick)
		return take_present(item, field->kind, item->born == tick, changes);
	if (item->seen + 1 == tick && moment->source_ns[field->source])
		return changes_add(changes, &absent);
	return 0;
}

static int take_changes(const struct facts *facts, struct moment *moment)
{
	const struct key *removed;
	int err = 0;

	for (size_t i = 0; i < stats_count(facts->stats) && !err; i++)
		err = take_item(facts, stats_at(facts->stats, i), moment, &moment->changes);
	for (size_t i = 0; (removed = stats_removed_at(facts->stats, i)) && !err; i++)
		err = changes_add(&moment->changes,
				  &(struct change){ .key = *removed, .flags = CHANGE_GONE });
	return err;
}

static int take_totals(const struct facts *facts, struct moment *moment)
{
	int err = 0;

	for (size_t i = 0; i < stats_count(facts->stats) && !err; i++) {
		const struct stats_item *item = stats_at(facts->stats, i);
		bool is_absent = item->seen != stats_tick(facts->stats);

		err = take_total(item, is_absent ? CHANGE_ABSENT : 0, &moment->totals);
	}
	return err;
}

static int take_field(struct moment *moment, uint32_t id, const struct field *from)
{
	const char *const texts[] = { from->name, from->listed, from->label, from->alias };
	struct moment_field *new;

	if (array_grow(&moment->fields, &moment->room_fields, moment->nr_fields + 1) < 0)
		return -ENOMEM;
	new = &moment->fields[moment->nr_fields++];
	*new = (struct moment_field){ .id = id, .field = *from };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		new->texts[i] = texts[i] ? strdup(texts[i]) : NULL;
		if (texts[i] && !new->texts[i])
			return -ENOMEM;
	}
	new->field.name = new->texts[0];
	new->field.listed = new->texts[1];
	new->field.label = new->texts[2];
	new->field.alias = new->texts[3];
	return 0;
}

static int take_fields(const struct facts *facts, uint32_t first, struct moment *moment)
{
	int err = 0;

	for (uint32_t id = first; id < fields_count(facts->fields) && !err; id++)
		err = take_field(moment, id, fields_get(facts->fields, id));
	return err;
}

static uint32_t flags_of(const struct moment_taker *taker, const struct facts *facts)
{
	bool is_first = !taker->tick || stats_tick(facts->stats) != taker->tick + 1;
	bool is_reset = !is_first && taker->resets != stats_resets(facts->stats);
	uint32_t flags = (is_first ? MOMENT_FIRST : 0) | (is_reset ? MOMENT_RESET : 0) |
			 (taker->has_lost ? MOMENT_AFTER_LOSS : 0);

	if (flags || taker->since_totals + 1 >= TOTALS_EVERY)
		flags |= MOMENT_HAS_TOTALS;
	if (flags & MOMENT_HAS_TOTALS ||
	    taker->generation != guests_generation(facts->guests))
		flags |= MOMENT_HAS_GUESTS;
	return flags;
}

static void take_times(const struct facts *facts, uint64_t time_ns, struct moment *moment)
{
	moment->time_ns = time_ns;
	for (uint32_t i = 0; i < SAMPLE_SOURCES; i++) {
		moment->source_ns[i] = stats_time_ns(facts->stats, i);
		if (!moment->elapsed_ns)
			moment->elapsed_ns = stats_elapsed_ns(facts->stats, i);
	}
}

int moment_take(struct moment_taker *taker, const struct facts *facts, uint64_t time_ns,
		struct moment *ret_moment)
{
	struct moment *moment = ret_moment;
	uint32_t flags = flags_of(taker, facts);
	int err;

	moment_reset(moment);
	moment->flags = flags;
	take_times(facts, time_ns, moment);
	err = take_changes(facts, moment);
	if (!err && flags & MOMENT_HAS_TOTALS)
		err = take_totals(facts, moment);
	if (!err && flags & MOMENT_HAS_GUESTS) {
		moment->guests = guests_copy(facts->guests);
		err = moment->guests ? 0 : -ENOMEM;
	}
	if (!err)
		err = take_fields(facts, taker->has_lost ? 0 : taker->nr_fields, moment);
	if (err)
		return err;
	taker->tick = stats_tick(facts->stats);
	taker->resets = stats_resets(facts->stats);
	taker->generation = guests_generation(facts->guests);
	taker->nr_fields = fields_count(facts->fields);
	taker->since_totals = flags & MOMENT_HAS_TOTALS ? 0 : taker->since_totals + 1;
	taker->has_lost = false;
	return 0;
}

void moment_skip(struct moment_taker *taker, const struct facts *facts)
{
	if (!taker->tick || stats_tick(facts->stats) != taker->tick + 1)
		taker->tick = 0; /* the first moment is missing: the next is the first */
	else
		taker->tick = stats_tick(facts->stats);
	taker->has_lost = true;
}
