/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buckets - fine histograms: each power of two in 16 equal parts, and every number below 16 on its
 * own. So the middle of a bucket is at most 3.2 % away from any number in it.
 *
 * Only the buckets between the first and the last that are used take memory.
 */
#ifndef KVMTOP_CORE_FACTS_BUCKETS_H
#define KVMTOP_CORE_FACTS_BUCKETS_H

#include <stdint.h>

#define BUCKETS_PARTS 16

/* Zero-initialised is empty. */
struct buckets {
	uint32_t *counts;
	uint16_t first, nr; /* counts[0] is of the bucket `first` */
};

static inline unsigned int buckets_number(uint64_t value)
{
	unsigned int top;

	if (value < BUCKETS_PARTS)
		return (unsigned int)value;
	top = 63 - (unsigned int)__builtin_clzll(value);
	return (top - 3) * BUCKETS_PARTS + (unsigned int)(value >> (top - 4)) - BUCKETS_PARTS;
}

/* The least number of a bucket. */
static inline uint64_t buckets_begin(unsigned int number)
{
	unsigned int power = number / BUCKETS_PARTS;

	if (power == 0)
		return number;
	return (uint64_t)(number % BUCKETS_PARTS + BUCKETS_PARTS) << (power - 1);
}

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

/* What a share of all (0.5, 0.99) did not exceed: the middle of its bucket. 0 of none. */
uint64_t buckets_percentile(const struct buckets *buckets, double share);

void buckets_release(struct buckets *buckets);

#endif
