// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints the table: which columns fit, the tree, the cursor, sparklines. */
#include <stdio.h>
#include <string.h>

#include "ui/format.h"
#include "ui/screen_private.h"

#define NAME_MAX 40
#define NAME_NARROW 12 /* below this the rate becomes narrow, */
#define NAME_LEAST 6   /* and below this it goes */
#define SPARK_MIN 8
#define GROUPED_MIN 100 /* from this width on numbers have thousands marks */

/* Where the columns go; width 0: no room for it. */
struct layout {
	int col[VIEW_COLUMNS], width[VIEW_COLUMNS];
	bool grouped;
};

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

/* A pid is a name: only what grows has thousands marks, and wide columns. */
static bool is_grouped(const struct column *column, const struct layout *layout)
{
	return layout->grouped && column->width >= 9 &&
	       (column->type == CELL_COUNT || column->type == CELL_RATE);
}

static int wanted_width(const struct column *column, const struct layout *layout)
{
	if (column->is_machine_only)
		return 0;
	if (column->type == CELL_SPARK)
		return SPARK_MIN;
	/* A mark for every three digits. */
	if (is_grouped(column, layout))
		return column->width + (column->width + 2) / 3;
	return column->width;
}

static int used_width(const struct layout *layout, size_t nr)
{
	int used = 0;

	for (size_t i = 1; i < nr; i++)
		used += layout->width[i] ? layout->width[i] + 1 : 0;
	return used;
}

/*
 * Takes columns away until the name has room: first the picture, then shares and other numbers from
 * the left. The rate stays longest: it becomes narrow, and then costs the name its last columns.
 */
static void drop_columns(struct layout *layout, const struct column *columns, size_t nr, int cols)
{
	static const struct {
		enum cell_type type;
		int name; /* what it leaves to the name, or goes */
	} order[] = { { CELL_SPARK, 24 }, { CELL_PERCENT, 18 }, { CELL_COUNT, 12 } };

	for (size_t t = 0; t < sizeof(order) / sizeof(order[0]); t++) {
		for (size_t i = 1; i < nr; i++) {
			if (columns[i].type == order[t].type &&
			    cols - 1 - used_width(layout, nr) < order[t].name)
				layout->width[i] = 0;
		}
	}
	for (size_t i = 1; i < nr && cols - 1 - used_width(layout, nr) < NAME_NARROW; i++) {
		int narrow = (int)strlen(columns[i].title);

		if (layout->width[i] > narrow)
			layout->width[i] = narrow;
		if (cols - 1 - used_width(layout, nr) < NAME_LEAST)
			layout->width[i] = 0;
	}
}

/* As far as there are rates to show and room. Returns what it took. */
static int widen_spark(struct layout *layout, const struct column *columns, size_t nr, int room)
{
	int most = STATS_HISTORY - SPARK_MIN, more = room < most ? room : most;

	for (size_t i = 1; i < nr; i++) {
		if (columns[i].type != CELL_SPARK || !layout->width[i])
			continue;
		layout->width[i] += more;
		return more;
	}
	return 0;
}

static void place_columns(struct layout *layout, size_t nr)
{
	int col = 1; /* behind the sign of the tree */

	for (size_t i = 0; i < nr; i++) {
		layout->col[i] = col;
		col += layout->width[i] ? layout->width[i] + 1 : 0;
	}
}

static struct layout layout_of(const struct view_type *type, int cols)
{
	struct layout layout = { .grouped = cols >= GROUPED_MIN };
	size_t nr = view_columns(type);
	int name, rest;

	for (size_t i = 1; i < nr; i++)
		layout.width[i] = wanted_width(&type->columns[i], &layout);
	drop_columns(&layout, type->columns, nr, cols);
	rest = cols - 1 - used_width(&layout, nr);
	name = rest < type->columns[0].width ? rest : type->columns[0].width;
	rest -= name;
	rest -= widen_spark(&layout, type->columns, nr, rest);
	name += rest < NAME_MAX - name ? rest : NAME_MAX - name;
	layout.width[0] = name > 0 ? name : 0;
	place_columns(&layout, nr);
	return layout;
}

static const char *sort_sign(const struct screen *screen)
{
	if (screen->query->reverse)
		return screen->is_utf8 ? "▴" : "^";
	return screen->is_utf8 ? "▾" : "*";
}

