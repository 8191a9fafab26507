// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms of durations, what they grew by, and their sums. */
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "core/facts/durations.h"

/* ---- fine histograms, which grow by whole powers of two */

/* Where the parts of a power of two begin, in 64ths: 2^(i/8), rounded. */
static const uint8_t edges[BUCKETS_PARTS] = { 64, 70, 76, 83, 91, 99, 108, 117 };

const uint8_t buckets_parts[64] = {
	0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4,
	4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7,
	7, 7, 7, 7,
};

uint64_t buckets_begin(unsigned int number)
{
	unsigned int top = number / BUCKETS_PARTS;
	uint64_t edge = edges[number % BUCKETS_PARTS];

	if (number == 0)
		return 0;
	return top < 6 ? (edge + (64U >> top) - 1) >> (6 - top) : edge << (top - 6);
}

void buckets_reserve(struct buckets *buckets, unsigned int number)
{
	unsigned int first = number - number % BUCKETS_PARTS, end = first + BUCKETS_PARTS;
	uint32_t *counts;

	if (buckets->nr) {
		first = first < buckets->first ? first : buckets->first;
		if (end < buckets->first + (unsigned int)buckets->nr)
			end = buckets->first + (unsigned int)buckets->nr;
	}
	counts = xcalloc(end - first, sizeof(*counts));
	if (buckets->nr)
		memcpy(counts + (buckets->first - first), buckets->counts,
		       buckets->nr * sizeof(*counts));
	free(buckets->counts);
	buckets->counts = counts;
	buckets->first = (uint16_t)first;
	buckets->nr = (uint16_t)(end - first);
}

void buckets_join(struct buckets *buckets, const struct buckets *more)
{
	if (!more->nr)
		return;
	if (!buckets->nr || more->first < buckets->first)
		buckets_reserve(buckets, more->first);
	if (more->first + more->nr > buckets->first + buckets->nr)
		buckets_reserve(buckets, more->first + more->nr - 1u);
	for (unsigned int i = 0; i < more->nr; i++)
		buckets->counts[more->first - buckets->first + i] += more->counts[i];
}

uint64_t buckets_percentile(const struct buckets *buckets, double share)
{
	unsigned int i = 0, last = 0;
	uint64_t all = 0, begin;
	double rank;

	for (unsigned int k = 0; k < buckets->nr; k++) {
		all += buckets->counts[k];
		last = buckets->counts[k] ? k : last;
	}
	if (!all)
		return 0;
	rank = share * (double)all;
	while (i < last && (!buckets->counts[i] || rank > (double)buckets->counts[i]))
		rank -= (double)buckets->counts[i++];
	begin = buckets_begin(buckets->first + i);
	return begin + (buckets_begin(buckets->first + i + 1) - 1 - begin) / 2;
}

void buckets_release(struct buckets *buckets)
{
	free(buckets->counts);
	*buckets = (struct buckets){ .nr = 0 };
}

/* The sum of (x - base_ns), which fits, as each of them did. */
static double rest_of(const struct spread *spread)
{
	return (double)(int64_t)(spread->total_ns - spread->count * spread->base_ns);
}

void spread_join(struct spread *spread, const struct spread *more)
{
	double apart, rest;

	if (!more->count)
		return;
	if (!spread->count) {
		spread->base_ns = more->base_ns;
		spread->min_ns = more->min_ns;
	}
	if (more->min_ns < spread->min_ns)
		spread->min_ns = more->min_ns;
	if (more->max_ns > spread->max_ns)
		spread->max_ns = more->max_ns;
	/* (x - base)^2 with x - base = (x - the other base) + apart */
	apart = (double)(int64_t)(more->base_ns - spread->base_ns);
	rest = rest_of(more);
	spread->squares += more->squares + apart * (2 * rest + (double)more->count * apart);
	spread->count += more->count;
	spread->total_ns += more->total_ns;
}

double spread_squares(const struct spread *spread)
{
	double rest = rest_of(spread), squares;

	if (spread->count < 2)
		return 0;
	squares = spread->squares - rest * rest / (double)spread->count;
	return squares > 0 ? squares : 0;
}

