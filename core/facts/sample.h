/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample - the values of all providers at one moment: raw, keyed, monotonic.
 *
 * A provider adds rows in any order, no key twice, and needs no earlier sample. Where it cannot
 * tell the value of a key it adds no row: an absent row is not a zero.
 */
#ifndef KVMTOP_CORE_FACTS_SAMPLE_H
#define KVMTOP_CORE_FACTS_SAMPLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts/buckets.h"
#include "core/facts/long_exits.h"

#define SAMPLE_SOURCES 8 /* providers at the most, live and recorded */

enum {
	/* The counter started at 0 after the previous sample: its value is what happened since. */
	ROW_FROM_ZERO = 1 << 0,
	/* And it was counted during the whole interval, so there is a rate, too. */
	ROW_WHOLE_INTERVAL = 1 << 1,
};

struct key {
	uint32_t guest; /* struct guest's id; GUEST_ANY: the source has one value for all guests */
	int32_t vcpu;	/* its index; -1: one value for all vCPUs */
	uint32_t field;
};

/* -1, 0, 1: by guest, vCPU, field */
static inline int key_compare(const struct key *a, const struct key *b)
{
	if (a->guest != b->guest)
		return a->guest < b->guest ? -1 : 1;
	if (a->vcpu != b->vcpu)
		return a->vcpu < b->vcpu ? -1 : 1;
	return (a->field > b->field) - (a->field < b->field);
}

static inline bool key_equal(const struct key *a, const struct key *b)
{
	return a->field == b->field && a->guest == b->guest && a->vcpu == b->vcpu;
}

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

/* The exact mean, minimum and deviation of durations. */
struct spread {
	uint64_t count; /* 0: nothing is known */
	uint64_t min_ns;
	double mean_ns, squares; /* squares: the sum of the squared differences from the mean */
	/* All of them, in a unit of so many ns, for percentiles; NULL: not known. */
	const struct buckets *buckets;
	double ns_per_unit;
};

/* Adds the durations of more to spread, but for the buckets. */
void spread_join(struct spread *spread, const struct spread *more);

/*
 * The durations of what is counted. Time is counted as it passes, so that what takes longer than an
 * interval is in each of them; the other numbers are of what has ended. All members but open_ns
 * only grow; time_ns goes back where something never ends, as the last exit of a thread.
 */
struct timing {
	uint64_t time_ns;
	uint64_t open_ns; /* a part of time_ns: how long what has not ended has lasted so far */
	uint64_t max_ns;  /* the longest duration */
	/* Of a recording. The provider owns it until the provider is closed. NULL: not known. */
	const struct spread *spread;
	uint32_t hist[HIST_BUCKETS]; /* counts by duration, modulo 2^32 */
};

/* The time of what has ended: averages are of this. */
static inline uint64_t timing_ended_ns(const struct timing *timing)
{
	return timing->time_ns - timing->open_ns;
}

#define STATS_HISTORY 32 /* rates remembered per key, for sparklines */

/* For samples that are played: what stats would have of a key from the samples before. */
struct row_past {
	float history[STATS_HISTORY]; /* rates, the newest last, this sample's; < 0: none */
	uint64_t parent_before;	      /* see struct stats_item */
	uint64_t untold_ns; /* of the time: what is not in the total; may be below 0 */
};

struct row {
	struct key key;
	uint32_t flags;
	uint32_t timing; /* 0: none; else sample->timings[timing - 1] */
	uint32_t past;	 /* 0: none; else sample->pasts[past - 1]; only a key's first row has one */
	uint64_t count; /* monotonic for counters, the level for gauges and peaks */
};

struct sample {
	struct row *rows;
	size_t nr_rows, room_rows;
	struct timing *timings;
	size_t nr_timings, room_timings;
	struct long_exits long_exits; /* since the sample before; in no history */
	uint64_t lost; /* exits, arguments and long exits that could not be counted */
	struct row_past *pasts;
	size_t nr_pasts, room_pasts;
	uint64_t time_ns[SAMPLE_SOURCES]; /* CLOCK_MONOTONIC beside the data; 0: no rows */
	/* How long the intervals were, for stats without an earlier sample; 0: not known. */
	uint64_t elapsed_ns[SAMPLE_SOURCES];
	/* Totals were set to 0 before the interval; the longest durations are since then. */
	bool is_reset;
};

/* Empties it and keeps its memory. */
void sample_reset(struct sample *sample);
/* Makes room for one more row, for sample_add(). */
void sample_make_room(struct sample *sample);

/* Inline, because a host with many vCPUs has tens of thousands of rows. */
static inline void sample_add(struct sample *sample, struct key key, uint64_t count,
			      uint32_t flags)
{
	if (sample->nr_rows == sample->room_rows)
		sample_make_room(sample);
	sample->rows[sample->nr_rows++] =
		(struct row){ .key = key, .flags = flags, .count = count };
}

/* The same with durations, which are copied. */
void sample_add_timed(struct sample *sample, struct key key, uint64_t count, uint32_t flags,
		      const struct timing *timing);
/* Gives the latest row a past, which is copied. */
void sample_add_past(struct sample *sample, const struct row_past *past);
void sample_release(struct sample *sample);

#endif