/* The sign of what is sorted by stands in the gap before the title, or behind one at the left. */
static void paint_column_title(const struct screen *screen, struct grid *grid,
			       const struct layout *layout, int row, size_t i)
{
	const struct column *column = &screen->view->type->columns[i];
	bool is_left = column->type == CELL_TEXT || column->type == CELL_SPARK;
	enum style style = screen->query->sort == i ? STYLE_SORTED : STYLE_HEADING;
	int len = (int)strlen(column->title), first = layout->col[i], behind;

	len = len < layout->width[i] ? len : layout->width[i];
	first += is_left ? 0 : layout->width[i] - len;
	behind = grid_printf(grid, row, first, style, "%.*s", len, column->title);
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

static void paint_name(const struct screen *screen, struct grid *grid, const struct layout *layout,
		       int row, const struct view_row *item, enum style style)
{
	char text[512];
	int col = layout->col[0], width = layout->width[0];
	struct cell name = item->cells[0];

	if (item->field != FIELD_NONE && item->depth)
		name = cell_text(fields_get(screen->facts->fields, item->field)->label);
	if (item->can_open)
		grid_put(grid, row, 0, style, root_sign(screen, item));
	col = grid_put(grid, row, col, style == STYLE_PLAIN ? STYLE_DIM : style,
		       branch_sign(screen, item));
	width -= col - layout->col[0];
	format_cell(text, sizeof(text), &name, width > 0 ? width : 0, false);
	grid_put(grid, row, col, style, text);
}

/* Shares and pids do not add up: nothing is missing there. */
static bool has_total(const struct column *column, const struct cell *cell)
{
	return cell->type != CELL_NONE || column->type == CELL_RATE;
}

static void paint_cell(const struct screen *screen, struct grid *grid, const struct layout *layout,
		       int row, size_t i, const struct cell *cell, enum style style)
{
	const struct column *column = &screen->view->type->columns[i];
	int col = layout->col[i], width = layout->width[i];
	char text[128];

	if (cell->type == CELL_SPARK) {
		style = style == STYLE_PLAIN ? STYLE_SPARK : style;
		spark_paint(grid, row, col, width, style, cell->spark, screen->is_utf8);
	} else if (column->type != CELL_SPARK) {
		format_cell(text, sizeof(text), cell, width, is_grouped(column, layout));
		grid_put(grid, row, col + width - format_width(text), style, text);
	}
}

static void paint_row(const struct screen *screen, struct grid *grid, const struct layout *layout,
		      int row, const struct view_row *item, enum style style)
{
	const struct column *columns = screen->view->type->columns;
	bool is_total = item == &screen->view->total;

	if (style != STYLE_PLAIN)
		grid_style(grid, row, 0, style);
	paint_name(screen, grid, layout, row, item, style);
	for (size_t i = 1; columns[i].id; i++) {
		if (layout->width[i] && (!is_total || has_total(&columns[i], &item->cells[i])))
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

static void paint_total(const struct screen *screen, struct grid *grid, const struct layout *layout,
			int row)
{
	size_t first = screen->top + 1, last = screen->top + screen->page_rows;
	size_t nr = screen->view->nr_rows;
	char where[64];

	paint_row(screen, grid, layout, row, &screen->view->total, STYLE_BOLD);
	if (nr <= screen->page_rows)
		return;
	snprintf(where, sizeof(where), "%zu-%zu of %zu", first, last < nr ? last : nr, nr);
	if (layout->width[0] >= (int)strlen(where) + 7)
		grid_put(grid, row, layout->col[0] + 7, STYLE_DIM, where);
}

void table_paint(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	const struct view *view = screen->view;
	struct layout layout = layout_of(view->type, grid->cols);
	/* The Total row is worth a line where there are a few, and adds nothing to a single row. */
	bool wants_total = last_row - first_row >= 4 && view->nr_rows > 1;
	int rows = last_row - first_row - wants_total;

	screen->page_rows = rows > 0 ? (size_t)rows : 0;
	screen->first_row = first_row + 1;
	paint_heading(screen, grid, &layout, first_row);
	scroll(screen);
	for (int i = 0; i < rows && screen->top + (size_t)i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[screen->top + (size_t)i];

		paint_row(screen, grid, &layout, first_row + 1 + i, row, row_style(screen, row));
	}
	if (!view->nr_rows && rows > 0)
		grid_put(grid, first_row + 1 + (rows > 1), 1, STYLE_PLAIN, screen->empty);
	if (wants_total)
		paint_total(screen, grid, &layout, last_row);
}
