/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * durations - how long things took: count, sum, extremes, squares, buckets, in the caller's unit.
 */
#ifndef KVMTOP_TRACE_EXITS_DURATIONS_H
#define KVMTOP_TRACE_EXITS_DURATIONS_H

#include <stdint.h>

#include "core/facts/durations.h"

/* Zero-initialised is empty. */
struct durations {
	uint64_t count, total, min, max;
	uint64_t base;	/* the first one */
	double squares; /* the sum of (x - base)^2 */
	struct buckets hist;
};

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
	buckets_add(&durations->hist, value);
}

/* Empties them and keeps the room of the buckets. */
void durations_restart(struct durations *durations);

double durations_mean(const struct durations *durations);    /* 0 of none */
double durations_squares(const struct durations *durations); /* the sum of squared deviations */

#endif
