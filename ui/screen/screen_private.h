/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_private - the parts that screen.c paints with.
 */
#ifndef KVMTOP_UI_SCREEN_SCREEN_PRIVATE_H
#define KVMTOP_UI_SCREEN_SCREEN_PRIVATE_H

#include "ui/screen/screen.h"

/* Where the columns go. */
struct layout {
	int col[VIEW_COLUMNS], width[VIEW_COLUMNS]; /* width 0: no room for it */
	size_t name;	 /* the first that is shown: the row's name, with the signs of the tree */
	bool is_grouped; /* numbers that grow have thousands marks, in these columns: */
	bool grouped[VIEW_COLUMNS];
	bool is_short[VIEW_COLUMNS]; /* narrower than its numbers: all of them have units */
};

/* The column that is sorted by stays when others have to give way. */
void layout_make(struct layout *layout, const struct screen *screen, int cols);

/* Whether every row says the same in the column, because of what was chosen. */
bool screen_is_same_column(const struct screen *screen, size_t column);

/* A column's heading. */
const char *screen_title_of(const struct view *view, size_t column);

/* Title, summary, tabs with what is filtered by. */
void head_paint_title(const struct screen *screen, struct grid *grid);
void head_paint_summary(const struct screen *screen, struct grid *grid, int row);
void head_paint_tabs(struct screen *screen, struct grid *grid, int row);

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

/* The guests to choose from, those that are meant by what is typed; the chosen one is visible. */
void guests_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

/* Remembers a place that can be clicked. */
void screen_add_hit(struct screen *screen, struct hit hit);

#endif
