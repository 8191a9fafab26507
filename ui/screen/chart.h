/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chart - what pictures of a series have in common: a column for each point, the newest at the
 * right, a scale at the left, times of day below, gaps, and the time cursor.
 */
#ifndef KVMTOP_UI_SCREEN_CHART_H
#define KVMTOP_UI_SCREEN_CHART_H

#include "history/past.h"
#include "ui/screen/bars.h"

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

#endif
