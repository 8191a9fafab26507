/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample - what all providers said at one moment: raw, keyed, monotonic values.
 *
 * A provider adds rows in any order, and no key twice; it knows nothing of earlier samples. One
 * that has nothing to say about a key leaves it out: an absent row is not a zero.
 */
#ifndef KVMTOP_FACTS_SAMPLE_H
#define KVMTOP_FACTS_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLE_SOURCES 8 /* providers at the most, live and recorded */

enum {
	/* The counter started at 0 after the previous sample: all of it happened since. */
	ROW_FROM_ZERO = 1 << 0,
	/* And it was being counted all that time, so that there is a rate, too. */
	ROW_WHOLE_INTERVAL = 1 << 1,
};

struct key {
	uint32_t guest; /* struct guest's id; GUEST_ANY: the source does not tell guests apart */
	int32_t vcpu;	/* its index; -1: not told apart */
	uint32_t field;
};

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

/* How durations differ, exactly. */
struct spread {
	uint64_t count; /* 0: nothing is known */
	uint64_t min_ns;
	double mean_ns, squares; /* squares: the sum of the squared differences from the mean */
};

/* As if all durations had been added to the one. */
void spread_join(struct spread *spread, const struct spread *more);

/* What the counted things took. All of it only grows. */
struct timing {
	uint64_t time_ns;
	uint64_t max_ns; /* of one of them */
	/* Of a recording; it is the provider's and stays until that is closed. NULL: not known. */
	const struct spread *spread;
	/* How many took how long, modulo 2^32; those that are not over yet are in time_ns only. */
	uint32_t hist[HIST_BUCKETS];
};

struct row {
	struct key key;
	uint32_t flags;
	uint32_t timing; /* 0: none; else sample->timings[timing - 1] */
	uint64_t count; /* monotonic for counters, the level for gauges and peaks */
};

struct sample {
	struct row *rows;
	size_t nr_rows, cap_rows;
	struct timing *timings;
	size_t nr_timings, cap_timings;
	uint64_t time_ns[SAMPLE_SOURCES]; /* CLOCK_MONOTONIC beside the data; 0: source is not in */
};

/* Empties it and keeps its memory. */
void sample_reset(struct sample *sample);
/* 0 or -ENOMEM. */
int sample_add(struct sample *sample, struct key key, uint64_t count, uint32_t flags);
/* The same with a copy of what they took. */
int sample_add_timed(struct sample *sample, struct key key, uint64_t count, uint32_t flags,
		     const struct timing *timing);
void sample_release(struct sample *sample);

#endif
