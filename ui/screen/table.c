// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints the table: rows and headings, the tree, the cursor, pictures in cells. */
#include <stdio.h>
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/screen_private.h"

#define TOTAL_WIDTH 7  /* "Total" and what is around it */
#define LATENCY_MIN 12 /* lines for the table from which on there is a picture below it */

void spark_paint(struct grid *grid, int row, int col, int width, enum style style,
		 const float *rates, bool is_utf8)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { "_", ".", ".", "-", "-", "=", "*", "#" };
	float max = 0;

	width = width > STATS_HISTORY ? STATS_HISTORY : width;
	rates += STATS_HISTORY - width;
	for (int i = 0; i < width; i++)
		max = rates[i] > max ? rates[i] : max;
	for (int i = 0; i < width; i++) {
		float rate = rates[i];
		int level = max > 0 ? (int)(rate / max * 7 + 0.5f) : 0;

		if (rate >= 0)
			grid_put(grid, row, col + i, style, is_utf8 ? bars[level] : ascii[level]);
	}
}

void hist_paint(struct grid *grid, int row, int col, enum style style, const uint64_t *hist,
		bool is_utf8)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { "_", ".", ".", "-", "-", "=", "*", "#" };
	uint64_t max = 1;

	for (int i = 0; i < HIST_BUCKETS; i++)
		max = hist[i] > max ? hist[i] : max;
	for (int i = 0; i < HIST_BUCKETS; i++) {
		int level = (int)((double)hist[i] / (double)max * 7 + 0.5);

		if (hist[i])
			grid_put(grid, row, col + i, style, is_utf8 ? bars[level] : ascii[level]);
	}
}

/* Ends where the shares do, however each of them is rounded. */
static void split_paint(struct grid *grid, int row, int col, int width, enum style style,
			const double *split, bool is_utf8)
{
	static const char *const utf8[SPLIT_PARTS] = { "█", "▓", "▒", "░" };
	static const char *const ascii[SPLIT_PARTS] = { "#", "=", "-", "." };
	double sum = 0;
	int at = 0;

	for (int part = 0; part < SPLIT_PARTS; part++) {
		sum += split[part];
		for (; at < width && at < (int)(sum * width + 0.5); at++)
			grid_put(grid, row, col + at, style,
				 is_utf8 ? utf8[part] : ascii[part]);
	}
}

static const char *sort_sign(const struct screen *screen)
{
	if (screen->query->reverse)
		return screen->is_utf8 ? "▴" : "^";
	return screen->is_utf8 ? "▾" : "*";
}

const char *screen_title_of(const struct view *view, size_t column)
{
	if (view->rate_title && view_column_by_id(view->type, "rate") == (int)column)
		return view->rate_title;
	return view->type->columns[column].title;
}

/* Above the pictures of durations: where 1 µs, 1 ms and 1 s are, nearly. */
static void paint_scale(struct grid *grid, int row, int col, bool is_utf8)
{
	grid_put(grid, row, col + 3, STYLE_HEADING, is_utf8 ? "1µs" : "1us");
	grid_put(grid, row, col + 13, STYLE_HEADING, "1ms");
	grid_put(grid, row, col + 23, STYLE_HEADING, "1s");
}

/* The sign of what is sorted by stands in the gap before the title, or behind one at the left. */
static void paint_column_title(const struct screen *screen, struct grid *grid,
			       const struct layout *layout, int row, size_t i)
{
	const struct column *column = &screen->view->type->columns[i];
	const char *title = screen_title_of(screen->view, i);
	bool is_left = column->type == CELL_TEXT || cell_is_picture(column->type);
	enum style style = screen->query->sort == i ? STYLE_SORTED : STYLE_HEADING;
	int len = (int)strlen(title), first = layout->col[i], behind;

	if (column->type == CELL_HIST) {
		paint_scale(grid, row, first, screen->is_utf8);
		return;
	}
	len = len < layout->width[i] ? len : layout->width[i];
	first += is_left ? 0 : layout->width[i] - len;
	behind = grid_printf(grid, row, first, style, "%.*s", len, title);
	if (style == STYLE_SORTED)
		grid_put(grid, row, is_left ? behind : first - 1, style, sort_sign(screen));
}

