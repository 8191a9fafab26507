// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints the table: which columns fit, the tree, the cursor, pictures in cells. */
#include <stdio.h>
#include <string.h>

#include "ui/format.h"
#include "ui/screen_private.h"

#define NAME_MAX 40
#define NAME_NARROW 12 /* below this the rate becomes narrow, */
#define NAME_LEAST 6   /* and below this it goes */
#define SPARK_MIN 8
#define TEXT_MORE 24   /* columns that a second text may have beyond its width */
#define LATENCY_MIN 12 /* lines for the table from which on there is a picture below it */
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

/* A pid is a name: only what grows has thousands marks, and wide columns. */
static bool is_grouped(const struct column *column, const struct layout *layout)
{
	return layout->grouped && column->width >= 9 &&
	       (column->type == CELL_COUNT || column->type == CELL_RATE);
}

static int wanted_width(const struct column *column, const struct layout *layout)
{
	if (column->flags & COLUMN_MACHINE_ONLY)
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

/* By what the columns say themselves: those that are easiest to do without first. */
static void drop_spare(struct layout *layout, const struct column *columns, size_t nr, int cols)
{
	while (cols - 1 - used_width(layout, nr) < NAME_NARROW) {
		size_t sparest = 0;

		for (size_t i = 1; i < nr; i++) {
			if (layout->width[i] && COLUMN_SPARE_OF(columns[i].flags) >
			    COLUMN_SPARE_OF(columns[sparest].flags))
				sparest = i;
		}
		if (!sparest)
			return;
		layout->width[sparest] = 0;
	}
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
	} order[] = { { CELL_SPARK, 24 }, { CELL_PERCENT, 18 }, { CELL_COUNT, 12 },
		      { CELL_TEXT, NAME_LEAST } };

	drop_spare(layout, columns, nr, cols);
	for (size_t t = 0; t < sizeof(order) / sizeof(order[0]); t++) {
		for (size_t i = 1; i < nr; i++) {
			if (columns[i].type == order[t].type &&
			    !COLUMN_SPARE_OF(columns[i].flags) &&
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

/* Texts beside the name may be long, too. Returns what they took. */
static int widen_texts(struct layout *layout, const struct column *columns, size_t nr, int room)
{
	int took = 0;

	for (size_t i = 1; i < nr; i++) {
		int more = room - took < TEXT_MORE ? room - took : TEXT_MORE;

		if (columns[i].type != CELL_TEXT || !(columns[i].flags & COLUMN_KEY) ||
		    !layout->width[i])
			continue;
		layout->width[i] += more;
		took += more;
	}
	return took;
}

static void place_columns(struct layout *layout, size_t nr)
{
	int col = 1; /* behind the sign of the tree */

	for (size_t i = 0; i < nr; i++) {
		layout->col[i] = col;
		col += layout->width[i] ? layout->width[i] + 1 : 0;
	}
}

static struct layout layout_of(const struct view *view, int cols)
{
	const struct view_type *type = view->type;
	struct layout layout = { .grouped = cols >= GROUPED_MIN };
	size_t nr = view_columns(type);
	int name, rest;

	for (size_t i = 1; i < nr; i++) {
		if (view_has_column(view, i))
			layout.width[i] = wanted_width(&type->columns[i], &layout);
	}
	drop_columns(&layout, type->columns, nr, cols);
	rest = cols - 1 - used_width(&layout, nr);
	name = rest < type->columns[0].width ? rest : type->columns[0].width;
	rest -= name;
	rest -= widen_texts(&layout, type->columns, nr, rest);
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

static const char *title_of(const struct view *view, size_t column)
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

static bool is_picture(enum cell_type type)
{
	return type == CELL_SPARK || type == CELL_HIST || type == CELL_SPLIT;
}

/* The sign of what is sorted by stands in the gap before the title, or behind one at the left. */
static void paint_column_title(const struct screen *screen, struct grid *grid,
			       const struct layout *layout, int row, size_t i)
{
	const struct column *column = &screen->view->type->columns[i];
	const char *title = title_of(screen->view, i);
	bool is_left = column->type == CELL_TEXT || is_picture(column->type);
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

	if (is_picture(column->type)) {
		paint_picture(screen, grid, row, col, width, cell, style);
		return;
	}
	format_cell(text, sizeof(text), cell, width, is_grouped(column, layout));
	if (column->type != CELL_TEXT)
		col += width - format_width(text);
	grid_put(grid, row, col, style, text);
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
	struct layout layout = layout_of(view, grid->cols);
	/* The Total row is worth a line where there are a few, and adds nothing to a single row. */
	bool wants_total = last_row - first_row >= 4 && view->nr_rows > 1;
	int rows = last_row - first_row - wants_total, below = latency_lines(screen, rows), row;

	rows -= below;
	screen->page_rows = rows > 0 ? (size_t)rows : 0;
	screen->first_row = first_row + 1;
	paint_heading(screen, grid, &layout, first_row);
	scroll(screen);
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
