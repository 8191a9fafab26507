/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts - the parts that screen.c puts together; each paints lines first_row to last_row.
 */
#ifndef KVMTOP_UI_SCREEN_PARTS_H
#define KVMTOP_UI_SCREEN_PARTS_H

#include "ui/screen/chart.h"
#include "ui/screen/picture.h"

/* Title, summary, and tabs with filter and guest: one line each. */
void head_paint_title(const struct screen *screen, struct grid *grid);
void head_paint_summary(const struct screen *screen, struct grid *grid, int row);
void head_paint_tabs(struct screen *screen, struct grid *grid, int row);

/* layout.c: the columns of a view that fit the screen, and their positions. */
struct layout {
	int col[VIEW_COLUMNS], width[VIEW_COLUMNS]; /* width 0: the column is not shown */
	size_t name; /* the first column that is shown: has the signs of the tree */
	bool is_grouped[VIEW_COLUMNS]; /* its counts have thousands marks */
	bool is_short[VIEW_COLUMNS]; /* too narrow for its longest number: all have units */
	int most_indent; /* deeper rows are not indented further */
};

/* How far the sign before a child's name is indented. */
static inline int layout_indent(const struct layout *layout, const struct view_row *row)
{
	int indent = row->depth > 1 ? (int)row->depth - 1 : 0;

	return indent < layout->most_indent ? indent : layout->most_indent;
}
#define LAYOUT_BRANCH 3 /* columns of the sign */

/* The sort column is dropped last. */
void layout_make(struct layout *layout, const struct screen *screen, int cols);

/*
 * The table: its heading first, the Total row last. nr_below of its lines stay free. Returns the
 * first of them.
 */
int table_paint(struct screen *screen, struct grid *grid, int first_row, int last_row,
		int nr_below);
/* How many lines there are for the table's rows and for what is below. */
int table_lines(const struct screen *screen, int first_row, int last_row);

/*
 * The durations of one row's exits: a line of numbers, then a bar for each bucket, or for several
 * buckets together if there are too few lines. latency_height() is the number of lines, at most
 * `lines`; 0: the row has no durations, or there is no room.
 */
int latency_height(const struct view *view, const struct view_row *row, int lines);
void latency_paint(const struct screen *screen, const struct area *area,
		   const struct view_row *row);

/*
 * What the row did over time: a heat map of its durations, then graphs of exits/s and p99, as far
 * as the area has room.
 */
void over_time_paint(const struct screen *screen, const struct area *area);

/* The table, and below it what the screen has room for. */
void body_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

/*
 * A table with a title, in a picture of its own, from the row *top on, which is corrected if it is
 * after the end. Returns how many rows are visible.
 */
size_t detail_paint(const struct screen *screen, const struct screen_detail *detail, size_t *top,
		    const struct area *area);

/* The keys and the view's columns, from the screen's page_top on. */
void help_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

#endif
