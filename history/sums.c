// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the rows that are sums of others, and adds them up again. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/pack.h"

#define NOT_A_PART UINT32_MAX /* in by_field: the field is there, and is of no sum */

void sums_release(struct sums *sums)
{
	free(sums->ranges);
	free(sums->by_field);
	*sums = (struct sums){ 0 };
}

/* ---- ranges of fields */

static void note_fields(struct sums *sums, const struct changes *changes, size_t nr_fields)
{
	array_grow(&sums->by_field, &sums->room_fields, nr_fields);
	if (nr_fields)
		memset(sums->by_field, 0, nr_fields * sizeof(*sums->by_field));
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];

		if (change->key.field < nr_fields && !sums->by_field[change->key.field])
			sums->by_field[change->key.field] = change->sum ? change->sum : NOT_A_PART;
	}
}

/* A range goes on through fields that are not among the changes. */
static void make_ranges(struct sums *sums, size_t nr_fields)
{
	struct sum_range *range = NULL;

	sums->nr = 0;
	for (uint32_t i = 0; i < nr_fields; i++) {
		uint32_t of = sums->by_field[i];

		if (!of)
			continue;
		if (of == NOT_A_PART) {
			range = NULL;
		} else if (range && range->sum == of - 1) {
			range->nr = i + 1 - range->first;
		} else {
			array_grow(&sums->ranges, &sums->room, sums->nr + 1);
			range = &sums->ranges[sums->nr++];
			*range = (struct sum_range){ .first = i, .nr = 1, .sum = of - 1 };
		}
	}
}

/* ---- rows and their sums */

/* The vCPU's row that is the range's sum, from the rows before `end`: 1 + its index; 0: none. */
static uint32_t look_up(const struct sum_range *range, const struct changes *changes, size_t begin,
			size_t end)
{
	const struct change *list = changes->list;
	size_t i = begin;

	while (i < end && list[i].key.field < range->sum)
		i++;
	return i < end && list[i].key.field == range->sum && list[i].flags & CHANGE_IS_SUM ?
		       (uint32_t)i + 1 : 0;
}

void sums_link(const struct sums *sums, struct changes *changes)
{
	const struct sum_range *range = sums->ranges, *end = sums->nr ? range + sums->nr : range;
	struct key of = { .guest = 0, .vcpu = INT32_MIN };
	bool is_known = false;
	size_t begin = 0;
	uint32_t sum = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->list[i];
		uint32_t field = change->key.field;

		if (change->key.vcpu != of.vcpu || change->key.guest != of.guest) {
			of = change->key;
			begin = i;
			range = sums->ranges;
			is_known = false;
		}
		for (; range < end && field >= range->first && field - range->first >= range->nr;
		     range++)
			is_known = false;
		change->sum = 0;
		if (range == end || field < range->first || change->flags & CHANGE_IS_SUM)
			continue;
		if (!is_known)
			sum = look_up(range, changes, begin, i);
		is_known = true;
		change->sum = sum;
	}
}

/* ---- finding */

/* Marks the rows that may be sums: others add to their fields, and they to none. */
static void mark(const struct sums *sums, struct changes *changes, size_t nr_fields)
{
	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->list[i];
		uint32_t field = change->key.field;
		size_t k = 0;

		if (field < nr_fields && sums->by_field[field] != NOT_A_PART)
			continue;
		while (k < sums->nr && sums->ranges[k].sum != field)
			k++;
		if (k < sums->nr)
			change->flags |= CHANGE_IS_SUM;
	}
}

static size_t end_of_vcpu(const struct changes *changes, size_t begin)
{
	const struct key *of = &changes->list[begin].key;
	size_t end = begin + 1;

	while (end < changes->nr && changes->list[end].key.guest == of->guest &&
	       changes->list[end].key.vcpu == of->vcpu)
		end++;
	return end;
}

static bool is_zero(const uint64_t *hist)
{
	unsigned int i = 0;

	while (i < HIST_BUCKETS && !hist[i])
		i++;
	return i == HIST_BUCKETS;
}

