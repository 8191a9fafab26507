// SPDX-License-Identifier: GPL-2.0-or-later
/* A row a line below a line with the columns' ids: a whole table as CSV. Durations are in ns. */
#include <inttypes.h>
#include <stdio.h>

#include "ui/record_private.h"

static bool is_picture(enum cell_type type)
{
	return type == CELL_SPARK || type == CELL_HIST || type == CELL_SPLIT;
}

/* What is absent is empty. Thousandths by hand: printf() writes the decimal point of the locale. */
static void print_cell(FILE *out, const struct column *column, const struct cell *cell)
{
	uint64_t thousandths;

	if (cell->type == CELL_TEXT && column->type == CELL_TEXT)
		csv_print_name(out, cell->text);
	else if (cell->type == CELL_COUNT)
		fprintf(out, "%" PRIu64, cell->count);
	else if (cell->type == CELL_NS)
		fprintf(out, "%" PRIu64, cell->ns);
	if ((cell->type != CELL_PERCENT && cell->type != CELL_RATE) ||
	    !(cell->number >= 0 && cell->number < 1e15))
		return;
	thousandths = (uint64_t)(cell->number * 1000 + 0.5);
	fprintf(out, "%" PRIu64 ".%03" PRIu64, thousandths / 1000, thousandths % 1000);
}

/* row: NULL for the ids. */
static void print_line(FILE *out, const struct view *view, const struct view_row *row)
{
	const struct column *columns = view->type->columns;
	const char *comma = "";

	for (size_t i = 0; columns[i].id; i++) {
		if (is_picture(columns[i].type))
			continue;
		fputs(comma, out);
		comma = ",";
		if (row)
			print_cell(out, &columns[i], &row->cells[i]);
		else
			fputs(columns[i].id, out);
	}
	fputc('\n', out);
}

static int print(void *state, FILE *out, const struct record *record)
{
	(void)state;
	print_line(out, record->view, NULL);
	for (size_t i = 0; i < record->view->nr_rows; i++)
		print_line(out, record->view, &record->view->rows[i]);
	return 0;
}

const struct record_type record_rows = {
	.print = print,
};
