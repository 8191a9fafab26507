// SPDX-License-Identifier: GPL-2.0-or-later
/* A growing array of rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "core/facts/sample.h"

void sample_reset(struct sample *sample)
{
	sample->nr_rows = 0;
	sample->nr_timings = 0;
	sample->nr_pasts = 0;
	sample->is_reset = false;
	long_exits_reset(&sample->long_exits);
	sample->lost = 0;
	memset(sample->elapsed_ns, 0, sizeof(sample->elapsed_ns));
	memset(sample->time_ns, 0, sizeof(sample->time_ns));
}

void sample_make_room(struct sample *sample)
{
	array_grow_unset(&sample->rows, &sample->room_rows, sample->nr_rows + 1);
}

void sample_add_timed(struct sample *sample, struct key key, uint64_t count, uint32_t flags,
		      const struct timing *timing)
{
	array_grow_unset(&sample->timings, &sample->room_timings, sample->nr_timings + 1);
	sample_add(sample, key, count, flags);
	sample->timings[sample->nr_timings++] = *timing;
	sample->rows[sample->nr_rows - 1].timing = (uint32_t)sample->nr_timings;
}

void sample_add_past(struct sample *sample, const struct row_past *past)
{
	array_grow(&sample->pasts, &sample->room_pasts, sample->nr_pasts + 1);
	sample->pasts[sample->nr_pasts++] = *past;
	sample->rows[sample->nr_rows - 1].past = (uint32_t)sample->nr_pasts;
}

void spread_join(struct spread *spread, const struct spread *more)
{
	double one = (double)spread->count, other = (double)more->count;
	double apart = more->mean_ns - spread->mean_ns, all = one + other;

	if (!more->count)
		return;
	if (!spread->count || more->min_ns < spread->min_ns)
		spread->min_ns = more->min_ns;
	spread->squares += more->squares + apart * apart * one * other / all;
	spread->mean_ns += apart * other / all;
	spread->count += more->count;
}

void sample_release(struct sample *sample)
{
	free(sample->rows);
	free(sample->timings);
	long_exits_release(&sample->long_exits);
	free(sample->pasts);
	*sample = (struct sample){ 0 };
}
