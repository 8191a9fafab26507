// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bars of eight heights a line, and shares in four shades; where the points of a series are on the
 * screen, and at what time of day.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/array.h"
#include "ui/numbers.h"
#include "lib/when.h"
#include "ui/screen/chart.h"

/* ---- bars ---- */

#define LEVEL_MAX 7 /* of a character, from 0 */

static void put_bar(const struct area *area, int line, int at, int level)
{
	static const wchar_t utf8[] = L"▁▂▃▄▅▆▇█", ascii[] = L"_..--=*#";

	grid_put_char(area->grid, area->row + line, area->col + at,
		 area->style == STYLE_PLAIN ? STYLE_SPARK : area->style,
		 area->is_utf8 ? utf8[level] : ascii[level]);
}

double scale_end(double rate)
{
	double end = 1;

	for (int i = 0; end < rate; i++)
		end *= i % 3 == 1 ? 2.5 : 2;
	return end;
}

double spark_highest(const float *rates, int nr, int width)
{
	float highest = 0;

	for (int i = nr > width ? nr - width : 0; i < nr; i++)
		highest = rates[i] > highest ? rates[i] : highest;
	return (double)highest;
}

/* A bar from the area's lowest line up. */
static void put_tall_bar(const struct area *area, int at, int level)
{
	int line = area->height > 1 ? area->height - 1 : 0;

	for (; line > 0 && level > LEVEL_MAX; line--) {
		put_bar(area, line, at, LEVEL_MAX);
		level -= LEVEL_MAX + 1;
	}
	put_bar(area, line, at, level);
}

/* The lowest bar always means 0. */
static int level_of(double rate, double end, int max)
{
	return end > 0 ? (int)fmin(ceil(rate / end * max), max) : 0;
}

void spark_paint(const struct area *area, const float *rates, int nr, double end)
{
	int lines = area->height > 1 ? area->height : 1;
	int max = lines * (LEVEL_MAX + 1) - 1;

	for (int i = 0; i < area->width && i < nr; i++) {
		double rate = (double)rates[nr - 1 - i];

		if (rate >= 0)
			put_tall_bar(area, area->width - 1 - i, level_of(rate, end, max));
	}
}

void hist_paint(const struct area *area, const uint64_t *hist)
{
	uint64_t max = 1;

	for (int i = 0; i < HIST_BUCKETS; i++)
		max = hist[i] > max ? hist[i] : max;
	for (int i = 0; i < HIST_BUCKETS; i++) {
		if (hist[i])
			put_bar(area, 0, i, (int)((double)hist[i] / (double)max * LEVEL_MAX + 0.5));
	}
}

const char *split_sign(enum split_part part, bool is_utf8)
{
	static const char *const utf8[SPLIT_PARTS] = { "█", "▓", "▒", "▚", "╳", "◦", "░" };
	static const char *const ascii[SPLIT_PARTS] = { "#", "=", "-", "~", "x", "o", "." };

	return is_utf8 ? utf8[part] : ascii[part];
}

enum style split_style(enum split_part part)
{
	static const enum style styles[SPLIT_PARTS] = {
		[SPLIT_GUEST] = STYLE_GUEST,
		[SPLIT_KVM] = STYLE_KVM,
		[SPLIT_USER] = STYLE_USER,
		[SPLIT_POLL] = STYLE_POLL,
		[SPLIT_BLOCK] = STYLE_BLOCK,
		[SPLIT_WAIT] = STYLE_WAIT,
		[SPLIT_IDLE] = STYLE_IDLE,
	};

	return styles[part];
}

/* Each part ends at the rounded sum of the shares so far, so rounding errors do not add up. */
void split_paint(const struct area *area, const double *split)
{
	double sum = 0;
	int at = 0;

	for (enum split_part part = 0; part < SPLIT_PARTS; part++) {
		enum style style = area->style == STYLE_PLAIN ? split_style(part) : area->style;

		sum += split[part];
		for (; at < area->width && at < (int)(sum * area->width + 0.5); at++)
			grid_put(area->grid, area->row, area->col + at, style,
				 split_sign(part, area->is_utf8));
	}
}

/* ---- a series over time ---- */

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define DAY_S 86400
#define TICK_GAP 3 /* columns between two times of day */

