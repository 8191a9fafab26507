/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * durations - how long what is counted took: histograms, sums, the shortest and the longest.
 *
 * A provider gives them as `struct timing`, all monotonic; stats make a `struct stats_timing` of
 * two of these, and `struct timing_sum` is the sum of several keys.
 */
#ifndef KVMTOP_CORE_FACTS_DURATIONS_H
#define KVMTOP_CORE_FACTS_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Fine histograms, for recordings: each power of two in eight parts of about the same ratio. So the
 * middle of a bucket is less than 5 % away from any number in it. Only the buckets between the
 * first and the last that are used take memory.
 */
#define BUCKETS_PARTS 8

/* Zero-initialised is empty. */
struct buckets {
	uint32_t *counts;
	uint16_t first, nr; /* counts[0] is of the bucket `first` */
};

/* The part that a number is in, by the six bits after its highest one. */
extern const uint8_t buckets_parts[64];

/* 0 is in the bucket of 1. */
static inline unsigned int buckets_number(uint64_t value)
{
	unsigned int top = 63 - (unsigned int)__builtin_clzll(value | 1);

	return top * BUCKETS_PARTS + buckets_parts[value << (63 - top) >> 57 & 63];
}

/* The least number of a bucket; 0 after the last bucket. */
uint64_t buckets_begin(unsigned int number);

/* Makes room for this bucket. */
void buckets_reserve(struct buckets *buckets, unsigned int number);

static inline void buckets_add(struct buckets *buckets, uint64_t value)
{
	unsigned int number = buckets_number(value);

	if (number - buckets->first >= buckets->nr)
		buckets_reserve(buckets, number);
	buckets->counts[number - buckets->first]++;
}

/* Adds all of more to buckets. */
void buckets_join(struct buckets *buckets, const struct buckets *more);

/*
 * The number that a share of all (0.5, 0.99) did not exceed: the middle of its bucket. 0: there are
 * none.
 */
uint64_t buckets_percentile(const struct buckets *buckets, double share);

void buckets_release(struct buckets *buckets);

/*
 * Durations in powers of two: bucket 0 is < 128 ns, bucket i 2^(i+6) to 2^(i+7) ns, the last one
 * everything from 2^31 ns on.
 */
#define HIST_BUCKETS 26

/* The upper edge of a bucket; UINT64_MAX for the last. */
static inline uint64_t hist_edge_ns(unsigned int bucket)
{
	return bucket + 1 < HIST_BUCKETS ? UINT64_C(1) << (bucket + 7) : UINT64_MAX;
}

/* The longest duration in the buckets before `end`, as far as they tell; 0: they have none. */
static inline uint64_t hist_longest_ns(unsigned int end, uint64_t most_ns)
{
	if (!end)
		return 0;
	return hist_edge_ns(end - 1) < most_ns ? hist_edge_ns(end - 1) : most_ns;
}

/*
 * All durations of something, as only a recording has them. Zero-initialised is none. Its buckets
 * are to be released.
 */
struct spread {
	uint64_t count, total_ns, min_ns, max_ns;
	uint64_t base_ns; /* the first one */
	double squares;	  /* the sum of (x - base_ns)^2 */
	struct buckets buckets;
};

static inline void spread_add(struct spread *spread, uint64_t ns)
{
	double rest;

	if (spread->count++ == 0)
		spread->base_ns = spread->min_ns = ns;
	spread->total_ns += ns;
	if (ns < spread->min_ns)
		spread->min_ns = ns;
	if (ns > spread->max_ns)
		spread->max_ns = ns;
	rest = (double)(int64_t)(ns - spread->base_ns);
	spread->squares += rest * rest;
	buckets_add(&spread->buckets, ns);
}

/* Adds the durations of more to spread, without the buckets. */
void spread_join(struct spread *spread, const struct spread *more);

/* The sum of the squared differences from the mean. */
double spread_squares(const struct spread *spread);

/*
 * The durations of what is counted. Time is counted as it passes, so that what takes longer than an
 * interval is in each of them; the other numbers are of what has ended. All members but open_ns
 * only grow; time_ns goes back where something never ends, as the last exit of a thread.
 */
