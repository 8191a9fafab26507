/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bars - pictures in one line of characters: rates, durations, shares.
 */
#ifndef KVMTOP_UI_SCREEN_BARS_H
#define KVMTOP_UI_SCREEN_BARS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/screen/grid.h"

/* Where and how to draw. */
struct area {
	struct grid *grid;
	int row, col, width;
	enum style style;
	bool is_utf8;
};

/* STATS_HISTORY rates, the newest at the right; blank where there is none (< 0). */
void spark_paint(const struct area *area, const float *rates);

/* Counts of durations, HIST_BUCKETS columns wide whatever the area's width. */
void hist_paint(const struct area *area, const uint64_t *hist);

/* The shares of enum split_part, side by side. */
void split_paint(const struct area *area, const double *split);

#endif
