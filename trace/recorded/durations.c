// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums and buckets of durations. */
#include <errno.h>
#include <math.h>

#include "trace/recorded/durations.h"

int durations_init(struct durations *durations)
{
	*durations = (struct durations){ .count = 0 };
	durations->hist = calloc(DURATIONS_BUCKETS, sizeof(durations->hist[0]));
	return durations->hist ? 0 : -ENOMEM;
}

void durations_release(struct durations *durations)
{
	free(durations->hist);
	durations->hist = NULL;
}

/* The sums of `more`, as if its base were another: sum (x - b)^2 from sum (x - a)^2. */
static void join_sums(struct durations *durations, const struct durations *more)
{
	double shift = (double)(int64_t)(more->base - durations->base);
	double nr = (double)more->count;

	durations->squares += more->squares + 2 * shift * more->sum + nr * shift * shift;
	durations->sum += more->sum + nr * shift;
}

void durations_join(struct durations *durations, const struct durations *more)
{
	if (more->count == 0)
		return;
	if (durations->count == 0) {
		durations->base = more->base;
		durations->min = more->min;
	}
	join_sums(durations, more);
	durations->count += more->count;
	durations->total += more->total;
	durations->min = more->min < durations->min ? more->min : durations->min;
	durations->max = more->max > durations->max ? more->max : durations->max;
	for (unsigned int i = 0; i < DURATIONS_BUCKETS; i++)
		durations->hist[i] += more->hist[i];
}

double durations_mean(const struct durations *durations)
{
	return durations->count ? (double)durations->total / (double)durations->count : 0;
}

double durations_squares(const struct durations *durations)
{
	double nr = (double)durations->count, squares;

	if (durations->count < 2)
		return 0;
	squares = durations->squares - durations->sum * durations->sum / nr;
	return squares > 0 ? squares : 0;
}

double durations_stddev(const struct durations *durations)
{
	if (durations->count < 2)
		return 0;
	return sqrt(durations_squares(durations) / (double)(durations->count - 1));
}

/* The largest number of a bucket. */
static uint64_t bucket_end(unsigned int bucket)
{
	unsigned int shift = bucket / DURATIONS_PARTS;

	if (shift <= 1)
		return bucket;
	return ((uint64_t)(bucket % DURATIONS_PARTS + DURATIONS_PARTS + 1) << (shift - 1)) - 1;
}

uint64_t durations_percentile(const struct durations *durations, double share)
{
	uint64_t wanted = (uint64_t)(share * (double)durations->count), below = 0;

	wanted += (double)wanted < share * (double)durations->count;
	for (unsigned int i = 0; i < DURATIONS_BUCKETS; i++) {
		below += durations->hist[i];
		if (below >= wanted && below > 0)
			return bucket_end(i) < durations->max ? bucket_end(i) : durations->max;
	}
	return durations->max;
}
