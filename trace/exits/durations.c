// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums of durations. */
#include <string.h>

#include "trace/exits/durations.h"

void durations_restart(struct durations *durations)
{
	*durations = (struct durations){ .hist = durations->hist };
	if (durations->hist.nr)
		memset(durations->hist.counts, 0,
		       durations->hist.nr * sizeof(*durations->hist.counts));
}

double durations_mean(const struct durations *durations)
{
	return durations->count ? (double)durations->total / (double)durations->count : 0;
}

double durations_squares(const struct durations *durations)
{
	double nr = (double)durations->count, sum, squares;

	if (durations->count < 2)
		return 0;
	/* The sum of (x - base) fits, as each of them did. */
	sum = (double)(int64_t)(durations->total - durations->count * durations->base);
	squares = durations->squares - sum * sum / nr;
	return squares > 0 ? squares : 0;
}
