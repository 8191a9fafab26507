// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows that need not be stored, because other rows of the same vCPU add up to them: a vCPU's exits
 * are the sum of its reasons, and its time is the sum of its parts. Which fields do is a rule about
 * fields, see field_adds_up(). A row that does not add up to the digit is stored.
 */
#include <stdlib.h>
#include <string.h>

#include "history/pack.h"
#include "lib/array.h"

/* What is left of a row when its parts are subtracted. */
struct left {
	size_t row;
	bool has_parts, is_off;
	uint64_t count, time_ns, open_ns, open_before_ns;
	uint64_t hist[HIST_BUCKETS];
};

void sums_release(struct sums *sums)
{
	free(sums->lefts);
	free(sums->rows);
	*sums = (struct sums){ 0 };
}

static bool is_of(const struct change *change, const struct change *other)
{
	return change->key.guest == other->key.guest && change->key.vcpu == other->key.vcpu;
}

/* ---- writing */

static struct left *begin_left(struct sums *sums, const struct changes *changes, size_t row)
{
	const struct change *change = &changes->list[row];
	const struct change_timing *timing = changes_timing(changes, change);
	struct left *left;

	left = array_add(sums->lefts, sums->nr, sums->room);
	*left = (struct left){ .row = row, .count = change->count };
	if (!timing)
		return left;
	left->time_ns = timing->time_ns;
	left->open_ns = timing->open_ns;
	left->open_before_ns = timing->open_before_ns;
	changes_add_counts(changes, timing, left->hist);
	return left;
}

/* The row that this one is a part of; NULL: there is none, or it is a part itself. */
static struct left *find_left(struct sums *sums, const struct changes *changes, size_t part)
{
	const struct change *list = changes->list;
	uint32_t field = list[part].sum - 1;
	size_t row = part;

	for (size_t i = sums->nr; i; i--) {
		if (list[sums->lefts[i - 1].row].key.field == field)
			return &sums->lefts[i - 1];
	}
	while (row && is_of(&list[row - 1], &list[part]) && list[row].key.field > field)
		row--;
	return row < part && list[row].key.field == field && !list[row].sum ?
		       begin_left(sums, changes, row) : NULL;
}

static void subtract(struct left *left, const struct changes *changes, const struct change *part)
{
	const struct change_timing *timing = changes_timing(changes, part);

	left->has_parts = true;
	left->count -= part->count;
	left->is_off |= changes->list[left->row].timing && !timing;
	if (!timing || !changes->list[left->row].timing)
		return;
	left->time_ns -= timing->time_ns;
	left->open_ns -= timing->open_ns;
	left->open_before_ns -= timing->open_before_ns;
	for (unsigned int i = 0; i < timing->nr; i++)
		left->hist[timing->first + i] -= changes_counts(changes, timing)[i];
}

static bool is_nothing(const struct left *left)
{
	static const uint64_t none[HIST_BUCKETS];

	return left->has_parts && !left->is_off && !left->count && !left->time_ns &&
	       !left->open_ns && !left->open_before_ns &&
	       memcmp(left->hist, none, sizeof(none)) == 0;
}

static void end_vcpu(struct sums *sums, struct changes *changes)
{
	for (size_t i = 0; i < sums->nr; i++) {
		if (is_nothing(&sums->lefts[i]))
			changes->list[sums->lefts[i].row].flags |= CHANGE_IS_SUM;
	}
	sums->nr = 0;
}

void sums_mark(struct sums *sums, struct changes *changes)
{
	sums->nr = 0;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		struct left *left;

		if (i && !is_of(change, change - 1))
			end_vcpu(sums, changes);
		left = change->sum ? find_left(sums, changes, i) : NULL;
		if (left)
			subtract(left, changes, change);
	}
	end_vcpu(sums, changes);
}

/* ---- reading */

void sums_link(struct sums *sums, const struct sum_fields *fields, struct changes *changes)
{
	array_grow(&sums->rows, &sums->room_rows, fields->nr);
	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->list[i], *sum;
		uint32_t field = change->key.field, of;

		change->sum = 0;
		if (field >= fields->nr)
			continue;
		sums->rows[field] = (uint32_t)i;
		of = fields->sum_of[field];
		if (!of || of > field || change->flags & CHANGE_IS_SUM)
			continue;
		sum = &changes->list[sums->rows[of - 1] < i ? sums->rows[of - 1] : 0];
		if (sum->flags & CHANGE_IS_SUM && sum->key.field == of - 1 && is_of(sum, change))
			change->sum = (uint32_t)(sum - changes->list) + 1;
	}
}

void sums_add_counts(struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];

		if (change->sum)
			changes->list[change->sum - 1].count += change->count;
	}
}

/* The durations that a row adds to; NULL: none. */
static struct change_timing *sum_timing(const struct changes *changes, const struct change *change)
{
	const struct change *sum = change->sum ? &changes->list[change->sum - 1] : NULL;

	return sum && changes_timing(changes, sum) ? &changes->timings[sum->timing - 1] : NULL;
}

void sums_add_times(struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = changes_timing(changes, &changes->list[i]);
		struct change_timing *sum = timing ? sum_timing(changes, &changes->list[i]) : NULL;

		if (!sum)
			continue;
		sum->time_ns += timing->time_ns;
		sum->open_ns += timing->open_ns;
		sum->open_before_ns += timing->open_before_ns;
	}
}

void sums_add_hists(struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = changes_timing(changes, &changes->list[i]);
		struct change_timing *sum = timing ? sum_timing(changes, &changes->list[i]) : NULL;
		uint64_t *counts = sum ? &changes->counts[sum->counts + timing->first] : NULL;

		for (unsigned int k = 0; sum && k < timing->nr; k++)
			counts[k] += changes->counts[timing->counts + k];
	}
}