void timing_of_spread(const struct spread *spread, struct timing *ret_timing)
{
	const struct buckets *buckets = &spread->buckets;

	*ret_timing = (struct timing){ .time_ns = spread->total_ns, .max_ns = spread->max_ns,
				       .spread = spread->count ? spread : NULL };
	for (unsigned int i = 0; i < buckets->nr; i++) {
		unsigned int power = (buckets->first + i) / BUCKETS_PARTS;
		unsigned int bucket = power < 7 ? 0 : power - 6;

		ret_timing->hist[bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1] +=
			buckets->counts[i];
	}
}

/* ---- from one sample to the next */

void timing_begin(struct stats_timing *timing, const struct timing *raw, bool from_zero)
{
	if (from_zero)
		return;
	timing->raw = *raw;
	timing->max_before = raw->max_ns;
}

void timing_restart(struct stats_timing *timing)
{
	timing->raw = (struct timing){ 0 };
	timing->max_before = 0;
}

/*
 * The longest duration since the reset is known when it is longer than the longest before the
 * reset; else only its bucket is known.
 */
static uint64_t longest_since(const struct stats_timing *timing)
{
	unsigned int end = HIST_BUCKETS;

	if (timing->raw.max_ns > timing->max_before)
		return timing->raw.max_ns;
	while (end && !timing->total[end - 1])
		end--;
	return hist_longest_ns(end, timing->raw.max_ns);
}

/* See stats_timing.interval_max_ns. Call it before raw is taken over, after delta[] is. */
static uint64_t longest_between(const struct stats_timing *timing, uint64_t max_ns)
{
	bool is_any = timing->delta_first != timing->delta_end;

	if (max_ns > timing->raw.max_ns)
		return max_ns;
	return hist_longest_ns(is_any ? timing->delta_end : 0, max_ns);
}

static void forget_delta(struct stats_timing *timing)
{
	for (unsigned int i = timing->delta_first; i < timing->delta_end; i++)
		timing->delta[i] = 0;
	timing->delta_first = timing->delta_end = 0;
}

/* Buckets are taken modulo 2^32. Only a few of them count in an interval. */
static void hist_advance(struct stats_timing *timing, const uint32_t *raw)
{
	unsigned int first = 0, end = HIST_BUCKETS;

	forget_delta(timing);
	while (first < end && raw[first] == timing->raw.hist[first])
		first++;
	while (end > first && raw[end - 1] == timing->raw.hist[end - 1])
		end--;
	for (unsigned int i = first; i < end; i++) {
		uint32_t delta = raw[i] - timing->raw.hist[i];

		timing->delta[i] = delta;
		timing->total[i] += delta;
	}
	timing->delta_first = (uint8_t)first;
	timing->delta_end = (uint8_t)end;
}

/* How much a time grew; modulo 2^64, as a difference of two times may begin below 0. */
static uint64_t growth(uint64_t before, uint64_t now)
{
	return (int64_t)(now - before) > 0 ? now - before : 0;
}

void timing_advance(struct stats_timing *timing, const struct timing *raw)
{
	uint64_t longest;

	timing->delta_ns = growth(timing->raw.time_ns, raw->time_ns);
	timing->delta_ended_ns = growth(timing_ended_ns(&timing->raw), timing_ended_ns(raw));
	timing->total_ns += timing->delta_ns;
	timing->total_ended_ns += timing->delta_ended_ns;
	timing->open_before_ns = timing->open_ns;
	timing->open_ns = raw->open_ns;
	hist_advance(timing, raw->hist);
	timing->interval_max_ns = longest_between(timing, raw->max_ns);
	timing->raw = *raw;
	longest = longest_since(timing);
	if (longest > timing->max_ns)
		timing->max_ns = longest;
}

