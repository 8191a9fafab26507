// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Divides the lines below the table: one row's durations, or tables of what it is made of, and what
 * it did over time.
 */
#include <stdio.h>

#include "ui/numbers.h"
#include "ui/screen/parts.h"
#include "ui/screen/picture.h"

#define LATENCY_MIN 12	  /* a table of so many lines has durations below it */
#define LEFT_COLS 78	  /* width of the left part when the past is beside it, */
#define COLS_BESIDE 150	  /* on a screen at least so wide */
#define OVER_TIME_MIN 12  /* lines for the past below the table */
#define ROWS_OVER_TIME 30 /* a screen so high, */
#define COLS_OVER_TIME 100 /* and so wide, has the past below the table */
#define DETAIL_MIN 6	  /* lines of a table: title, heading, rows, Total */

/* What is below the table's rows and its Total. */
struct below {
	int left;	/* lines of one row's durations, or of other tables; 0: there are none */
	int over_time;	/* lines of what the row did over time */
	bool is_beside; /* over_time is at the right of left, not below it */
	bool has_details; /* at the left are tables, */
	bool has_words;	  /* or the sentences of a row */
};

bool screen_shows_series(const struct screen *screen, const struct grid *grid)
{
	return screen->shows_heat ||
	       (grid->rows >= ROWS_OVER_TIME && grid->cols >= COLS_OVER_TIME);
}

/* The row for the durations: the selected row, else the first. The number of rows: no row. */
static size_t row_of_durations(const struct screen *screen)
{
	return screen->has_cursor ? screen_find_row(screen, &screen->cursor) : 0;
}

/*
 * How many of the table's lines the durations take: free lines, and up to half of all when the user
 * has selected a row.
 */
static int latency_lines(const struct screen *screen, int lines)
{
	const struct view *view = screen->view;
	size_t at = row_of_durations(screen);
	int rows = (int)(view->nr_rows < (size_t)lines ? view->nr_rows : (size_t)lines);
	int room = lines - rows - 1;

	if (at >= view->nr_rows || lines < LATENCY_MIN)
		return 0;
	if (screen->has_cursor && room < lines / 2)
		room = lines / 2;
	return latency_height(view, &view->rows[at], room);
}

/* "Why: vCPU 0: ..."; "": the column is no sentence. Returns whether it is one. */
static bool format_sentence(const struct screen *screen, size_t at, size_t column, char *buf,
			    size_t size)
{
	const struct column *columns = screen->view->type->columns;
	const struct cell *cell = &screen->view->rows[at].cells[column];
	bool is_sentence = column_is_sentence(&columns[column]) && cell->type == CELL_TEXT;

	buf[0] = '\0';
	if (is_sentence)
		snprintf(buf, size, "%s: %s", column_title(&columns[column]), cell->text);
	return is_sentence;
}

/* How many lines the sentences of the selected row, else the first, take; at most half of all. */
static int words_lines(const struct screen *screen, int lines, int width)
{
	size_t at = row_of_durations(screen);
	char text[SCREEN_TEXT_SIZE];
	int nr = 0;

	for (size_t i = 0; at < screen->view->nr_rows && screen->view->type->columns[i].id; i++) {
		if (format_sentence(screen, at, i, text, sizeof(text)))
			nr += lines_of_words(text, width - 1);
	}
	return nr <= lines / 2 ? nr : lines / 2;
}

static void paint_words(const struct screen *screen, const struct area *area)
{
	size_t at = row_of_durations(screen);
	int row = area->row, end = area->row + area->height;
	char text[SCREEN_TEXT_SIZE];

	for (size_t i = 0; screen->view->type->columns[i].id; i++) {
		const char *rest = text, *line;
		int len;

		format_sentence(screen, at, i, text, sizeof(text));
		while (row < end && (line = line_of_words(&rest, area->width - 1, &len)))
			grid_printf(area->grid, row++, area->col + 1, STYLE_PLAIN, "%.*s", len,
				    line);
	}
}

/*
 * lines: for the table's rows and for what is below. On a large screen the past takes the free
 * lines: beside the durations or the tables where the screen is wide enough, else below.
 */
