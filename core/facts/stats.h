/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats - totals, deltas and rates, made from successive samples.
 *
 * Pure computation: no I/O, no clock. Keys are matched by value, never by position, so rows may
 * come, go and change their order. A total counts from the first sample of its key, or from 0 if
 * the provider says that the counter began at 0 (ROW_FROM_ZERO). Totals never go back: when the
 * inventory forgets a guest that ended, its totals move to the guest STATS_ENDED. A rate needs two
 * samples of one key and the time between them. A moment that is played has what stats made of it
 * when it was live, and is taken as it is (struct row_given).
 */
#ifndef KVMTOP_CORE_FACTS_STATS_H
#define KVMTOP_CORE_FACTS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts/durations.h"
#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/guests/guests.h"

/*
 * A child that is counted later than its parent, as when a tree is opened: kvm_exit has counted
 * 1600 when kvm_exit(HLT) comes with its first 400. These are of an unknown part of the interval,
 * so they are left out: the child's total begins at 0, and its parent_before is 1600. When kvm_exit
 * has 1700 and HLT 50, HLT is 50 of 1700 - 1600: 50 %. What all children together lack of these 100
 * is a row of its own, but only if all began with the same parent_before.
 */

#define STATS_ENDED UINT32_MAX /* as a guest: all guests that ended longer ago */

struct stats_item {
	struct key key;
	bool has_rate;
	uint64_t total;	   /* counter: since the start or the reset; else the level now */
	uint64_t delta;	   /* counter: since the previous sample */
	double rate_per_s; /* valid if has_rate */
	uint64_t parent_before; /* see above */
	struct stats_timing *timing; /* NULL: not timed */
	uint64_t born, seen; /* ticks of the first and the latest sample with the key */

	/* stats' own; of a level, raw is the one before */
	uint64_t raw, base;
	/*
	 * For stats_rates(): the newest at stats.tick % STATS_HISTORY; < 0: none. NULL: only the
	 * latest rate is kept, as for most keys of a recording.
	 */
	float *history;
};

struct stats {
	/* Set by the owner: */
	bool keeps_no_rates; /* only the latest: no view is made of these stats */
	/*
	 * When a guest ends, its counters stay as they are, with rates of 0, as long as this
	 * inventory finds it (guests_find()); the host's numbers of its threads then have no rate.
	 * NULL: no guest is found.
	 */
	const struct guests *guests;

	/* Results: */
	struct stats_item *list; /* nr of them in any order, until the next update */
	size_t nr;
	uint64_t tick;	 /* how many samples were taken in */
	uint64_t resets; /* how often stats_reset() set totals to 0 */
	uint64_t lost;	 /* the sum of lost in all samples, see struct sample; never reset */
	struct long_exits long_exits; /* the latest of all samples; never reset */
	struct stack_sums stacks;     /* since the start, or a reset */
	/* The ticks of each source's latest sample and the one before; 0: there is none. */
	uint64_t latest[SAMPLE_SOURCES], before[SAMPLE_SOURCES];
	uint64_t elapsed_ns[SAMPLE_SOURCES]; /* the time between these two */
	uint64_t counted_ns[USES]; /* of the latest sample, see struct sample */

	/* stats' own: */
	uint64_t time_ns[SAMPLE_SOURCES]; /* of the latest sample of each source */
	size_t room;
	struct key_index index;
	size_t next; /* the index of the next row's key if rows have the order of the last sample */
	struct stats_item *removed;
	size_t nr_removed, room_removed;
	size_t nr_reported; /* of them, removed up to the end of the latest update */
};

struct stats *stats_new(void);
void stats_free(struct stats *stats);

/* Takes in the next sample. */
void stats_update(struct stats *stats, const struct fields *fields, const struct sample *sample);

/* Sets the totals of counters to 0; levels stay. */
void stats_reset(struct stats *stats, const struct fields *fields);

/* Forgets the keys of fields that are not in the set, which are counted no more. */
void stats_keep_only(struct stats *stats, const struct field_set *fields);

/* Forgets everything, as if new. */
void stats_clear(struct stats *stats);

/* NULL: there is no such key. */
struct stats_item *stats_find(const struct stats *stats, const struct key *key);

/*
 * What was removed by the latest stats_update(), and since the update before it, with its last
 * total; NULL past the last one.
 */
const struct stats_item *stats_removed_at(const struct stats *stats, size_t i);

/* The time of the latest sample of a source; 0: the latest sample had no rows of the source. */
static inline uint64_t stats_time_ns(const struct stats *stats, uint32_t source)
{
	return stats->latest[source] == stats->tick ? stats->time_ns[source] : 0;
}

/*
 * How long a reason's exit has been open, if longer than the interval: the guest stands still for
 * the exit's reason, or its VMM does not answer. Else 0, as nearly always, and as of a halt.
 */
static inline uint64_t stats_open_ns(const struct stats *stats, const struct field *field,
				     const struct stats_item *stat)
{
	uint64_t open_ns = stat->timing ? stat->timing->open_ns : 0;
	uint64_t elapsed_ns = stats->elapsed_ns[field->source];

	if (!open_ns || field->is_idle || field->parent == FIELD_NONE || !elapsed_ns)
		return 0;
	return open_ns > elapsed_ns ? open_ns : 0;
}

/* The rates of a key, oldest first, at the tick of the latest sample; < 0: none. */
void stats_rates(const struct stats_item *stat, uint64_t tick, float rates[STATS_HISTORY]);

/* The counts of several keys together. Zero-initialised is none. */
struct sum {
	uint64_t total, delta, parent_before;
	double rate_per_s;
	uint32_t nr, nr_rates; /* keys; the ones with a rate, which is of a whole interval */
	bool is_peak; /* the total is the highest one */
	bool is_now;  /* the latest sample has one of them */
};

/* Inline, because views call sum_add() for every key. tick: stats.tick. */
static inline void sum_join(struct sum *sum, const struct sum *more)
{
	sum->is_peak |= more->is_peak;
	if (!sum->is_peak)
		sum->total += more->total;
	else if (more->total > sum->total)
		sum->total = more->total;
	sum->delta += more->delta;
	sum->parent_before += more->parent_before;
	sum->rate_per_s += more->rate_per_s;
	sum->nr += more->nr;
	sum->nr_rates += more->nr_rates;
	sum->is_now |= more->is_now;
}

/*
 * Times are read one after another, and the clock once before them: on a busy host the time that a
 * thread ran may be of some ms more than the interval. A host of a fleet has one key for all vCPUs.
 */
static inline double stats_capped_rate(const struct stats_item *stat)
{
	return stat->key.vcpu >= 0 && stat->rate_per_s > 1e9 ? 1e9 : stat->rate_per_s;
}

static inline void sum_add(struct sum *sum, const struct stats_item *stat, enum field_kind kind,
			   uint64_t tick)
{
	sum_join(sum, &(struct sum){
		.total = stat->total,
		.delta = stat->delta,
		.parent_before = stat->parent_before,
		.rate_per_s = stat->has_rate ? stats_capped_rate(stat) : 0,
		.nr = 1,
		.nr_rates = stat->has_rate,
		.is_peak = kind == FIELD_PEAK,
		.is_now = stat->seen == tick,
	});
}

/* Adds the rates of a key, as of stats_rates(), to the sum. is_first: the sum has none yet. */
void stats_rates_add(float rates[STATS_HISTORY], bool is_first, const struct stats_item *stat,
		     uint64_t tick);
void stats_rates_join(float rates[STATS_HISTORY], bool is_first, const float more[STATS_HISTORY]);

#endif
