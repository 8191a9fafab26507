// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints the table: headings, rows, the tree, the selected row, pictures in cells. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/chart.h"
#include "ui/screen/parts.h"

#define TOTAL_WIDTH 7  /* "Total" and the blanks around it */

struct painter {
	struct screen *screen;
	struct grid *grid;
	struct layout layout;
	double spark_end; /* of the scale that all rows' histories have; 0: no rate yet */
	/* The line that is painted: */
	int row;
	const struct view_row *item; /* NULL: the heading */
	enum style style;
};

static const char *sort_sign(const struct screen *screen)
{
	if (screen->query->reverse)
		return screen->is_utf8 ? "▴" : "^";
	return screen->is_utf8 ? "▾" : "*";
}

/* The scale of a column of pictures, after its title. Buckets of 1 ms and 1 s have their marks. */
static void paint_scale(const struct painter *painter, size_t i, int after)
{
	enum cell_type type = column_type(&painter->screen->view->type->columns[i]);
	int first = painter->layout.col[i], width = painter->layout.width[i];
	char text[32];

	if (type == CELL_HIST) {
		grid_put(painter->grid, painter->row, first + 13, STYLE_HEADING, "1ms");
		grid_put(painter->grid, painter->row, first + 23, STYLE_HEADING, "1s");
	} else if (type == CELL_SPARK && painter->spark_end > 0) {
		after++;
		screen_scale(painter->screen, painter->spark_end, width, first + width - after,
			     text, sizeof(text));
		grid_put(painter->grid, painter->row, after, STYLE_HEADING, text);
	}
}

/*
 * The sort column's sign is in the gap before a right-aligned title, or after a left-aligned
 * title.
 */
static void paint_title(const struct painter *painter, size_t i)
{
	const struct screen *screen = painter->screen;
	const struct column *column = &screen->view->type->columns[i];
	const char *title = view_title(screen->view, i);
	bool is_left = column_type(column) == CELL_TEXT || cell_is_picture(column_type(column)) ||
		       i == painter->layout.name;
	enum style style = screen->view->sort == i ? STYLE_SORTED : STYLE_HEADING;
	int first = painter->layout.col[i], width = painter->layout.width[i];
	int len = (int)strlen(title), after;

	width -= is_left && style == STYLE_SORTED; /* the sign's column */
	len = len < width ? len : width;
	first += is_left ? 0 : width - len;
	after = grid_printf(painter->grid, painter->row, first, style, "%.*s", len, title);
	if (style == STYLE_SORTED)
		grid_put(painter->grid, painter->row, is_left ? after : first - 1, style,
			 sort_sign(screen));
	paint_scale(painter, i, after);
}

static void paint_heading(struct painter *painter, int row)
{
	const struct column *columns = painter->screen->view->type->columns;
	const struct layout *layout = &painter->layout;

	painter->row = row;
	grid_style(painter->grid, row, 0, STYLE_HEADING);
	for (size_t i = 0; columns[i].id; i++) {
		int first = layout->col[i], last = first + layout->width[i] - 1;

		if (!layout->width[i])
			continue;
		paint_title(painter, i);
		screen_add_hit(painter->screen, (struct hit){ HIT_COLUMN, row, first, last, i });
	}
}

/* The sign before a child's name, LAYOUT_BRANCH columns wide. */
static const char *branch_sign(const struct screen *screen, const struct view_row *row)
{
	if (!row->depth)
		return "";
	if (row->is_last)
		return screen->is_utf8 ? " └ " : " `-";
	return screen->is_utf8 ? " ├ " : " |-";
}

/* The sign before the name of a row with children. */
static const char *root_sign(const struct screen *screen, const struct view_row *row)
{
	if (row->is_open)
		return screen->is_utf8 ? "▾" : "-";
	return screen->is_utf8 ? "▸" : "+";
}

/* Names are cut in the middle: names of one kind begin alike. */
static void put_text(const struct painter *painter, int col, int width, size_t column)
{
	char buf[SCREEN_TEXT_SIZE], text[SCREEN_TEXT_SIZE];

	format_middle(text, sizeof(text),
		      screen_text_of(painter->screen, painter->item, column, buf, sizeof(buf)),
		      width > 0 ? width : 0, painter->screen->is_utf8);
	grid_put(painter->grid, painter->row, col, painter->style, text);
}

