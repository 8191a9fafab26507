// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints what a row did over time: a heat map of durations, and graphs of exits/s and p99. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/when.h"
#include "ui/numbers.h"
#include "ui/screen/chart.h"
#include "ui/screen/parts.h"

#define NUMBER_MAX 14 /* columns of a number */
#define NAME_LEAST 8  /* columns of a name that is cut */
#define GRAPH_MIN 4   /* lines of a graph, with its heading */
#define GRAPH_MAX 10
#define TWO_GRAPHS 10 /* from so many lines on there are two */
#define GRAPHS_FROM 12 /* fewer lines than that are the heat map's alone */
#define TIMES_FROM 4 /* from so many lines on the last one has the times of day */
#define NUMBERS_FROM 5 /* and one above has the numbers of a point */
#define DAY_NS UINT64_C(86400000000000)
#define RATE_MAX 1e18 /* what can be written as a number */

struct pane {
	const struct screen *screen;
	const struct area *area;
	struct chart chart;
	struct heat heat;
	bool are_events; /* the counts are of events, else of exits */
};

/* ---- words and numbers ---- */

/* "exits", "1 exit": the word after a count. */
static const char *noun_of(const struct pane *pane, uint64_t count)
{
	if (pane->are_events)
		return count == 1 ? "event" : "events";
	return count == 1 ? "exit" : "exits";
}

/* The largest count of a line in a column. */
static uint64_t highest_step(const struct pane *pane)
{
	return heat_step_end(&pane->heat, HEAT_STEPS);
}

/* "░ 44 ▒ 283 █ 1,800 exits": how many a sign is at the most. Returns the end. */
static int put_steps(const struct pane *pane, int row, int col)
{
	char text[32];

	for (int step = 1; step <= HEAT_STEPS; step++) {
		uint64_t end = heat_step_end(&pane->heat, step);

		if (!end)
			continue;
		heat_put_sign(&pane->heat, pane->area, row, col, step);
		format_count(text, sizeof(text), end, step < HEAT_STEPS ? 6 : NUMBER_MAX,
			     pane->area->has_marks);
		col = grid_printf(pane->area->grid, row, col + 2, STYLE_PLAIN, "%s ", text);
	}
	return grid_put(pane->area->grid, row, col, STYLE_PLAIN, noun_of(pane, highest_step(pane)));
}

static int put_marks(const struct pane *pane, int row, int col)
{
	if (!pane->heat.has_marks)
		return col;
	return grid_printf(pane->area->grid, row, col, STYLE_PLAIN, "  %s p50  %s p99",
			   heat_mark(false), heat_mark(true));
}

static int steps_width(const struct pane *pane)
{
	int width = (int)strlen("up to ") + (int)strlen(noun_of(pane, highest_step(pane)));
	char text[32];

	for (int step = 1; step <= HEAT_STEPS; step++) {
		uint64_t end = heat_step_end(&pane->heat, step);

		format_count(text, sizeof(text), end, step < HEAT_STEPS ? 6 : NUMBER_MAX,
			     pane->area->has_marks);
		width += end ? (int)strlen(text) + 3 : 0;
	}
	return width;
}

/*
 * What the signs mean, at the right: all of them, where that leaves `name` columns, else the
 * highest, where that leaves `least`. Returns where it begins.
 */
static int put_legend(const struct pane *pane, int row, int name, int least)
{
	int col = pane->area->col, end = col + pane->area->width, width = steps_width(pane);
	char text[64], count[32];

	if (!pane->heat.lines)
		return end;
	width += pane->heat.has_marks ? (int)strlen("  - p50  = p99") : 0;
	if (end - col - name >= width) {
		col = grid_put(pane->area->grid, row, end - width, STYLE_DIM, "up to ");
		put_marks(pane, row, put_steps(pane, row, col));
		return end - width;
	}
	format_count(count, sizeof(count), highest_step(pane), NUMBER_MAX, pane->area->has_marks);
	snprintf(text, sizeof(text), "up to %s %s", count, noun_of(pane, highest_step(pane)));
	width = (int)strlen(text) + 2;
	if (end - col - least < width)
		return end;
	heat_put_sign(&pane->heat, pane->area, row, end - width, HEAT_STEPS);
	grid_put(pane->area->grid, row, end - width + 2, STYLE_PLAIN, text);
	return end - width;
}

/* What is shown, how long it lasted, and what the signs mean. The name is cut, if need be. */
static void put_title(const struct pane *pane, int row)
{
	const char *title = pane->screen->series_title;
	int col = pane->area->col + 1, name = format_width(title), least, end, rest;
	char text[256], span[32];

	format_span(span, sizeof(span), chart_span_s(&pane->chart));
	least = name < NAME_LEAST ? name : NAME_LEAST;
	rest = (int)strlen(span) + 4; /* blanks around it, and before the name */
	end = put_legend(pane, row, rest + name, rest + least);
	format_middle(text, sizeof(text), title, end - col - rest, pane->screen->is_utf8);
	col = grid_put(pane->area->grid, row, col, STYLE_BOLD, text);
	if (col + 2 + (int)strlen(span) <= end)
		grid_printf(pane->area->grid, row, col, STYLE_PLAIN, "  %s", span);
}

