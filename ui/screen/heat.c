// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws a heat map of characters. */
#include <math.h>
#include <stdio.h>

#include "ui/numbers.h"
#include "ui/screen/chart.h"

#define BUCKETS_MIN 6 /* durations of one bucket only are shown with some room around them */

/* ---- what is in which line ---- */

static bool has_any(const struct chart *chart, unsigned int bucket)
{
	for (size_t i = 0; i < chart->nr; i++) {
		if (chart_point(chart, i)->hist[bucket])
			return true;
	}
	return false;
}

/* The buckets that have anything, and some more where these are few. False: there are none. */
static bool find_buckets(const struct chart *chart, unsigned int *ret_first, unsigned int *ret_last)
{
	unsigned int first = 0, last = HIST_BUCKETS - 1;

	while (first < HIST_BUCKETS && !has_any(chart, first))
		first++;
	if (first == HIST_BUCKETS)
		return false;
	while (last > first && !has_any(chart, last))
		last--;
	while (last - first + 1 < BUCKETS_MIN) {
		if (last + 1 < HIST_BUCKETS)
			last++;
		if (first && last - first + 1 < BUCKETS_MIN)
			first--;
	}
	*ret_first = first;
	*ret_last = last;
	return true;
}

int heat_buckets(const struct chart *chart)
{
	unsigned int first, last;

	return find_buckets(chart, &first, &last) ? (int)(last - first + 1) : 0;
}

uint64_t heat_count(const struct heat *heat, const struct series_point *point, int line)
{
	unsigned int first = heat->first + (unsigned int)line * heat->group;
	uint64_t count = 0;

	for (unsigned int i = first; i < first + heat->group && i <= heat->last; i++)
		count += point->hist[i];
	return count;
}

/* ---- how many ---- */

static void set_scale(struct heat *heat, uint64_t max)
{
	for (int step = 1; step < HEAT_STEPS; step++)
		heat->ends[step - 1] = (uint64_t)pow((double)max, (double)step / HEAT_STEPS);
	heat->ends[HEAT_STEPS - 1] = max;
}

int heat_step(const struct heat *heat, uint64_t count)
{
	int step = 1;

	if (!count || count >= heat->ends[HEAT_STEPS - 1])
		return count ? HEAT_STEPS : 0;
	while (count > heat->ends[step - 1])
		step++;
	return step;
}

uint64_t heat_step_end(const struct heat *heat, int step)
{
	uint64_t end = heat->ends[step - 1];

	return heat_step(heat, end) == step ? end : 0;
}

/* ---- a plan ---- */

static uint64_t highest_count(const struct heat *heat, const struct chart *chart)
{
	uint64_t max = 0;

	for (size_t i = 0; i < chart->nr; i++) {
		for (int line = 0; line < heat->lines; line++) {
			uint64_t count = heat_count(heat, chart_point(chart, i), line);

			max = count > max ? count : max;
		}
	}
	return max;
}

void heat_make(struct heat *heat, const struct chart *chart, int lines, bool has_palette)
{
	*heat = (struct heat){ .has_palette = has_palette && chart->area.is_utf8 };
	if (lines < 1 || !find_buckets(chart, &heat->first, &heat->last))
		return;
	/* Even buckets begin a line of two, so that 1 µs, 1 ms and 1 s are edges of lines. */
	if ((int)(heat->last - heat->first) >= lines)
		heat->first &= ~1u;
	do {
		heat->group++;
		heat->lines = (int)((heat->last - heat->first + heat->group) / heat->group);
	} while (heat->lines > lines);
	heat->has_marks = heat->has_palette && heat->group == 1;
	set_scale(heat, highest_count(heat, chart));
}

/* ---- drawing ---- */

uint64_t point_percentile_ns(const struct series_point *point, double share)
{
	return hist_percentile_ns(point->hist, share,
				  (struct hist_known){ .max_ns = HEAT_LONGEST_NS });
}

/*
 * Each step has a sign of its own. With a palette its background is the colour of the step
 * before, so that the map is one area.
 */
void heat_put_sign(const struct heat *heat, const struct area *area, int row, int col, int step)
{
	static const wchar_t utf8[] = L" ·░▒▓█", ascii[] = L" .:oO#";
	enum style style = step ? style_heat(step, heat->has_palette ? step - 1 : 0) : STYLE_PLAIN;

	if (heat->has_palette && step == 1)
		style = style_mark(1); /* its sign alone is too dark */
	grid_put_char(area->grid, row, col, style, area->is_utf8 ? utf8[step] : ascii[step]);
}

const char *heat_mark(bool is_p99)
{
	return is_p99 ? "━" : "─";
}

static void put_mark(const struct heat *heat, const struct chart *chart, size_t i, bool is_p99)
{
	const struct series_point *point = chart_point(chart, i);
	uint64_t ns = point_percentile_ns(point, is_p99 ? 0.99 : 0.5);
	unsigned int bucket = heat->first;

	while (bucket < heat->last && ns > hist_edge_ns(bucket))
		bucket++;
	if (ns)
		grid_put(chart->area.grid, chart->area.row + (int)(heat->last - bucket),
			 chart->cols[i], style_mark(heat_step(heat, point->hist[bucket])),
			 heat_mark(is_p99));
}

/* Where there are marks, the cursor is one, too; else it is seen in blank lines only. */
static void paint_point(const struct heat *heat, const struct chart *chart, size_t i)
{
	const struct series_point *point = chart_point(chart, i);
	const struct area *area = &chart->area;
	int col = chart->cols[i];

	for (int line = 0; line < heat->lines; line++) {
		int row = area->row + heat->lines - 1 - line;
		int step = heat_step(heat, heat_count(heat, point, line));

		if (heat->has_marks && col == chart->cursor_col && step)
			grid_put_char(area->grid, row, col, style_mark(step), L'│');
		else
			heat_put_sign(heat, area, row, col, step);
	}
	if (heat->has_marks) {
		put_mark(heat, chart, i, false);
		put_mark(heat, chart, i, true);
	}
}

/* Each line has its shortest duration beside it. */
static void paint_scale(const struct heat *heat, const struct chart *chart)
{
	char text[32];

	for (int line = 0; line < heat->lines; line++) {
		unsigned int bucket = heat->first + (unsigned int)line * heat->group;

		snprintf(text, sizeof(text), "0");
		if (bucket)
			format_whole_duration(text, sizeof(text), hist_edge_ns(bucket - 1));
		chart_put_scale(chart, chart->area.row + heat->lines - 1 - line, text);
	}
}

void heat_paint(const struct heat *heat, const struct chart *chart)
{
	for (size_t i = 0; i < chart->nr; i++)
		paint_point(heat, chart, i);
	paint_scale(heat, chart);
}