static void paint_name(const struct painter *painter)
{
	const struct screen *screen = painter->screen;
	const struct layout *layout = &painter->layout;
	const struct view_row *item = painter->item;
	bool is_total = item == &screen->view->total;
	int first = layout->col[layout->name], end = first + layout->width[layout->name], col;
	enum style style = painter->style;

	if (item->can_open)
		grid_put(painter->grid, painter->row, 0, style, root_sign(screen, item));
	col = grid_put(painter->grid, painter->row, first + layout_indent(layout, item),
		       style == STYLE_PLAIN ? STYLE_DIM : style, branch_sign(screen, item));
	put_text(painter, col, end - col, is_total ? 0 : layout->name);
}

/* Shares and pids have no total: the Total row leaves the column blank. */
static bool has_total(const struct column *column, const struct cell *cell)
{
	return cell->type != CELL_NONE || column_type(column) == CELL_RATE;
}

static void paint_picture(const struct painter *painter, size_t i)
{
	const struct cell *cell = &painter->item->cells[i];
	const struct area area = {
		.grid = painter->grid,
		.row = painter->row,
		.col = painter->layout.col[i],
		.width = painter->layout.width[i],
		.style = painter->style,
		.is_utf8 = painter->screen->is_utf8,
	};

	if (cell->type == CELL_SPARK)
		spark_paint(&area, cell->spark, STATS_HISTORY, painter->spark_end);
	else if (cell->type == CELL_HIST)
		hist_paint(&area, cell->hist);
	else if (cell->type == CELL_SPLIT)
		split_paint(&area, cell->split);
}

/* A share that is too high is highlighted, except in the selected row, and in dim rows. */
static enum style number_style(const struct painter *painter, size_t i)
{
	int warn = painter->screen->view->type->columns[i].warn;
	const struct cell *cell = &painter->item->cells[i];
	bool is_plain = painter->style == STYLE_PLAIN || painter->style == STYLE_BOLD;

	if (is_plain && warn && cell->type == CELL_PERCENT && cell->number >= warn)
		return STYLE_WARN;
	return painter->style;
}

static void paint_cell(const struct painter *painter, size_t i)
{
	const struct layout *layout = &painter->layout;
	enum cell_type type = column_type(&painter->screen->view->type->columns[i]);
	const struct cell *cell = &painter->item->cells[i];
	int col = layout->col[i], width = layout->width[i];
	char text[256];

	if (cell_is_picture(type)) {
		paint_picture(painter, i);
		return;
	}
	if (type == CELL_TEXT) {
		put_text(painter, col, width, i);
		return;
	}
	if (layout->is_short[i])
		format_short(text, sizeof(text), cell, width);
	else
		format_cell(text, sizeof(text), cell, width, layout->is_grouped[i]);
	grid_put(painter->grid, painter->row, col + width - format_width(text),
		 number_style(painter, i), text);
}

static void paint_row(struct painter *painter, int row, const struct view_row *item,
		      enum style style)
{
	const struct screen *screen = painter->screen;
	const struct column *columns = screen->view->type->columns;
	bool is_total = item == &screen->view->total;

	painter->row = row;
	painter->item = item;
	painter->style = style;
	if (style != STYLE_PLAIN)
		grid_style(painter->grid, row, 0, style);
	paint_name(painter);
	for (size_t i = 0; columns[i].id; i++) {
		if (i != painter->layout.name && painter->layout.width[i] &&
		    (!is_total || has_total(&columns[i], &item->cells[i])))
			paint_cell(painter, i);
	}
}

static enum style row_style(const struct screen *screen, size_t at)
{
	const struct view_row *row = &screen->view->rows[at];
	struct row_id id = row_id_of(screen->view, at);

	if (screen->has_cursor && row_id_equal(&id, &screen->cursor))
		return STYLE_SELECTED;
	if (row->is_idle || row->is_gone || row->is_rest)
		return STYLE_DIM;
	return STYLE_PLAIN;
}

/* One scale for all rows, seen or not, so that they compare and scrolling does not change it. */
static double find_spark_end(const struct painter *painter)
{
	const struct view *view = painter->screen->view;
	double highest = 0;

	for (size_t at = 0; at < view->nr_rows; at++) {
		for (size_t i = 0; view->type->columns[i].id; i++) {
			const struct cell *cell = &view->rows[at].cells[i];

			if (cell->type == CELL_SPARK)
				highest = fmax(highest, spark_highest(cell->spark, STATS_HISTORY,
								      painter->layout.width[i]));
		}
	}
	return highest > 0 ? scale_end(highest) : 0;
}