/* How many columns a point takes: a gap before it is seen unless the point is the first. */
static int width_of(const struct series *series, size_t i, bool is_first)
{
	return 1 + (series->points[i].is_gap && !is_first);
}

/* The first of the points up to last that fit into that many columns. */
static size_t first_that_fits(const struct series *series, size_t last, int room)
{
	size_t first = last;

	room--;
	while (first && last - first + 1 < CHART_POINTS) {
		room -= width_of(series, first, false);
		if (room < 0)
			break;
		first--;
	}
	return first;
}

/* The last of the points from first on that fit. */
static size_t last_that_fits(const struct series *series, size_t first, int room)
{
	size_t last = first;

	room--;
	while (last + 1 < series->nr && last - first + 1 < CHART_POINTS) {
		room -= width_of(series, last + 1, false);
		if (room < 0)
			break;
		last++;
	}
	return last;
}

void chart_make(struct chart *chart, const struct series *series, long cursor,
		const struct area *area)
{
	size_t last = series->nr - 1;
	int col = area->col + area->width;

	*chart = (struct chart){ .series = series, .area = *area, .cursor_col = -1 };
	if (!series->nr || area->width < 1)
		return;
	chart->first = first_that_fits(series, last, area->width);
	if (cursor >= 0 && (size_t)cursor < chart->first) {
		chart->first = (size_t)cursor;
		last = last_that_fits(series, chart->first, area->width);
	}
	chart->nr = last - chart->first + 1;
	for (size_t i = chart->nr; i-- > 0;) {
		chart->cols[i] = --col;
		col -= width_of(series, chart->first + i, i == 0) - 1;
	}
	if (cursor < 0 || (size_t)cursor > last)
		return;
	chart->cursor_col = chart->cols[(size_t)cursor - chart->first];
	chart->cursor_ns = series->points[cursor].time_ns;
}

void chart_move_before(struct chart *chart, uint64_t time_ns)
{
	int before = chart->area.col - 1;

	for (size_t i = 0; i < chart->nr && chart->cols[i] < chart->cursor_col; i++)
		before = chart->cols[i];
	chart->cursor_col = chart->cursor_col - 1 > before ? chart->cursor_col - 1 : -1;
	chart->cursor_ns = time_ns;
}

const struct series_point *chart_point(const struct chart *chart, size_t i)
{
	return &chart->series->points[chart->first + i];
}

double chart_span_s(const struct chart *chart)
{
	double span_ns = 0;

	for (size_t i = 0; i < chart->nr; i++)
		span_ns += (double)chart_point(chart, i)->interval_ns;
	return span_ns / (double)NS_PER_S;
}

void chart_put_scale(const struct chart *chart, int row, const char *text)
{
	grid_put(chart->area.grid, row, chart->area.col - 1 - format_width(text), STYLE_DIM, text);
}

/* Draws a line where a column is blank; bars have the line's style instead. */
static void put_line(const struct chart *chart, int row, int nr, int col, enum style style,
		     const char *sign)
{
	const struct grid *grid = chart->area.grid;

	for (; nr-- > 0 && row < grid->rows && col < grid->cols; row++) {
		struct grid_cell *cell = &grid->cells[row * grid->cols + col];

		if (cell->ch == L' ')
			grid_put(chart->area.grid, row, col, style, sign);
		else if (cell->style == STYLE_SPARK)
			cell->style = style;
	}
}

void chart_paint_lines(const struct chart *chart, int row, int nr)
{
	bool is_utf8 = chart->area.is_utf8;

	if (chart->cursor_col >= 0) /* also in place of a gap */
		put_line(chart, row, nr, chart->cursor_col, STYLE_NOTICE, is_utf8 ? "│" : "|");
	for (size_t i = 1; i < chart->nr; i++) {
		if (chart_point(chart, i)->is_gap)
			put_line(chart, row, nr, chart->cols[i] - 1, STYLE_DIM,
				 is_utf8 ? "┊" : "!");
	}
}

/* The first interval after a change of the query is short, and says nothing of the others. */
bool chart_is_fine(const struct chart *chart)
{
	double span_s = chart_span_s(chart);

	return chart->nr > 2 && span_s > 0 && span_s < 0.95 * (double)chart->nr;
}