struct timing {
	uint64_t time_ns;
	uint64_t open_ns; /* a part of time_ns: how long what has not ended has lasted so far */
	uint64_t max_ns;  /* the longest duration */
	/* All that ended, in a recording. Its owner outlives the stats. NULL: not known. */
	const struct spread *spread;
	uint32_t hist[HIST_BUCKETS]; /* counts by duration, modulo 2^32 */
};

/* The time of what has ended: averages are of this. */
static inline uint64_t timing_ended_ns(const struct timing *timing)
{
	return timing->time_ns - timing->open_ns;
}

/* What has ended of a spread, which must outlive the result. */
void timing_of_spread(const struct spread *spread, struct timing *ret_timing);

#define DELTA_MORE 7 /* zeros after delta[], so that eight can be read from any bucket on */

/* Durations of what is counted; only keys that are timed have them. */
struct stats_timing {
	uint64_t total_ns, delta_ns; /* since the start or the reset; since the previous sample */
	uint64_t total_ended_ns, delta_ended_ns; /* likewise, of what has ended, as a whole */
	/* How long what has not ended has lasted, now and in the sample before; 0: none is open. */
	uint64_t open_ns, open_before_ns;
	uint64_t max_ns;  /* the longest since the start or the reset */
	/*
	 * The longest since the previous sample where it is longer than all before; else the upper
	 * edge of its bucket, at most max_ns.
	 */
	uint64_t interval_max_ns;
	uint8_t delta_first, delta_end; /* all that is not 0 in delta[]: from first to before end */
	uint32_t delta[HIST_BUCKETS + DELTA_MORE];
	uint64_t total[HIST_BUCKETS];

	/* stats' own */
	struct timing raw;
	uint64_t max_before; /* raw.max_ns at the reset: a longer duration came later */
};

/* The durations of a key in a moment that is played. */
struct timing_given {
	uint64_t total_ns, delta_ns, total_ended_ns, delta_ended_ns, open_ns;
	uint64_t max_ns, interval_max_ns;
	/* What was added to the buckets from first on, nr of them; lives until stats took it. */
	const uint64_t *counts;
	uint8_t first, nr;
};

/* Takes durations as they are given. The buckets' totals are the ones of the interval. */
void timing_give(struct stats_timing *timing, const struct timing_given *given);

/* Takes over the first durations. from_zero: they began at 0 after the previous sample. */
void timing_begin(struct stats_timing *timing, const struct timing *raw, bool from_zero);
/* The next durations. Time goes back where something never ends: its total stays. */
void timing_advance(struct stats_timing *timing, const struct timing *raw);
/* What is counted began at 0 again; totals go on. */
void timing_restart(struct stats_timing *timing);
/* Nothing happened since the previous sample. */
void timing_rest(struct stats_timing *timing);
/* Totals begin at 0. */
void timing_reset(struct stats_timing *timing);
/* Adds the totals of what has ended. */
void timing_retire(struct stats_timing *ended, const struct stats_timing *timing);

/* The sum of the durations of several keys. Zero-initialised is none. */
struct timing_sum {
	uint32_t nr; /* keys that are timed; 0: no duration is known */
	uint64_t total_ns, delta_ns, total_ended_ns, delta_ended_ns, max_ns, interval_max_ns;
	uint64_t hist[HIST_BUCKETS]; /* of the last interval, or since the start or the reset */
	struct spread spread; /* without buckets */
};

/* is_since_start: which interval hist is of. */
void timing_sum_add(struct timing_sum *sum, const struct stats_timing *timing, bool is_since_start);
void timing_sum_join(struct timing_sum *sum, const struct timing_sum *part);

/* How many durations are counted: of what has ended. */
uint64_t hist_count(const uint64_t *hist);

/* What is known of durations beside their buckets. */
struct hist_known {
	uint64_t time_ns; /* of all that ended together; 0: not known */
	uint64_t min_ns;  /* none is shorter */
	uint64_t max_ns;  /* none is longer */
};

/*
 * The duration that a share of the counted things (0.5, 0.99) did not exceed. It is interpolated as
 * by Prometheus' histogram_quantile(): durations count as spread evenly over their bucket, or over
 * the part of it between the shortest and the longest. The true duration lies in the same bucket,
 * so it differs by less than a factor of two between 128 ns and 2 s, and by about 6 % at most where
 * durations are spread evenly over powers of two. One alone is exact if its time is known. 0:
 * nothing was counted.
 */
uint64_t hist_percentile_ns(const uint64_t *hist, double share, struct hist_known known);

#endif