void timing_give(struct stats_timing *timing, const struct timing_given *given)
{
	for (unsigned int i = timing->delta_first; i < timing->delta_end; i++)
		timing->total[i] = 0;
	forget_delta(timing);
	timing->total_ns = given->total_ns;
	timing->delta_ns = given->delta_ns;
	timing->total_ended_ns = given->total_ended_ns;
	timing->delta_ended_ns = given->delta_ended_ns;
	timing->open_ns = given->open_ns;
	timing->max_ns = given->max_ns;
	timing->interval_max_ns = given->interval_max_ns;
	for (unsigned int i = 0; i < given->nr; i++) {
		uint64_t count = given->counts[i];

		timing->total[given->first + i] = count;
		timing->delta[given->first + i] =
			count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
	}
	timing->delta_first = given->first;
	timing->delta_end = (uint8_t)(given->first + given->nr);
}

void timing_rest(struct stats_timing *timing)
{
	timing->delta_ns = timing->delta_ended_ns = 0;
	timing->open_ns = timing->open_before_ns = 0;
	timing->interval_max_ns = 0;
	forget_delta(timing);
}

void timing_reset(struct stats_timing *timing)
{
	timing->total_ns = timing->total_ended_ns = 0;
	timing->max_ns = 0;
	timing->max_before = timing->raw.max_ns;
	memset(timing->total, 0, sizeof(timing->total));
}

void timing_retire(struct stats_timing *ended, const struct stats_timing *timing)
{
	ended->total_ns += timing->total_ns;
	ended->total_ended_ns += timing->total_ended_ns;
	if (timing->max_ns > ended->max_ns)
		ended->max_ns = timing->max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		ended->total[i] += timing->total[i];
}

/* ---- sums */

static void add_buckets(uint64_t *restrict sum, const uint64_t *restrict part)
{
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum[i] += part[i];
}

void timing_sum_add(struct timing_sum *sum, const struct stats_timing *timing, bool is_since_start)
{
	sum->nr++;
	sum->total_ns += timing->total_ns;
	sum->delta_ns += timing->delta_ns;
	sum->total_ended_ns += timing->total_ended_ns;
	sum->delta_ended_ns += timing->delta_ended_ns;
	if (timing->max_ns > sum->max_ns)
		sum->max_ns = timing->max_ns;
	if (timing->interval_max_ns > sum->interval_max_ns)
		sum->interval_max_ns = timing->interval_max_ns;
	if (timing->raw.spread)
		spread_join(&sum->spread, timing->raw.spread);
	if (is_since_start) {
		add_buckets(sum->hist, timing->total);
		return;
	}
	for (unsigned int i = timing->delta_first; i < timing->delta_end; i++)
		sum->hist[i] += timing->delta[i];
}

void timing_sum_join(struct timing_sum *sum, const struct timing_sum *part)
{
	sum->nr += part->nr;
	sum->total_ns += part->total_ns;
	sum->delta_ns += part->delta_ns;
	sum->total_ended_ns += part->total_ended_ns;
	sum->delta_ended_ns += part->delta_ended_ns;
	if (part->max_ns > sum->max_ns)
		sum->max_ns = part->max_ns;
	if (part->interval_max_ns > sum->interval_max_ns)
		sum->interval_max_ns = part->interval_max_ns;
	add_buckets(sum->hist, part->hist);
	spread_join(&sum->spread, &part->spread);
}

uint64_t hist_count(const uint64_t *hist)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		count += hist[i];
	return count;
}

uint64_t hist_percentile_ns(const uint64_t *hist, double share, struct hist_known known)
{
	uint64_t nr = hist_count(hist), lower, upper;
	double rank = share * (double)nr;
	unsigned int i = 0;

	if (!(rank > 0))
		return 0;
	if (nr == 1 && known.time_ns)
		known.min_ns = known.max_ns = known.time_ns;
	while (i + 1 < HIST_BUCKETS && rank > (double)hist[i])
		rank -= (double)hist[i++];
	lower = i ? hist_edge_ns(i - 1) : 0;
	upper = hist_edge_ns(i);
	if (lower < known.min_ns)
		lower = known.min_ns;
	if (upper > known.max_ns)
		upper = known.max_ns;
	if (upper <= lower || !hist[i])
		return upper;
	return lower + (uint64_t)((double)(upper - lower) * rank / (double)hist[i] + 0.5);
}