static void paint_heading(struct screen *screen, struct grid *grid, const struct layout *layout,
			  int row)
{
	const struct column *columns = screen->view->type->columns;

	grid_style(grid, row, 0, STYLE_HEADING);
	for (size_t i = 0; columns[i].id; i++) {
		int first = layout->col[i];

		if (!layout->width[i])
			continue;
		paint_column_title(screen, grid, layout, row, i);
		screen_add_hit(screen, (struct hit){ HIT_COLUMN, row, first,
						     first + layout->width[i] - 1, i });
	}
}

/* What stands before a child's name. */
static const char *branch_sign(const struct screen *screen, const struct view_row *row)
{
	if (!row->depth)
		return "";
	if (row->is_last)
		return screen->is_utf8 ? " └ " : " `-";
	return screen->is_utf8 ? " ├ " : " |-";
}

/* What stands before a root that has children. */
static const char *root_sign(const struct screen *screen, const struct view_row *row)
{
	if (row->is_open)
		return screen->is_utf8 ? "▾" : "-";
	return screen->is_utf8 ? "▸" : "+";
}

/* Names are cut in the middle: those of one kind begin alike. */
static void put_text(const struct screen *screen, struct grid *grid, int row, int col, int width,
		     const struct cell *cell, enum style style)
{
	char text[512];

	format_middle(text, sizeof(text), cell->type == CELL_TEXT ? cell->text : "-",
		      width > 0 ? width : 0, screen->is_utf8);
	grid_put(grid, row, col, style, text);
}

static void paint_name(const struct screen *screen, struct grid *grid, const struct layout *layout,
		       int row, const struct view_row *item, enum style style)
{
	bool is_total = item == &screen->view->total;
	int col = layout->col[layout->name], width = layout->width[layout->name];
	struct cell name = item->cells[is_total ? 0 : layout->name];

	if (item->field != FIELD_NONE && item->depth)
		name = cell_text(fields_get(screen->facts->fields, item->field)->label);
	if (item->can_open)
		grid_put(grid, row, 0, style, root_sign(screen, item));
	col = grid_put(grid, row, col, style == STYLE_PLAIN ? STYLE_DIM : style,
		       branch_sign(screen, item));
	put_text(screen, grid, row, col, width - (col - layout->col[layout->name]), &name, style);
}

/* Shares and pids do not add up: nothing is missing there. */
static bool has_total(const struct column *column, const struct cell *cell)
{
	return cell->type != CELL_NONE || column->type == CELL_RATE;
}

static void paint_picture(const struct screen *screen, struct grid *grid, int row, int col,
			  int width, const struct cell *cell, enum style style)
{
	style = style == STYLE_PLAIN ? STYLE_SPARK : style;
	if (cell->type == CELL_SPARK)
		spark_paint(grid, row, col, width, style, cell->spark, screen->is_utf8);
	else if (cell->type == CELL_HIST)
		hist_paint(grid, row, col, style, cell->hist, screen->is_utf8);
	else if (cell->type == CELL_SPLIT)
		split_paint(grid, row, col, width, style, cell->split, screen->is_utf8);
}

static void paint_cell(const struct screen *screen, struct grid *grid, const struct layout *layout,
		       int row, size_t i, const struct cell *cell, enum style style)
{
	const struct column *column = &screen->view->type->columns[i];
	int col = layout->col[i], width = layout->width[i];
	char text[256];

	if (cell_is_picture(column->type)) {
		paint_picture(screen, grid, row, col, width, cell, style);
		return;
	}
	if (column->type == CELL_TEXT) {
		put_text(screen, grid, row, col, width, cell, style);
		return;
	}
	if (layout->is_short[i])
		format_short(text, sizeof(text), cell, width);
	else
		format_cell(text, sizeof(text), cell, width, layout->grouped[i]);
	grid_put(grid, row, col + width - format_width(text), style, text);
}

static void paint_row(const struct screen *screen, struct grid *grid, const struct layout *layout,
		      int row, const struct view_row *item, enum style style)
{
	const struct column *columns = screen->view->type->columns;
	bool is_total = item == &screen->view->total;

	if (style != STYLE_PLAIN)
		grid_style(grid, row, 0, style);
	paint_name(screen, grid, layout, row, item, style);
	for (size_t i = 0; columns[i].id; i++) {
		if (i != layout->name && layout->width[i] &&
		    (!is_total || has_total(&columns[i], &item->cells[i])))
			paint_cell(screen, grid, layout, row, i, &item->cells[i], style);
	}
}

