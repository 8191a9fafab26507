// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints a view as lines of text below headings, once or as a log, which has the time in each line.
 *
 * A log also has the columns that are for programs only, such as the longest exit of an interval.
 * Its columns keep their width where they can, so that headings are rare.
 */
#include <stdlib.h>

#include "lib/when.h"
#include "lib/xalloc.h"
#include "ui/lines/format.h"
#include "ui/numbers.h"
#include "core/views/view.h"

#define CELL_SIZE 512
#define TEXT_MAX 128 /* columns of a name, */
#define SENTENCE_MAX 400 /* and of a sentence */
#define INDENT 4 /* of the sentences below a row */
#define TIME_WIDTH 29
#define CHILD_INDENT 2 /* of what is below another row, */
#define INDENT_MAX 40  /* up to this */

static bool is_printed(const struct view *view, size_t column, bool is_log)
{
	const struct column *type = &view->type->columns[column];

	return (is_log || !(type->is_for_machines || column_is_sentence(type))) &&
	       !type->is_marked && !cell_is_picture(column_type(type)) &&
	       view_has_column(view, column);
}

static void print_cell(char *buf, size_t size, const struct view *view, const struct view_row *row,
		       size_t column)
{
	const struct cell *cell = &row->cells[column];
	struct cell cycles = cell_count(cell->ns);
	bool is_sentence = column_is_sentence(&view->type->columns[column]);
	int indent = column || view_has_whole_names(view) ? 0 : CHILD_INDENT * row->depth;

	for (int i = 0; i < indent && i < INDENT_MAX; i++) {
		*buf++ = ' ';
		size--;
	}
	format_cell(buf, size, view->unit == UNIT_CYCLES && cell->type == CELL_NS ? &cycles : cell,
		    is_sentence ? SENTENCE_MAX : TEXT_MAX, false);
}

static void widen(int *width, const struct view *view, const struct view_row *row, size_t column)
{
	char text[CELL_SIZE];

	print_cell(text, sizeof(text), view, row, column);
	if (format_width(text) > *width)
		*width = format_width(text);
}

/* The width of a column before any row is seen. */
static int default_width(const struct lines_config *config, const struct column *column)
{
	bool is_text = column_type(column) == CELL_TEXT;

	if (config->has_time)
		return is_text ? 0 : column_width(column);
	return !config->goes_on ? 0 : is_text ? column->least : column_width(column);
}

/* Where samples follow, columns have at least their default width, so that wider ones are rare. */
static void measure(const struct view *view, const struct lines_config *config, int *ret_widths)
{
	const struct column *columns = view->type->columns;

	for (size_t c = 0; columns[c].id; c++) {
		int least = default_width(config, &columns[c]);

		ret_widths[c] = 0;
		if (!is_printed(view, c, config->has_time))
			continue;
		ret_widths[c] = format_width(view_title(view, c));
		if (least > ret_widths[c])
			ret_widths[c] = least;
		for (size_t i = 0; i < view->nr_rows; i++)
			widen(&ret_widths[c], view, &view->rows[i], c);
	}
}

/* Texts are left-aligned, numbers right-aligned. No blanks follow the last column. */
static void print_text(FILE *out, const struct view *view, size_t column, int width,
		       const char *text, bool is_first, bool is_last)
{
	int blanks = width - format_width(text);
	bool is_left = column_type(&view->type->columns[column]) == CELL_TEXT;

	fprintf(out, "%s%*s%s%*s", is_first ? "" : "  ", is_left ? 0 : blanks, "", text,
		is_left && !is_last ? blanks : 0, "");
}

/* row: NULL for the headings. */
static void print_line(FILE *out, const struct view *view, const int *widths,
		       const struct view_row *row)
{
	const struct column *columns = view->type->columns;
	char text[CELL_SIZE];
	size_t first = VIEW_COLUMNS, last = 0;

	for (size_t c = 0; columns[c].id; c++) {
		first = widths[c] && first == VIEW_COLUMNS ? c : first;
		last = widths[c] ? c : last;
	}
	for (size_t c = 0; columns[c].id; c++) {
		if (!widths[c])
			continue;
		if (row)
			print_cell(text, sizeof(text), view, row, c);
		else
			snprintf(text, sizeof(text), "%s", view_title(view, c));
		print_text(out, view, c, widths[c], text, c == first, c == last);
	}
	fputc('\n', out);
}

