/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chart - pictures of characters: bars of rates, durations and shares; a series over time, and a
 * heat map of its durations.
 */
#ifndef KVMTOP_UI_SCREEN_CHART_H
#define KVMTOP_UI_SCREEN_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "core/views/columns.h"
#include "history/past.h"
#include "ui/screen/grid.h"

/* Where and how to draw. */
struct area {
	struct grid *grid;
	int row, col, width;
	int height; /* lines, from row on; 0: one */
	enum style style; /* STYLE_PLAIN: the picture's own style */
	bool is_utf8, has_marks; /* counts: 1,234 */
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

/*
 * A series over time: a column for each point, the newest at the right, a scale at the left, times
 * of day below, gaps, and the time cursor.
 */

#define CHART_POINTS 512 /* the most that are shown */
#define CHART_SCALE 8	 /* columns of the scale at the left: "  524µs " */

struct chart {
	const struct series *series;
	struct area area; /* of the points, without the scale */
	size_t first, nr; /* the points that are shown */
	int cols[CHART_POINTS]; /* of each point shown; a gap takes a column before it */
	int cursor_col;		/* -1: there is no cursor */
	uint64_t cursor_ns;	/* its time */
};

/*
 * Chooses the points that fit into the area: the newest, or older ones with the cursor among them.
 * cursor: the index of a point; -1: none.
 */
void chart_make(struct chart *chart, const struct series *series, long cursor,
		const struct area *area);

/*
 * Moves the cursor between its point and the one before, to that time; where there is no room, it
 * is gone.
 */
void chart_move_before(struct chart *chart, uint64_t time_ns);

/* A point that is shown: i < chart->nr. */
const struct series_point *chart_point(const struct chart *chart, size_t i);

/* How long the intervals shown are together. */
double chart_span_s(const struct chart *chart);

/* A number of the scale, beside a row. */
void chart_put_scale(const struct chart *chart, int row, const char *text);

/* Draws gaps and the cursor into nr rows that are painted already, where they are blank. */
void chart_paint_lines(const struct chart *chart, int row, int nr);

/* Times of day, each with a mark below its column. */
void chart_paint_times(const struct chart *chart, int row);

/* Whether an interval is so short that times of day need milliseconds. */
bool chart_is_fine(const struct chart *chart);

/*
 * A heat map: the durations of a series over time, a colour or a sign for how many. A column is a
 * point of the chart. A line is one bucket of durations, or several together where the lines do not
 * suffice; the longest durations are above.
 */
struct heat {
	unsigned int first, last; /* buckets: all that have anything in the points shown, */
	unsigned int group;	  /* how many buckets a line has */
	bool has_palette;	  /* the terminal has colours for ink and paper */
	bool has_marks;		  /* of p50 and p99 */
	int lines;		  /* 0: there are no durations, or no room */
	uint64_t ends[HEAT_STEPS]; /* the highest count of each step; the last: of all lines */
};

/* How many buckets the map of the chart has; 0: there are no durations. */
int heat_buckets(const struct chart *chart);

/* Chooses what fits into so many lines. */
void heat_make(struct heat *heat, const struct chart *chart, int lines, bool has_palette);

/* The count of a line, from the shortest durations up. They add up to the point's. */
uint64_t heat_count(const struct heat *heat, const struct series_point *point, int line);

/* The step of a count on a logarithmic scale: 0 for none, HEAT_STEPS for the highest. */
int heat_step(const struct heat *heat, uint64_t count);
/* The highest count of a step; 0: no count has the step. */
uint64_t heat_step_end(const struct heat *heat, int step);
/* Paints the sign of the step, as in the map. */
void heat_put_sign(const struct heat *heat, const struct area *area, int row, int col, int step);
/* The marks of p50 and p99. */
const char *heat_mark(bool is_p99);

/* Paints heat->lines lines from the area's first row on, with the scale beside them. */
void heat_paint(const struct heat *heat, const struct chart *chart);

/*
 * The duration that a share of a point's exits did not exceed; 0: no exit ended. At most
 * HEAT_LONGEST_NS, from which on durations are in one bucket.
 */
uint64_t point_percentile_ns(const struct series_point *point, double share);
#define HEAT_LONGEST_NS (UINT64_C(1) << (HIST_BUCKETS + 5))

#endif
