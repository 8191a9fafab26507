// SPDX-License-Identifier: GPL-2.0-or-later
/* The difference of two totals is what happened between them. */
#include <stdlib.h>
#include <string.h>

#include "core/facts/stats.h"
#include "history/play.h"

void tally_release(struct tally *tally)
{
	hash_free(tally->sums, free);
}

static bool is_known(const struct tally *tally, uint32_t guest)
{
	return guest == GUEST_NONE || guest == STATS_ENDED || guests_find(tally->guests, guest);
}

/* The sum of a key of the segment. NULL: its field is not known. */
static struct tally_sum *find_sum(struct tally *tally, const struct key *there)
{
	struct key key = { 0 };
	uint32_t source;

	if (!reader_key(tally->reader, there, &source, &key))
		return NULL;
	tally->uses |= 1U << fields_get(tally->fields, key.field)->use;
	if (!is_known(tally, key.guest))
		key = (struct key){ STATS_ENDED, -1, key.field };
	return hash_get(tally->sums, key, &key);
}

static bool is_counter(const struct tally *tally, const struct tally_sum *sum)
{
	return fields_get(tally->fields, sum->key.field)->kind == FIELD_COUNTER;
}

/*
 * Adds durations. max_ns: the longest, where it is longer than all before; else 0, and the upper
 * edge of the last bucket that counts, before `end`, stands for it, as in stats.
 */
static void add_time(struct tally_sum *sum, const struct change_timing *timing, uint64_t max_ns,
		     unsigned int end)
{
	uint64_t ended_ns = timing->time_ns;
	uint64_t longest_ns = max_ns ? max_ns : hist_longest_ns(end, ended_ns);

	sum->is_timed = true;
	sum->time_ns += change_timing_spent_ns(timing);
	sum->ended_ns += ended_ns;
	if (longest_ns > sum->longest_ns)
		sum->longest_ns = longest_ns;
}

/* A change of one moment. */
static void add_change(struct tally *tally, const struct changes *changes,
		       const struct change *change, bool is_last)
{
	const struct change_timing *timing = changes_timing(changes, change);
	struct tally_sum *sum;

	/* A total of forgotten guests has nothing new: their changes came when they happened. */
	if (change->flags & (CHANGE_ABSENT | CHANGE_GONE | CHANGE_IS_TOTAL))
		return;
	sum = find_sum(tally, &change->key);
	if (!sum)
		return;
	if (is_counter(tally, sum))
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

void tally_add(struct tally *tally, const struct changes *changes, bool is_last)
{
	for (size_t i = 0; i < changes->nr; i++)
		add_change(tally, changes, &changes->list[i], is_last);
}

/* ---- totals */

/*
 * The row of a key from *i on, which stays there; NULL: there is none, or it was forgotten. Both
 * lists are sorted.
 */
static struct change *find_total(const struct changes *totals, const struct key *key, size_t *i)
{
	while (*i < totals->nr && (key_compare(&totals->list[*i].key, key) < 0 ||
				   totals->list[*i].flags & CHANGE_GONE))
		++*i;
	return *i < totals->nr && key_compare(&totals->list[*i].key, key) == 0 ?
		       &totals->list[*i] : NULL;
}

/* The durations between two totals; the first may be NULL. */
static void add_timing_between(struct tally_sum *sum, const struct changes *lows,
			       const struct change_timing *low, const struct changes *highs,
			       const struct change_timing *high)
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
		changes_add_counts(lows, low, before);
	changes_add_counts(highs, high, after);
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		sum->hist[i] += after[i] - before[i];
		end = after[i] != before[i] ? i + 1 : end;
	}
	add_time(sum, &between, is_longest ? high->max_ns : 0, end);
}

/* What happened to a key between two totals; the first may be NULL. Damaged ones may be untimed. */
static void add_difference(struct tally *tally, const struct changes *lows,
			   const struct change *low, const struct changes *highs,
			   const struct change *high)
{
	const struct change_timing *before = low ? changes_timing(lows, low) : NULL;
	const struct change_timing *after = changes_timing(highs, high);
	struct tally_sum *sum;

	/* What ends within 0 ns changes its bucket alone. */
	if (low && low->count == high->count &&
	    (!after || (before && before->time_ns == after->time_ns &&
			before->open_ns == after->open_ns &&
			before->open_before_ns == after->open_before_ns &&
			before->first == after->first && before->nr == after->nr &&
			(!after->nr || memcmp(changes_counts(lows, before),
					      changes_counts(highs, after),
					      after->nr * sizeof(uint64_t)) == 0))))
		return;
	sum = find_sum(tally, &high->key);
	if (!sum)
		return;
	if (is_counter(tally, sum))
		sum->count += high->count - (low ? low->count : 0);
	if (after)
		add_timing_between(sum, lows, before, highs, after);
}

void tally_add_forgotten(struct tally *tally, struct changes *low, const struct changes *totals)
{
	size_t at = 0;

	for (size_t i = 0; i < totals->nr; i++) {
		const struct change *total = &totals->list[i];
		struct change *before;

		if (!(total->flags & CHANGE_GONE))
			continue;
		before = find_total(low, &total->key, &at);
		add_difference(tally, low, before, totals, total);
		if (before)
			before->flags |= CHANGE_GONE;
	}
}

void tally_add_between(struct tally *tally, const struct changes *low, const struct changes *high)
{
	size_t at = 0;

	for (size_t i = 0; i < high->nr; i++) {
		const struct change *total = &high->list[i];

		if (!(total->flags & CHANGE_GONE) && total->key.guest != STATS_ENDED)
			add_difference(tally, low, find_total(low, &total->key, &at), high, total);
	}
}

void tally_add_present(struct tally *tally, const struct changes *totals, bool is_last)
{
	for (size_t i = 0; i < totals->nr; i++) {
		const struct change *total = &totals->list[i];
		const struct change_timing *timing = changes_timing(totals, total);
		struct tally_sum *sum;

		if (total->flags & (CHANGE_ABSENT | CHANGE_GONE) ||
		    total->key.guest == STATS_ENDED)
			continue;
		sum = find_sum(tally, &total->key);
		if (!sum)
			continue;
		if (!is_counter(tally, sum) && !sum->has_level)
			sum->count = total->count;
		sum->has_level = true;
		sum->is_timed |= timing != NULL;
		if (is_last && timing)
			sum->open_ns = timing->open_ns;
	}
}

/* ---- playing */

void tally_play(const struct tally *tally, uint32_t source, const struct want *want,
		struct sample *sample)
{
	sample->is_given = true;
	for (const struct tally_sum *sum = tally->sums; sum; sum = sum->hh.next) {
		struct row_given given = {
			.delta = sum->count,
			.has_rate = true,
			.is_timed = sum->is_timed,
			.timing = {
				.total_ns = sum->time_ns,
				.delta_ns = sum->time_ns,
				.total_ended_ns = sum->ended_ns,
				.delta_ended_ns = sum->ended_ns,
				.open_ns = sum->open_ns,
				.max_ns = sum->longest_ns,
				.interval_max_ns = sum->longest_ns,
				.counts = sum->hist,
				.nr = HIST_BUCKETS,
			},
		};

		if (fields_get(tally->fields, sum->key.field)->source == source &&
		    field_set_has(&want->fields, sum->key.field))
			sample_add_given(sample, sum->key, sum->count, &given);
	}
}
