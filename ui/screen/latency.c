// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints the durations of one row's exits: a bar for each bucket, with its edges and numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/parts.h"

#define EDGE_WIDTH 7
#define LINES_MIN 4
#define BAR_MAX 60
#define NUMBER_MAX 40
#define NAME_LEAST 8 /* columns of a name that is cut */
#define WIDE 120 /* a screen of so many columns has room for all durations and the names */

/* The buckets from first to last, `step` of them a line. */
struct span {
	unsigned int first, last, step;
};

static const struct cell *hist_of(const struct view *view, const struct view_row *row)
{
	for (size_t i = 0; view->type->columns[i].id; i++) {
		if (row->cells[i].type == CELL_HIST)
			return &row->cells[i];
	}
	return NULL;
}

static struct span span_of(const struct cell *cell, int lines)
{
	struct span span = { 0, cell->end - 1u, 1 };
	const uint64_t *hist = cell->hist;

	while (span.first < span.last && !hist[span.first])
		span.first++;
	while (span.last > span.first && !hist[span.last])
		span.last--;
	while (lines > 0 && span.last - span.first + 1 > span.step * (unsigned int)lines)
		span.step++;
	return span;
}

static int lines_of(const struct span *span)
{
	return (int)((span->last - span->first + span->step) / span->step);
}

int latency_height(const struct view *view, const struct view_row *row, int lines)
{
	const struct cell *cell = hist_of(view, row);
	struct span span;

	if (!cell || lines < LINES_MIN)
		return 0;
	span = span_of(cell, lines - 1);
	return lines_of(&span) + 1;
}

static uint64_t count_in(const uint64_t *hist, unsigned int first, const struct span *span)
{
	uint64_t count = 0;

	for (unsigned int i = first; i < first + span->step && i <= span->last; i++)
		count += hist[i];
	return count;
}

/* Puts the shortest and the longest duration of a bar at its left. */
static int put_edges(struct grid *grid, int row, unsigned int first, const struct span *span,
		     unsigned int end)
{
	unsigned int last = first + span->step - 1 < span->last ? first + span->step - 1 :
								  span->last;
	char from[32] = "0", to[32];

	if (first)
		format_duration(from, sizeof(from), hist_edge_ns(first - 1));
	if (last + 1 == end)
		snprintf(to, sizeof(to), "%s", "more");
	else
		format_duration(to, sizeof(to), hist_edge_ns(last));
	return grid_printf(grid, row, 1, STYLE_PLAIN, "%*s%s - %*s%s",
			   EDGE_WIDTH - format_width(from), "", from,
			   EDGE_WIDTH - format_width(to), "", to);
}

/* The scale of all bars: the length of a bar depends on the largest count. */
struct scale {
	const struct cell *cell;
	struct span span;
	uint64_t max, all;
};

static void put_bucket(const struct area *area, int row, unsigned int first,
		       const struct scale *scale)
{
	uint64_t count = count_in(scale->cell->hist, first, &scale->span);
	struct grid *grid = area->grid;
	int col = put_edges(grid, row, first, &scale->span, scale->cell->end);
	int room = area->width - col - 19, len;
	double share = (double)count * 100 / (double)scale->all;
	char number[32];

	room = room > BAR_MAX ? BAR_MAX : room;
	len = room > 0 ? (int)((double)count / (double)scale->max * room + 0.5) : 0;
	len += count && !len && room > 0; /* a small count has a short bar, not none */
	format_count(number, sizeof(number), count, 11, area->has_marks);
	col = grid_printf(grid, row, col, STYLE_PLAIN, " %11s %5.1f%% ", number, share);
	while (len-- > 0)
		col = grid_put(grid, row, col, STYLE_SPARK, area->is_utf8 ? "█" : "#");
}

/* "Avg 1.24µs p50 1.02µs": durations with their headings. Returns the end. */
static int put_durations(const struct screen *screen, const struct area *area, int row, int col,
			 const struct view_row *item)
{
	const struct column *columns = screen->view->type->columns;
	char text[64];

	for (size_t i = 0; columns[i].id; i++) {
		const struct cell *cell = &item->cells[i];

		if (cell->type != CELL_NS || columns[i].is_for_machines ||
		    (columns[i].is_of_recording && area->width < WIDE))
			continue;
		format_cell(text, sizeof(text), cell, NUMBER_MAX, false);
		col = grid_printf(area->grid, row, col, STYLE_PLAIN, " %s ",
				  column_title(&columns[i]));
		col = grid_put(area->grid, row, col, STYLE_BOLD, text);
	}
	return col;
}

/* The names of the row, up to the column `end`: the first one is cut last. */
static int put_names(const struct screen *screen, struct grid *grid, int row, int end,
		      const struct view_row *item)
{
	const struct column *columns = screen->view->type->columns;
	int col = 1;
	char text[256];

	for (size_t i = 0; columns[i].id; i++) {
		const struct cell *cell = &item->cells[i];

		if (cell->type != CELL_TEXT || column_type(&columns[i]) != CELL_TEXT ||
		    columns[i].is_for_machines)
			continue;
		if (end - col < NAME_LEAST && end - col < format_width(cell->text))
			break;
		format_middle(text, sizeof(text), cell->text, end - col, screen->is_utf8);
		col = grid_put(grid, row, col, STYLE_BOLD, text) + 1;
	}
	return col;
}

static int names_width(const struct screen *screen, const struct view_row *item)
{
	const struct column *columns = screen->view->type->columns;
	int width = 0;

	for (size_t i = 0; columns[i].id; i++) {
		if (item->cells[i].type == CELL_TEXT && column_type(&columns[i]) == CELL_TEXT &&
		    !(columns[i].is_for_machines))
			width += format_width(item->cells[i].text) + 1;
	}
	return width;
}

/* Names, then numbers. Names are cut, numbers are not. */
static void put_numbers(const struct screen *screen, const struct area *area,
			const struct view_row *item, uint64_t all)
{
	int width, names = names_width(screen, item), row = area->row, col;
	struct grid *grid = area->grid;
	char text[32];

	format_count(text, sizeof(text), all, 11, area->has_marks);
	/* Written once to measure its width. */
	width = put_durations(screen, area, row, 0, item) + format_width(text) +
		(int)strlen("   ended");
	grid_clear_row(grid, row);
	if (names > area->width - 1 - width)
		names = area->width - 1 - width;
	col = put_names(screen, grid, row, names, item);
	col = put_durations(screen, area, row, col, item);
	grid_printf(grid, row, col, STYLE_PLAIN, "  %s ended", text);
}

void latency_paint(const struct screen *screen, const struct area *area,
		   const struct view_row *row)
{
	struct scale scale = { .cell = hist_of(screen->view, row), .max = 1 };
	struct span *span = &scale.span;
	int line = area->row;

	if (!scale.cell)
		return;
	*span = span_of(scale.cell, area->height - 1);
	for (unsigned int i = span->first; i <= span->last; i += span->step) {
		uint64_t count = count_in(scale.cell->hist, i, span);

		scale.max = count > scale.max ? count : scale.max;
		scale.all += count;
	}
	put_numbers(screen, area, row, scale.all);
	for (unsigned int i = span->first; i <= span->last; i += span->step)
		put_bucket(area, ++line, i, &scale);
}