static int line_width(const struct view *view, const int *widths)
{
	int width = -2;

	for (size_t c = 0; view->type->columns[c].id; c++)
		width += widths[c] ? widths[c] + 2 : 0;
	return width;
}

/* Drops columns until a line fits; columns with the highest rank are dropped first. */
static void drop_columns(const struct view *view, int *widths, int room)
{
	while (line_width(view, widths) > room) {
		int most = 0;
		size_t drop = 0;

		for (size_t c = 0; view->type->columns[c].id; c++) {
			int rank = view->type->columns[c].rank;

			if (widths[c] && rank > most) {
				most = rank;
				drop = c;
			}
		}
		if (!most)
			return;
		widths[drop] = 0;
	}
}

/* The sentences of a row, each below the other, in lines of whole words. room 0: no limit. */
static void print_below(FILE *out, const struct view *view, const struct view_row *row, int room)
{
	const struct column *columns = view->type->columns;
	int width = room > 2 * INDENT ? room - INDENT : CELL_SIZE;

	for (size_t c = 0; columns[c].id; c++) {
		char text[CELL_SIZE];
		const char *rest = text, *line;
		int len;

		if (!(column_is_sentence(&columns[c])) || row->cells[c].type != CELL_TEXT)
			continue;
		snprintf(text, sizeof(text), "%s: %s", column_title(&columns[c]),
			 row->cells[c].text);
		while ((line = line_of_words(&rest, width, &len)))
			fprintf(out, "%*s%.*s\n", INDENT, "", len, line);
	}
}

struct table_log {
	int widths[VIEW_COLUMNS];
	uint64_t nr_below; /* lines since the headings */
};

static void *start(const struct lines_config *config)
{
	(void)config;
	return xcalloc(1, sizeof(struct table_log));
}

/* Makes columns wider, never narrower. Returns whether any became wider. */
static bool widen_columns(struct table_log *log, const struct view *view, const int *widths)
{
	bool any = false;

	for (size_t c = 0; view->type->columns[c].id; c++) {
		if (widths[c] <= log->widths[c])
			continue;
		log->widths[c] = widths[c];
		any = true;
	}
	return any;
}

/*
 * Where samples follow, headings are printed again only when a column became wider, and in a log
 * every page.
 */
static void print(void *state, FILE *out, const struct lines_sample *sample)
{
	const struct lines_config *config = sample->config;
	const struct view *view = sample->view;
	struct table_log *log = state;
	bool is_log = config->has_time;
	char time[WHEN_SIZE];
	int widths[VIEW_COLUMNS];

	if (is_log && !view->nr_rows)
		return;
	if (!is_log && !config->goes_on)
		*log = (struct table_log){ 0 };
	measure(view, config, widths);
	if (config->room)
		drop_columns(view, widths, config->room);
	if (!is_log && view->lead)
		fprintf(out, "%s\n", view->lead);
	if (widen_columns(log, view, widths) || sample->nr == 0 ||
	    (is_log && log->nr_below >= LINES_PAGE)) {
		if (is_log) {
			lines_print_interval(out, sample->elapsed_ns, TIME_WIDTH);
			fputs("  ", out);
		}
		print_line(out, view, log->widths, NULL);
		log->nr_below = 0;
	}
	lines_time(sample, true, time, sizeof(time));
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (!lines_has_row(sample, &view->rows[i]))
			continue;
		if (is_log)
			fprintf(out, "%-*s  ", TIME_WIDTH, time);
		print_line(out, view, log->widths, &view->rows[i]);
		if (!is_log)
			print_below(out, view, &view->rows[i], config->room);
		log->nr_below++;
	}
}

const struct lines_type lines_table = {
	.start = start,
	.end = free,
	.print = print,
};
