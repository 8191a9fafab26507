/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * durations - how long things took: count, sum, extremes, squares, buckets, in the caller's unit.
 */
#ifndef KVMTOP_TRACE_RECORDED_DURATIONS_H
#define KVMTOP_TRACE_RECORDED_DURATIONS_H

#include <stdint.h>

/*
 * Buckets: each power of two in eight equal parts, and every number below eight on its own: cycles
 * fall into nearly the right buckets of nanoseconds.
 */
#define DURATIONS_PARTS 8
#define DURATIONS_BUCKETS ((64 - 3 + 1) * DURATIONS_PARTS)

/* Zero-initialised is empty. */
struct durations {
	uint64_t count, total, min, max;
	uint64_t base;	/* the first one */
	double squares; /* the sum of (x - base)^2 */
	uint32_t hist[DURATIONS_BUCKETS];
};

/* The least number of a bucket. */
static inline uint64_t durations_bucket_begin(unsigned int bucket)
{
	unsigned int power = bucket / DURATIONS_PARTS;

	if (power == 0)
		return bucket;
	return (uint64_t)(bucket % DURATIONS_PARTS + DURATIONS_PARTS) << (power - 1);
}

static inline unsigned int durations_bucket(uint64_t value)
{
	unsigned int top;

	if (value < DURATIONS_PARTS)
		return (unsigned int)value;
	top = 63 - (unsigned int)__builtin_clzll(value);
	return (top - 2) * DURATIONS_PARTS + (unsigned int)(value >> (top - 3)) - DURATIONS_PARTS;
}

static inline void durations_add(struct durations *durations, uint64_t value)
{
	double rest;

	if (durations->count++ == 0)
		durations->base = durations->min = value;
	durations->total += value;
	if (value < durations->min)
		durations->min = value;
	if (value > durations->max)
		durations->max = value;
	rest = (double)(int64_t)(value - durations->base);
	durations->squares += rest * rest;
	durations->hist[durations_bucket(value)]++;
}

double durations_mean(const struct durations *durations);    /* 0 of none */
double durations_squares(const struct durations *durations); /* the sum of squared deviations */

#endif
