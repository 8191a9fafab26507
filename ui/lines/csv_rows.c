// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A whole table as CSV: a line with the columns' ids, then a line for each row. Durations are in
 * ns.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/when.h"
#include "lib/xalloc.h"
#include "ui/lines/shared.h"

/*
 * An absent cell is empty. Thousandths are printed as integers: printf() would write the locale's
 * decimal point.
 */
static void print_cell(FILE *out, const struct column *column, const struct cell *cell)
{
	uint64_t thousandths;
	double number;

	if (cell->type == CELL_TEXT && column_type(column) == CELL_TEXT)
		csv_print_name(out, cell->text);
	else if (cell->type == CELL_COUNT)
		fprintf(out, "%" PRIu64, cell->count);
	else if (cell->type == CELL_NS)
		fprintf(out, "%" PRIu64, cell->ns);
	if (cell->type != CELL_PERCENT && (cell->type != CELL_RATE || cell->number < 0))
		return;
	number = cell->number < 0 ? -cell->number : cell->number;
	if (!(number < 1e15))
		return;
	thousandths = (uint64_t)(number * 1000 + 0.5);
	fprintf(out, "%s%" PRIu64 ".%03" PRIu64, cell->number < 0 ? "-" : "", thousandths / 1000,
		thousandths % 1000);
}

/* row: NULL for the ids. before: text before the first column. */
static void print_line(FILE *out, const struct view *view, const struct view_row *row,
		       const char *before)
{
	const struct column *columns = view->type->columns;
	const char *comma = before[0] ? "," : "";
	char id[LINES_ID_SIZE];

	fputs(before, out);

	for (size_t i = 0; columns[i].id; i++) {
		if (cell_is_picture(column_type(&columns[i])) || !lines_is_written(view, i))
			continue;
		fputs(comma, out);
		comma = ",";
		if (row)
			print_cell(out, &columns[i], &row->cells[i]);
		else
			fputs(lines_id(view, i, id), out);
	}
	fputc('\n', out);
}

static int print(void *state, FILE *out, const struct lines_sample *sample)
{
	(void)state;
	if (!sample->config->goes_on || sample->nr == 0)
		print_line(out, sample->view, NULL, "");
	for (size_t i = 0; i < sample->view->nr_rows; i++)
		print_line(out, sample->view, &sample->view->rows[i], "");
	return 0;
}

/* ---- with the time: guests may come and go */

static int log_start(const struct lines_config *config, void **ret_state, struct error *why)
{
	const struct view_type **type = xmalloc(sizeof(*type));

	(void)why;
	*type = config->type;
	*ret_state = type;
	return 0;
}

static const char *heading(const void *state, size_t i)
{
	const struct view_type *const *type = state;
	const struct column *column = (*type)->columns;

	if (i == 0)
		return CSV_TIME;
	for (; column->id; column++) {
		if (!cell_is_picture(column_type(column)) && !column->is_of_recording &&
		    --i == 0)
			break;
	}
	return column->id ? column_name(column) : NULL;
}

static int log_check(const void *state, char *head, const char *path, struct error *why)
{
	return csv_check(heading, state, head, path, why);
}

static int log_print(void *state, FILE *out, const struct lines_sample *sample)
{
	char time[WHEN_SIZE];

	(void)state;
	when_format_iso(time, sizeof(time), sample->time_ns);
	if (sample->needs_header)
		print_line(out, sample->view, NULL, CSV_TIME);
	for (size_t i = 0; i < sample->view->nr_rows; i++) {
		if (lines_has_row(sample, &sample->view->rows[i]))
			print_line(out, sample->view, &sample->view->rows[i], time);
	}
	return 0;
}

const struct lines_type lines_log_rows = {
	.start = log_start,
	.end = free,
	.check = log_check,
	.print = log_print,
};

const struct lines_type lines_rows = {
	.print = print,
};
