/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats - totals, deltas and rates, made from successive samples.
 *
 * Pure computation: no I/O, no clock. Keys are matched by value, never by position, so rows may
 * come, go and change their order. A total counts from the first sample of its key, or from 0 if
 * the provider says that the counter began at 0 (ROW_FROM_ZERO). Totals never go back: when the
 * inventory forgets a guest that ended, its totals move to the guest STATS_ENDED. A rate needs two
 * samples of one key and the time between them.
 */
#ifndef KVMTOP_CORE_FACTS_STATS_H
#define KVMTOP_CORE_FACTS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/guests/guests.h"

#define STATS_ENDED UINT32_MAX /* as a guest: all guests that ended longer ago */
#define DELTA_MORE 7 /* zeros after delta[], so that eight can be read from any bucket on */

/* Durations of what is counted; only keys that are timed have them. */
struct stats_timing {
	uint64_t total_ns, delta_ns; /* since the start or the reset; since the previous sample */
	uint64_t total_ended_ns, delta_ended_ns; /* the same, but of what has ended, as a whole */
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

struct stats_item {
	struct key key;
	bool has_rate;
	uint64_t total;	   /* counter: since the start or the reset; else the level now */
	uint64_t delta;	   /* counter: since the previous sample */
	double rate_per_s; /* valid if has_rate */
	uint64_t parent_before; /* the parent's total when this child began */
	struct stats_timing *timing; /* NULL: not timed */
	uint64_t born, seen; /* ticks of the first and the latest sample with the key */

	/* stats' own; of a level, raw is the one before */
	uint64_t raw, base;
	/*
	 * For stats_rates(): the newest at stats_tick() % STATS_HISTORY; < 0: none. NULL: there is
	 * none but the latest, as of most keys of a recording.
	 */
	float *history;
};

struct stats;

struct stats *stats_new(void);
void stats_free(struct stats *stats);

/* Keeps no rates but the latest: for stats of which no view is made. */
void stats_keep_no_rates(struct stats *stats);

/* Takes in the next sample. */
void stats_update(struct stats *stats, const struct fields *fields, const struct sample *sample);

/*
 * When a guest ends, its counters stay as they are, with rates of 0, as long as this inventory
 * finds it (guests_find()); what the host said of its threads has no rate then. NULL, as at the
 * beginning: no guest is found.
 */
void stats_know_guests(struct stats *stats, const struct guests *guests);

/* Sets the totals of counters to 0; levels stay. */
void stats_reset(struct stats *stats, const struct fields *fields);

/* Forgets the keys of fields that are not in the set, which are counted no more. */
void stats_keep_only(struct stats *stats, const struct field_set *fields);

/* Forgets everything, as if new. */
void stats_clear(struct stats *stats);

size_t stats_count(const struct stats *stats);
/* i < stats_count(); in any order. An array, valid until the next update. */
const struct stats_item *stats_at(const struct stats *stats, size_t i);
uint64_t stats_tick(const struct stats *stats); /* how many samples were taken in */

/* How often totals were set to 0 without a new beginning: by stats_reset(). */
uint64_t stats_resets(const struct stats *stats);

/*
 * The keys that were removed by the latest stats_update(), and since the update before it; NULL
 * past the last one.
 */
const struct key *stats_removed_at(const struct stats *stats, size_t i);

/* The latest long exits of all samples; stats_clear() and stats_reset() keep them. */
const struct long_exits *stats_long_exits(const struct stats *stats);

/* The sum of lost in all samples so far, see struct sample; no reset touches it. */
uint64_t stats_lost(const struct stats *stats);

/* The time of the latest sample of a source; 0: the latest sample had no rows of the source. */
uint64_t stats_time_ns(const struct stats *stats, uint32_t source);

/* The tick of the latest sample that had a source, and of the one before it; 0: there was none. */
uint64_t stats_latest_tick(const struct stats *stats, uint32_t source);
uint64_t stats_tick_before(const struct stats *stats, uint32_t source);

/* The time between the last two samples of a source; 0: there was no second sample. */
uint64_t stats_elapsed_ns(const struct stats *stats, uint32_t source);

/*
 * How long a reason's exit has been open, if longer than the interval: the guest stands still for
 * the exit's reason, or its VMM does not answer. Else 0, as of a halt.
 */
uint64_t stats_open_ns(const struct stats *stats, const struct fields *fields,
		       const struct stats_item *stat);

/* The rates of a key, oldest first, at the tick of the latest sample; < 0: none. */
void stats_rates(const struct stats_item *stat, uint64_t tick, float rates[STATS_HISTORY]);

/* Several keys taken together. Zero-initialised is none. */
struct stat_sum {
	uint32_t nr;
	uint64_t total, delta, parent_before;
	double rate_per_s;
	bool has_rate;
	float history[STATS_HISTORY]; /* oldest first; < 0: none. Valid with nr > 0 */
};

/* Durations of several keys taken together. Zero-initialised is none. */
struct timing_sum {
	uint32_t nr; /* keys that are timed; 0: no duration is known */
	uint64_t total_ns, delta_ns, total_ended_ns, delta_ended_ns, max_ns, interval_max_ns;
	uint64_t hist[HIST_BUCKETS]; /* of the last interval, or since the start or the reset */
	struct spread spread;
};

/* is_since_start: of what hist is. */
void timing_sum_add(struct timing_sum *sum, const struct stats_timing *timing, bool is_since_start);
void timing_sum_merge(struct timing_sum *sum, const struct timing_sum *part);

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

/* tick: stats_tick(). The sum of peaks is the highest. */
void stat_sum_add(struct stat_sum *sum, const struct stats_item *stat, enum field_kind kind,
		  uint64_t tick);

/* Adds a sum to a sum of sums. */
void stat_sum_merge(struct stat_sum *sum, const struct stat_sum *part);

#endif
