/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bars - pictures of characters: rates, durations, shares.
 */
#ifndef KVMTOP_UI_SCREEN_BARS_H
#define KVMTOP_UI_SCREEN_BARS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/screen/grid.h"
#include "core/views/view.h"

/* Where and how to draw. */
struct area {
	struct grid *grid;
	int row, col, width;
	int height; /* lines, from row on; 0: one */
	enum style style; /* STYLE_PLAIN: the picture's own style */
	bool is_utf8;
};

/* The end of a scale that begins at 0 and has room for a rate: 1, 2 or 5 and zeros. */
double scale_end(double rate);

/* The highest of the newest rates that fit into the columns. nr: how many rates there are. */
double spark_highest(const float *rates, int nr, int width);

/*
 * Rates, oldest first, on a scale from 0 to end, which is as high as the area; the newest is at the
 * right. < 0: blank. End 0: no rate is higher than 0.
 */
void spark_paint(const struct area *area, const float *rates, int nr, double end);

/* Counts of durations, HIST_BUCKETS columns wide whatever the area's width. */
void hist_paint(const struct area *area, const uint64_t *hist);

/* The shares of enum split_part, side by side, each with a sign of its own. */
void split_paint(const struct area *area, const double *split);
const char *split_sign(enum split_part part, bool is_utf8);
enum style split_style(enum split_part part);

#endif