static enum style row_style(const struct screen *screen, const struct view_row *row)
{
	struct row_id id = row_id_of(row);

	if (screen->has_cursor && row_id_equal(&id, &screen->cursor))
		return STYLE_SELECTED;
	if (row->is_idle || row->is_gone || row->is_rest)
		return STYLE_DIM;
	return STYLE_PLAIN;
}

/* Moves the visible part so that it holds the cursor, and does not end in empty lines. */
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

/* The sums, and in the first gap that is wide enough which rows are seen. */
static void paint_total(struct screen *screen, struct grid *grid, const struct layout *layout,
			int row)
{
	int width = format_width(screen->where), gap = 0;

	paint_row(screen, grid, layout, row, &screen->view->total, STYLE_BOLD);
	for (int col = TOTAL_WIDTH; screen->where[0] && col < grid->cols; col++) {
		gap = grid->cells[row * grid->cols + col].ch == L' ' ? gap + 1 : 0;
		if (gap < width + 2 && (gap <= width || col < grid->cols - 1))
			continue;
		grid_put(grid, row, col - width, STYLE_DIM, screen->where);
		screen->where[0] = '\0';
	}
}

/* Which rows are seen, where there are more; whoever has room for it paints it. */
static void tell_where(struct screen *screen)
{
	size_t first = screen->top + 1, last = screen->top + screen->page_rows;
	size_t nr = screen->view->nr_rows;

	screen->where[0] = '\0';
	if (nr > screen->page_rows)
		snprintf(screen->where, sizeof(screen->where), "%zu-%zu of %zu", first,
			 last < nr ? last : nr, nr);
}

/* The row that is looked at; the first while none is. Past the last: there is none. */
static size_t row_looked_at(const struct screen *screen)
{
	return screen->has_cursor ? screen_find_row(screen, &screen->cursor) : 0;
}

/* How many lines of the table's place the picture below it takes. */
static int latency_lines(const struct screen *screen, int lines)
{
	const struct view *view = screen->view;
	size_t at = row_looked_at(screen);
	int height, free_lines = lines - (int)(view->nr_rows < (size_t)lines ? view->nr_rows :
					       (size_t)lines) - 1;

	if (at >= view->nr_rows || lines < LATENCY_MIN)
		return 0;
	/* Nobody asked for it while no row is selected: it takes what is free. */
	height = latency_height(view, &view->rows[at], screen->has_cursor ? lines / 2 : free_lines);
	return height <= lines / 2 || height <= free_lines ? height : 0;
}

/* Whole words, as many lines as there are. */
static void paint_words(struct grid *grid, int row, int last_row, enum style style,
			const char *text)
{
	for (; *text && row <= last_row; row++) {
		int len = words_that_fit(text, grid->cols - 1);

		grid_printf(grid, row, 1, style, "%.*s", len, text);
		text += len;
		text += *text == ' ';
	}
}

void table_paint(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	const struct view *view = screen->view;
	struct layout layout;
	/* The Total row is worth a line where there are a few, and adds nothing to a single row. */
	bool wants_total = last_row - first_row >= 4 && view->nr_rows > 1;
	int rows = last_row - first_row - wants_total, below = latency_lines(screen, rows), row;

	rows -= below;
	screen->page_rows = rows > 0 ? (size_t)rows : 0;
	screen->first_row = first_row + 1;
	layout_make(&layout, screen, grid->cols);
	paint_heading(screen, grid, &layout, first_row);
	scroll(screen);
	tell_where(screen);
	row = first_row + 1;
	for (int i = 0; i < rows && screen->top + (size_t)i < view->nr_rows; i++) {
		const struct view_row *item = &view->rows[screen->top + (size_t)i];

		paint_row(screen, grid, &layout, row++, item, row_style(screen, item));
	}
	if (!view->nr_rows && rows > 0)
		paint_words(grid, first_row + 1 + (rows > 1), first_row + rows, STYLE_PLAIN,
			    screen->empty);
	if (view->note)
		paint_words(grid, row + 1, first_row + rows, STYLE_DIM, view->note);
	if (wants_total)
		paint_total(screen, grid, &layout, first_row + rows + 1);
	if (below)
		latency_paint(screen, grid, last_row - below + 1, last_row,
			      &view->rows[row_looked_at(screen)]);
}