/* "1.02µs": the longest durations have no upper edge. */
static void format_percentile(char *buf, size_t size, uint64_t ns)
{
	char text[32];

	format_duration(text, sizeof(text), ns);
	snprintf(buf, size, "%s%s", ns >= HEAT_LONGEST_NS ? ">" : "", text);
}

/* The bucket of the longest durations: "16.4µs-32.8µs". */
static void format_longest(char *buf, size_t size, const struct series_point *point)
{
	unsigned int bucket = HIST_BUCKETS - 1;
	char from[32] = "0", to[32];

	while (bucket && !point->hist[bucket])
		bucket--;
	if (bucket)
		format_duration(from, sizeof(from), hist_edge_ns(bucket - 1));
	format_duration(to, sizeof(to), hist_edge_ns(bucket));
	if (bucket + 1 == HIST_BUCKETS)
		snprintf(buf, size, ">%s", from);
	else
		snprintf(buf, size, "%s-%s", from, to);
}

static double rate_of(const struct series_point *point)
{
	double rate = (double)point->count * 1e9 / (double)point->interval_ns;

	return rate < RATE_MAX ? rate : RATE_MAX;
}

static void format_number(char *buf, size_t size, double number)
{
	format_count(buf, size, (uint64_t)(number + 0.5), NUMBER_MAX, true);
}

/* A line of numbers: a number without room is left out, with all that follow. */
struct line {
	const struct area *area;
	int row, col;
	bool is_full;
};

static void put_part(struct line *line, enum style style, const char *before, const char *number,
		     const char *after)
{
	int end = line->col + format_width(before) + format_width(number) + format_width(after);

	line->is_full |= end > line->area->col + line->area->width;
	if (line->is_full)
		return;
	line->col = grid_put(line->area->grid, line->row, line->col, STYLE_PLAIN, before);
	line->col = grid_put(line->area->grid, line->row, line->col, style, number);
	line->col = grid_put(line->area->grid, line->row, line->col, STYLE_PLAIN, after);
}

static void put_count(struct line *line, const char *before, uint64_t count, const char *after)
{
	char text[32];

	format_count(text, sizeof(text), count, NUMBER_MAX, line->area->has_marks);
	put_part(line, STYLE_BOLD, before, text, after);
}

static void put_durations(struct line *line, const struct series_point *point)
{
	char text[80];

	if (!hist_count(point->hist))
		return;
	format_percentile(text, sizeof(text), point_percentile_ns(point, 0.5));
	put_part(line, STYLE_BOLD, "  p50 ", text, "");
	format_percentile(text, sizeof(text), point_percentile_ns(point, 0.99));
	put_part(line, STYLE_BOLD, "  p99 ", text, "");
	format_longest(text, sizeof(text), point);
	put_part(line, STYLE_BOLD, "  max ", text, "");
	put_count(line, "  ", hist_count(point->hist), " ended");
}

/* The numbers of the point under the cursor, else of the newest. */
static void put_numbers(const struct pane *pane, int row)
{
	const struct series *series = pane->chart.series;
	const struct series_point *newest = &series->points[series->nr - 1], *point = newest;
	struct line line = { pane->area, row, pane->area->col + 1, false };
	uint64_t first_ns = pane->screen->series_first_ns;
	bool has_cursor = first_ns || pane->chart.cursor_col >= 0;
	char text[64];

	if (has_cursor && !first_ns)
		point = &series->points[pane->screen->series_cursor];
	when_format_clock(text, sizeof(text), first_ns ? first_ns : point->time_ns,
			  newest->time_ns > series->points->time_ns + DAY_NS,
			  chart_is_fine(&pane->chart));
	put_part(&line, has_cursor ? STYLE_NOTICE : STYLE_BOLD, "", text, "");
	if (first_ns) {
		put_part(&line, STYLE_PLAIN, "  ", "counting begins: the first sample has no rates",
			 "");
		return;
	}
	if (point->is_gap && point != series->points)
		put_part(&line, STYLE_NOTICE, " ", "after a gap", "");
	put_count(&line, "  ", point->count, " ");
	put_part(&line, STYLE_PLAIN, "", noun_of(pane, point->count), "");
	if (point->interval_ns)
		put_count(&line, "  ", (uint64_t)(rate_of(point) + 0.5), "/s");
	put_durations(&line, point);
}

/* ---- graphs ---- */

/* A graph: the number of each point (< 0: not known), and how numbers are written. */
struct graph {
	const char *title;
	double (*value)(const struct series_point *point);
	void (*format)(char *buf, size_t size, double value);
	void (*format_end)(char *buf, size_t size, double value);
};

