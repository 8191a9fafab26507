/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_private - the parts that screen.c paints with.
 */
#ifndef KVMTOP_UI_SCREEN_PRIVATE_H
#define KVMTOP_UI_SCREEN_PRIVATE_H

#include "ui/screen.h"

/* The table with its heading at first_row, down to last_row; the Total row is the last. */
void table_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

/*
 * Draws rates (STATS_HISTORY of them) as bars, newest at the right, width columns wide from
 * (row, col). Blank where there are none.
 */
void spark_paint(struct grid *grid, int row, int col, int width, enum style style,
		 const float *rates, bool is_utf8);

/* Counts of durations as bars, HIST_BUCKETS columns wide. */
void hist_paint(struct grid *grid, int row, int col, enum style style, const uint64_t *hist,
		bool is_utf8);

/*
 * The latency picture of a row: a line for its numbers, then one for each bucket, or for several
 * together where there are not lines enough. latency_height() says how many lines it takes, at most
 * so many; 0: nothing to draw, or no room.
 */
int latency_height(const struct view *view, const struct view_row *row, int lines);
void latency_paint(const struct screen *screen, struct grid *grid, int first_row, int last_row,
		   const struct view_row *row);

/* How many bytes of the text go on one line: whole words, unless not even one fits. */
int words_that_fit(const char *text, int width);

/* The keys and the view's columns, from help_top on; what does not fit can be scrolled to. */
void help_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

/* Remembers a place that can be clicked. */
void screen_add_hit(struct screen *screen, struct hit hit);

#endif
