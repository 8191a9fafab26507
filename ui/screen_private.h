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

/* The keys, from help_top on; what does not fit can be scrolled to. */
void help_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

/* Remembers a place that can be clicked. */
void screen_add_hit(struct screen *screen, struct hit hit);

#endif