static struct below plan(const struct screen *screen, const struct grid *grid, int lines)
{
	struct below below = { .left = latency_lines(screen, lines) };
	int free = lines - (int)screen->view->nr_rows - 1 - (screen->view->lead != NULL);
	bool has_past = screen->series && screen_shows_series(screen, grid);

	if (!below.left) {
		below.left = words_lines(screen, lines, has_past && grid->cols >= COLS_BESIDE ?
					 LEFT_COLS : grid->cols);
		below.has_words = below.left;
	}
	if (!screen->view->nr_rows)
		free -= lines_of_words(screen->empty, grid->cols - 1) + 1;
	if (screen->view->note)
		free -= lines_of_words(screen->view->note, grid->cols - 1) + 1;
	if (!has_past)
		return below;
	below.is_beside = grid->cols >= COLS_BESIDE;
	below.has_details = below.is_beside && !below.left && screen->nr_details;
	if (below.is_beside && below.left)
		below.over_time = free > below.left ? free : below.left;
	else
		below.over_time = below.left ? free - below.left - 1 : free;
	if (below.over_time < OVER_TIME_MIN)
		below.over_time = 0;
	if (below.has_details)
		below.left = below.over_time;
	below.is_beside &= below.left && below.over_time;
	return below;
}

static int lines_of(const struct below *below)
{
	if (below->left && below->over_time && !below->is_beside)
		return below->left + 1 + below->over_time;
	return below->over_time > below->left ? below->over_time : below->left;
}

bool screen_has_details(const struct screen *screen, const struct grid *grid)
{
	return screen->query->type->details[0] && screen->series && !screen->shows_heat &&
	       screen_shows_series(screen, grid) && grid->cols >= COLS_BESIDE;
}

/* In a grid of its own: no cursor, no history. */
size_t detail_paint(const struct screen *screen, const struct screen_detail *detail, size_t *top,
		    const struct area *area)
{
	struct screen small = *screen;
	struct grid grid = { 0 };

	small.view = detail->view;
	small.query = detail->query;
	if (detail->empty)
		small.empty = detail->empty;
	small.series = NULL;
	small.has_cursor = false;
	small.top = *top;
	grid_resize(&grid, area->height - 1, area->width);
	body_paint(&small, &grid, 0, area->height - 2);
	grid_put(area->grid, area->row, area->col + 1, STYLE_BOLD, detail->title);
	grid_copy(area->grid, area->row + 1, area->col, &grid);
	grid_release(&grid);
	*top = small.top;
	return small.page_rows;
}

/* One table below the other: each but the last takes what it needs. */
static void paint_details(const struct screen *screen, struct area area)
{
	int lines = area.height;

	for (size_t i = 0; i < screen->nr_details && lines >= DETAIL_MIN; i++) {
		const struct screen_detail *detail = &screen->details[i];

		area.height = (int)detail->view->nr_rows + 3; /* title, heading, Total */
		if (area.height < DETAIL_MIN)
			area.height = DETAIL_MIN;
		if (i + 1 == screen->nr_details || area.height > lines)
			area.height = lines;
		detail_paint(screen, detail, &(size_t){ 0 }, &area);
		area.row += area.height + 1;
		lines -= area.height + 1;
	}
}

static void paint(const struct screen *screen, struct grid *grid, int row,
		  const struct below *below)
{
	struct area area = {
		.grid = grid, .row = row, .width = grid->cols, .height = below->left,
		.is_utf8 = screen->is_utf8, .has_marks = screen->has_marks,
	};

	if (below->is_beside)
		area.width = LEFT_COLS;
	if (below->has_details)
		paint_details(screen, area);
	else if (below->has_words)
		paint_words(screen, &area);
	else if (below->left)
		latency_paint(screen, &area, &screen->view->rows[row_of_durations(screen)]);
	if (!below->over_time)
		return;
	if (below->is_beside)
		area.col = area.width + 1;
	else if (below->left)
		area.row += below->left + 1;
	area.width = grid->cols - area.col;
	area.height = below->over_time;
	over_time_paint(screen, &area);
}

void body_paint(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	struct below below = plan(screen, grid, table_lines(screen, first_row, last_row));
	int nr_below = lines_of(&below);
	int row = table_paint(screen, grid, first_row, last_row, nr_below);

	if (nr_below)
		paint(screen, grid, row, &below);
}
