/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts - the parts that screen.c puts together; each paints lines first_row to last_row.
 */
#ifndef KVMTOP_UI_SCREEN_PARTS_H
#define KVMTOP_UI_SCREEN_PARTS_H

#include "ui/screen/bars.h"
#include "ui/screen/picture.h"

/* Title, summary, and tabs with filter and guest: one line each. */
void head_paint_title(const struct screen *screen, struct grid *grid);
void head_paint_summary(const struct screen *screen, struct grid *grid, int row);
void head_paint_tabs(struct screen *screen, struct grid *grid, int row);

/* The table: its heading first, the Total row last. */
void table_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

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

/* What is below the table's rows and its Total. */
struct below {
	int left;	/* lines of one row's durations, or of other tables; 0: there are none */
	int over_time;	/* lines of what the row did over time */
	bool is_beside; /* over_time is at the right of left, not below it */
	bool has_details; /* at the left are tables, */
	bool has_words;	  /* or the sentences of a row */
};

/* Chooses what is below the table. lines: for the table's rows and for what is below. */
struct below below_plan(const struct screen *screen, const struct grid *grid, int lines);
int below_lines(const struct below *below);
void below_paint(const struct screen *screen, struct grid *grid, int row,
		 const struct below *below);

/*
 * A table with a title, in a picture of its own, from the row *top on, which is corrected if it is
 * after the end. Returns how many rows are visible.
 */
size_t detail_paint(const struct screen *screen, const struct screen_detail *detail, size_t *top,
		    const struct area *area);

/* The keys and the view's columns, from the screen's page_top on. */
void help_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

/* The guests that match the text in the prompt. */
void guests_paint(struct screen *screen, struct grid *grid, int first_row, int last_row);

#endif