/* ---- times of day ---- */

/* The distances of times of day that people read easily. */
static const uint64_t steps_ms[] = {
	1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000,
	300000, 600000, 900000, 1800000, 3600000, 7200000, 10800000, 21600000, 43200000, 86400000,
};

/* How many columns a time of day takes, with its mark. */
static int tick_width(uint64_t step_ms)
{
	return 1 + (int)strlen(step_ms < 1000 ? "10:31:07.250" :
			       step_ms < 60000 ? "10:31:07" : "10:31");
}

/* The shortest step with times of day that stay apart. 0: no length of an interval is known. */
static uint64_t choose_step_ms(const struct chart *chart)
{
	double interval_ms = chart_span_s(chart) * 1000 / (double)chart->nr;

	for (size_t i = 0; interval_ms > 0 && i < ARRAY_SIZE(steps_ms); i++) {
		if ((double)steps_ms[i] >= interval_ms * (tick_width(steps_ms[i]) + TICK_GAP))
			return steps_ms[i];
	}
	return interval_ms > 0 ? UINT64_C(1000) * DAY_S : 0;
}

/* Milliseconds of local time: its multiples are whole hours and days of the reader's clock. */
static uint64_t local_ms(uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / NS_PER_S);
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	return time_ns / NS_PER_MS + (uint64_t)(tm.tm_gmtoff * 1000);
}

static void format_tick(char *buf, size_t size, uint64_t ms, uint64_t step_ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm = { 0 };
	size_t len;

	gmtime_r(&seconds, &tm);
	len = strftime(buf, size, step_ms >= UINT64_C(1000) * DAY_S ? "%m-%d" :
				  step_ms < 60000 ? "%H:%M:%S" : "%H:%M", &tm);
	if (step_ms < 1000)
		snprintf(buf + len, size - len, ".%03u", (unsigned int)(ms % 1000));
}

/*
 * Puts a time of day, with its mark below the column, unless it would touch what is there. Returns
 * whether there was room.
 */
static bool put_tick(const struct chart *chart, int row, int col, const char *text,
		     enum style style)
{
	const struct grid *grid = chart->area.grid;
	int first = col - format_width(text);

	if (first < 0)
		return false;
	for (int i = first ? first - 1 : 0; i <= col + 1 && i < grid->cols; i++) {
		if (row < grid->rows && grid->cells[row * grid->cols + i].ch != L' ')
			return false;
	}
	col = grid_put(chart->area.grid, row, first, style, text);
	grid_put(chart->area.grid, row, col, style,
		 style == STYLE_DIM ? (chart->area.is_utf8 ? "╯" : "'") :
				      (chart->area.is_utf8 ? "▲" : "^"));
	return true;
}

/* A round time, where the clock went on by one step; the point's own time after a jump. */
static bool paint_ticks(const struct chart *chart, int row, uint64_t step_ms)
{
	uint64_t before = 0;
	bool has_any = false;
	char text[32];

	for (size_t i = 0; i < chart->nr; i++) {
		uint64_t ms = local_ms(chart_point(chart, i)->time_ns), at = ms / step_ms;

		if (i && at != before) {
			bool is_jump = at != before + 1 || chart_point(chart, i)->is_gap;

			format_tick(text, sizeof(text), is_jump ? ms : at * step_ms, step_ms);
			has_any |= put_tick(chart, row, chart->cols[i], text, STYLE_DIM);
		}
		before = at;
	}
	return has_any;
}

void chart_paint_times(const struct chart *chart, int row)
{
	bool is_fine = chart_is_fine(chart);
	uint64_t step_ms;
	char text[32];

	if (!chart->nr)
		return;
	if (chart->cursor_col >= 0) {
		when_format_clock(text, sizeof(text), chart->cursor_ns, false, is_fine);
		put_tick(chart, row, chart->cursor_col, text, STYLE_NOTICE);
	}
	step_ms = choose_step_ms(chart);
	if (step_ms && chart->nr > 2 && paint_ticks(chart, row, step_ms))
		return;
	when_format_clock(text, sizeof(text), chart_point(chart, chart->nr - 1)->time_ns, false,
			  is_fine);
	put_tick(chart, row, chart->cols[chart->nr - 1], text, STYLE_DIM);
}