/* Moves the visible part so that the selected row is in it, and no line below the rows is blank. */
static void scroll(struct screen *screen)
{
	size_t nr = screen->view->nr_rows, page = screen->page_rows;

	if (screen->has_cursor) {
		size_t at = screen_find_row(screen, &screen->cursor);

		if (at < nr && at < screen->top)
			screen->top = at;
		else if (at < nr && page && at >= screen->top + page)
			screen->top = at - page + 1;
	}
	if (screen->top + page > nr)
		screen->top = nr > page ? nr - page : 0;
}

/* Paints the sums, and the visible rows ("1-20 of 45") in the first gap that is wide enough. */
static void paint_total(struct painter *painter, int row)
{
	struct screen *screen = painter->screen;
	struct grid *grid = painter->grid;
	int width = format_width(screen->where), gap = 0;

	paint_row(painter, row, &screen->view->total, STYLE_BOLD);
	for (int col = TOTAL_WIDTH; screen->where[0] && col < grid->cols; col++) {
		gap = grid->cells[row * grid->cols + col].ch == L' ' ? gap + 1 : 0;
		if (gap < width + 2 && (gap <= width || col < grid->cols - 1))
			continue;
		grid_put(grid, row, col - width, STYLE_DIM, screen->where);
		screen->where[0] = '\0';
	}
}

/*
 * Sets the text with the visible rows if there are more rows; the first painter with room shows it.
 */
static void set_where(struct screen *screen)
{
	size_t first = screen->top + 1, last = screen->top + screen->page_rows;
	size_t nr = screen->view->nr_rows;

	screen->where[0] = '\0';
	if (nr > screen->page_rows)
		snprintf(screen->where, sizeof(screen->where), "%zu-%zu of %zu", first,
			 last < nr ? last : nr, nr);
}

/*
 * Paints whole words, in as many lines as are needed and free, below a blank line if there is room
 * for one. Returns the line below.
 */
static int paint_words(struct grid *grid, int row, int last_row, enum style style,
		       const char *text)
{
	int width = grid->cols - 1, len;
	const char *line;

	row += lines_of_words(text, width) <= last_row - row;
	while (row <= last_row && (line = line_of_words(&text, width, &len)))
		grid_printf(grid, row++, 1, style, "%.*s", len, line);
	return row;
}

static int paint_rows(struct painter *painter, int row, int nr)
{
	struct screen *screen = painter->screen;
	const struct view *view = screen->view;

	for (size_t i = screen->top; nr-- > 0 && i < view->nr_rows; i++) {
		enum style style = row_style(screen, i);

		if (style == STYLE_SELECTED)
			screen->focus_row = row;
		paint_row(painter, row++, &view->rows[i], style);
	}
	return row;
}

/* The Total row needs a few lines, and adds nothing to a single row. */
static bool wants_total(const struct view *view, int first_row, int last_row)
{
	return last_row - first_row >= 4 && view->nr_rows > 1 &&
	       view->total.cells[0].type != CELL_NONE;
}

int table_lines(const struct screen *screen, int first_row, int last_row)
{
	return last_row - first_row - wants_total(screen->view, first_row, last_row);
}

int table_paint(struct screen *screen, struct grid *grid, int first_row, int last_row,
		int nr_below)
{
	struct painter painter = { .screen = screen, .grid = grid };
	const struct view *view = screen->view;
	int rows = table_lines(screen, first_row, last_row) - nr_below, row;

	screen->page_rows = rows > 0 ? (size_t)rows : 0;
	screen->first_row = first_row + 1;
	if (view->lead && rows > 1) {
		char text[256];

		format_cut(text, sizeof(text), view->lead, grid->cols - 1, screen->is_utf8);
		grid_put(grid, first_row++, 1, STYLE_DIM, text);
		screen->first_row++;
		screen->page_rows--;
		rows--;
	}
	layout_make(&painter.layout, screen, grid->cols);
	painter.spark_end = find_spark_end(&painter);
	paint_heading(&painter, first_row);
	scroll(screen);
	set_where(screen);
	row = paint_rows(&painter, first_row + 1, rows);
	if (wants_total(view, first_row, last_row))
		paint_total(&painter, row++);
	last_row -= nr_below;
	if (!view->nr_rows)
		row = paint_words(grid, row, last_row, STYLE_PLAIN, screen->empty);
	if (view->note)
		row = paint_words(grid, row, last_row, STYLE_DIM, view->note);
	return row + (row <= last_row); /* after a blank */
}