/* Whether the rows up to `end` that are linked to a row add up to it. */
static bool adds_up(const struct changes *changes, size_t i, size_t end)
{
	const struct change *sum = &changes->list[i];
	const struct change_timing *of_sum = changes_timing(changes, sum);
	struct change_timing left = of_sum ? *of_sum : (struct change_timing){ 0 };
	uint64_t count = sum->count;
	uint64_t hist[HIST_BUCKETS] = { 0 };
	bool has_parts = false;

	if (of_sum)
		changes_add_counts(changes, of_sum, hist);
	for (size_t k = i + 1; k < end; k++) {
		const struct change *part = &changes->list[k];
		const struct change_timing *timing = changes_timing(changes, part);

		if (part->sum != i + 1)
			continue;
		if (of_sum && !timing)
			return false;
		has_parts = true;
		count -= part->count;
		if (!of_sum)
			continue;
		left.time_ns -= timing->time_ns;
		left.open_ns -= timing->open_ns;
		left.open_before_ns -= timing->open_before_ns;
		for (unsigned int b = 0; b < timing->nr; b++)
			hist[timing->first + b] -= changes_counts(changes, timing)[b];
	}
	return has_parts && !count && !left.time_ns && !left.open_ns && !left.open_before_ns &&
	       is_zero(hist);
}

/* In place of links: a moment may be packed again. */
static void name_sums(const struct sums *sums, struct changes *changes, size_t nr_fields)
{
	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->list[i];
		uint32_t sum = change->key.field < nr_fields ? sums->by_field[change->key.field] :
							       NOT_A_PART;

		change->sum = sum == NOT_A_PART ? 0 : sum;
	}
}

void sums_find(struct sums *sums, struct changes *changes)
{
	size_t nr_fields = 0, end;

	for (size_t i = 0; i < changes->nr; i++) {
		if (changes->list[i].sum && changes->list[i].key.field >= nr_fields)
			nr_fields = (size_t)changes->list[i].key.field + 1;
	}
	note_fields(sums, changes, nr_fields);
	make_ranges(sums, nr_fields);
	mark(sums, changes, nr_fields);
	sums_link(sums, changes);
	for (size_t begin = 0; begin < changes->nr; begin = end) {
		end = end_of_vcpu(changes, begin);
		for (size_t i = begin; i < end; i++) {
			struct change *change = &changes->list[i];

			if (change->flags & CHANGE_IS_SUM && !adds_up(changes, i, end))
				change->flags &= ~(uint32_t)CHANGE_IS_SUM;
		}
	}
	name_sums(sums, changes, nr_fields);
}

/* ---- adding up */

/* The durations that a row adds to; NULL: none. */
static struct change_timing *sum_timing(const struct changes *changes, const struct change *change)
{
	const struct change *sum = change->sum ? &changes->list[change->sum - 1] : NULL;

	return sum && changes_timing(changes, sum) ? &changes->timings[sum->timing - 1] : NULL;
}

/* The sum has every bucket that one of its rows has. */
static void widen(struct change_timing *sum, const struct change_timing *timing)
{
	unsigned int end = sum->first + sum->nr, other = timing->first + timing->nr;
	unsigned int first = sum->nr && sum->first < timing->first ? sum->first : timing->first;

	if (!timing->nr)
		return;
	sum->nr = (uint8_t)((end > other ? end : other) - first);
	sum->first = (uint8_t)first;
}

/* Gives the sums room for their counts. */
static void make_hists(struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		struct change_timing *timing;

		if (!(change->flags & CHANGE_IS_SUM) || !changes_timing(changes, change))
			continue;
		array_grow(&changes->counts, &changes->room_counts,
			   changes->nr_counts + HIST_BUCKETS);
		timing = &changes->timings[change->timing - 1];
		timing->counts = (uint32_t)changes->nr_counts;
		memset(&changes->counts[changes->nr_counts], 0,
		       timing->nr * sizeof(*changes->counts));
		changes->nr_counts += timing->nr;
	}
}

void sums_add_hists(struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		const struct change_timing *timing = changes_timing(changes, change);
		struct change_timing *sum = timing ? sum_timing(changes, change) : NULL;

		if (sum)
			widen(sum, timing);
	}
	make_hists(changes);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		const struct change_timing *timing = changes_timing(changes, change);
		const struct change_timing *sum = timing ? sum_timing(changes, change) : NULL;

		for (unsigned int k = 0; sum && k < timing->nr; k++)
			changes->counts[sum->counts + timing->first - sum->first + k] +=
				changes->counts[timing->counts + k];
	}
}

void sums_unmark(struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++)
		changes->list[i].flags &= ~(uint32_t)CHANGE_IS_SUM;
}
