/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat - a heat map: the durations of a series over time, a colour or a sign for how many.
 *
 * A column is a point of the chart. A dot is one bucket of durations, or several together where the
 * lines do not suffice; the longest durations are above. With a palette, two dots may share a line.
 */
#ifndef KVMTOP_UI_SCREEN_HEAT_H
#define KVMTOP_UI_SCREEN_HEAT_H

#include "ui/screen/chart.h"

struct heat {
	unsigned int first, last; /* buckets: all that have anything in the points shown, */
	unsigned int group;	  /* how many buckets a dot has */
	bool has_halves;	  /* a line has two dots */
	bool has_palette;	  /* the terminal has colours for ink and paper */
	bool has_marks;		  /* of p50 and p99 */
	int lines;		  /* 0: there are no durations, or no room */
	uint64_t ends[HEAT_STEPS]; /* the highest count of each step; the last: of all dots */
};

/* How many buckets the map of the chart has; 0: there are no durations. */
int heat_buckets(const struct chart *chart);

/* Chooses what fits into so many lines. */
void heat_make(struct heat *heat, const struct chart *chart, int lines, bool has_palette);

/* The dots of a column, from the shortest durations up. Their counts add up to the point's. */
int heat_dots(const struct heat *heat);
uint64_t heat_count(const struct heat *heat, const struct series_point *point, int dot);

/* The step of a count on a logarithmic scale: 0 for none, HEAT_STEPS for the highest. */
int heat_step(const struct heat *heat, uint64_t count);
/* The highest count of a step; 0: no count has the step. */
uint64_t heat_step_end(const struct heat *heat, int step);
/* Paints a dot of the step, as in the map. */
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
