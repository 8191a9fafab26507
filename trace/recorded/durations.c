// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums of durations. */
#include <errno.h>

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