static double rate_or_none(const struct series_point *point)
{
	return point->interval_ns ? rate_of(point) : -1;
}

static double p99_or_none(const struct series_point *point)
{
	uint64_t ns = point_percentile_ns(point, 0.99);

	return ns ? (double)ns : -1;
}

static void format_ns(char *buf, size_t size, double ns)
{
	format_percentile(buf, size, (uint64_t)ns);
}

static void format_whole_ns(char *buf, size_t size, double ns)
{
	format_whole_duration(buf, size, (uint64_t)ns);
}

static void format_end(char *buf, size_t size, double number)
{
	format_count(buf, size, (uint64_t)number, 3, false);
}

/* A heading, then bars over a scale from 0 up. */
static void paint_graph(const struct pane *pane, int row, int lines, const struct graph *graph)
{
	const struct chart *chart = &pane->chart;
	struct area area = chart->area;
	float values[2 * CHART_POINTS];
	int first = chart->cols[0], nr = area.col + area.width - first;
	double highest = 0, end;
	char text[48];

	for (int i = 0; i < nr; i++)
		values[i] = -1;
	for (size_t i = 0; i < chart->nr; i++) {
		double value = graph->value(chart_point(chart, i));

		values[chart->cols[i] - first] = (float)value;
		highest = fmax(highest, value);
	}
	graph->format(text, sizeof(text), highest);
	grid_printf(area.grid, row, area.col, STYLE_PLAIN, "%s  highest %s", graph->title, text);
	end = scale_end(highest);
	area.row = row + 1;
	area.height = lines - 1;
	spark_paint(&area, values, nr, end);
	graph->format_end(text, sizeof(text), end);
	chart_put_scale(chart, area.row, text);
	if (area.height > 1)
		chart_put_scale(chart, area.row + area.height - 1, "0");
	chart_paint_lines(chart, area.row, area.height);
}

/* One graph, or two where there is room. Returns the line below. */
static int paint_graphs(const struct pane *pane, int row, int lines)
{
	const struct graph rates = { pane->are_events ? "events/s" : "exits/s", rate_or_none,
				     format_number, format_end };
	static const struct graph p99 = { "p99", p99_or_none, format_ns, format_whole_ns };
	bool has_two = pane->heat.lines && lines >= TWO_GRAPHS;
	int height = has_two ? lines / 2 : lines;

	if (lines < 2)
		return row;
	height = height < GRAPH_MAX ? height : GRAPH_MAX;
	paint_graph(pane, row, height, &rates);
	row += height;
	if (!has_two)
		return row;
	paint_graph(pane, row, height, &p99);
	return row + height;
}

/* ---- together ---- */

/* How many of the lines the graphs take beside a heat map that could take `buckets`. */
static int graph_lines(int lines, int buckets)
{
	int nr = lines - buckets;

	if (!buckets)
		return lines;
	if (lines < GRAPHS_FROM)
		return 0;
	nr = nr > lines / 3 ? nr : lines / 3;
	return nr >= GRAPH_MIN ? nr : 0;
}

/* The heat map, the times of day and the graphs, as far as the lines suffice. */
static void paint_pictures(struct pane *pane, int row, int lines)
{
	const struct screen *screen = pane->screen;
	struct chart *chart = &pane->chart;
	bool has_times = lines >= TIMES_FROM;
	int graphs;

	lines -= has_times;
	graphs = graph_lines(lines, heat_buckets(chart));
	heat_make(&pane->heat, chart, lines - graphs, screen->has_palette);
	if (pane->heat.lines && graphs)
		graphs = lines - pane->heat.lines;
	chart->area.row = row;
	heat_paint(&pane->heat, chart);
	chart_paint_lines(chart, row, pane->heat.lines);
	row += pane->heat.lines;
	if (!pane->heat.lines)
		row = paint_graphs(pane, row, graphs);
	if (has_times)
		chart_paint_times(chart, row++);
	if (pane->heat.lines && graphs)
		paint_graphs(pane, row, graphs);
}

void over_time_paint(const struct screen *screen, const struct area *area)
{
	struct pane pane = {
		.screen = screen,
		.area = area,
		.are_events = screen->query->type == &view_events,
	};
	struct area inner = *area;
	int row = area->row, numbers = area->height >= NUMBERS_FROM;

	if (!screen->series || !screen->series->nr) {
		grid_put(area->grid, row, area->col + 1, STYLE_PLAIN,
			 "Nothing is known of the past yet.");
		return;
	}
	inner.col += CHART_SCALE;
	inner.width -= CHART_SCALE;
	chart_make(&pane.chart, screen->series, screen->series_cursor, &inner);
	if (screen->series_first_ns)
		chart_move_before(&pane.chart, screen->series_first_ns);
	if (!pane.chart.nr)
		return;
	paint_pictures(&pane, row + 1 + numbers, area->height - 1 - numbers);
	put_title(&pane, row);
	if (numbers)
		put_numbers(&pane, row + 1);
}
