// SPDX-License-Identifier: GPL-2.0-or-later
/* Batch: a line for each row with kvm_stat's columns: name, total and delta. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ui/lines/shared.h"
#include "ui/numbers.h"

#define NAME_WIDTH 42
#define NUMBER_WIDTH 10

/* Prints the number in its columns, or after a blank if the text at its left fills them. */
static void print_number(FILE *out, const char *number, bool is_apart)
{
	bool touches = !is_apart && strlen(number) >= NUMBER_WIDTH;

	fprintf(out, "%s%*s", touches ? " " : "", NUMBER_WIDTH, number);
}

static void format_number(char *buf, size_t size, const struct cell *cell)
{
	if (cell->type == CELL_COUNT)
		snprintf(buf, size, "%" PRIu64, cell->count);
	else
		snprintf(buf, size, "-");
}

static void print_row(FILE *out, const struct view *view, const struct view_row *row)
{
	const struct cell *total = lines_cell(view, row, COL_TOTAL), zero = cell_count(0);
	const struct cell *delta = lines_cell(view, row, COL_DELTA);
	char name[LINES_NAME_SIZE], number[24];
	int width;

	lines_name(name, sizeof(name), view, row);
	width = format_width(name);
	fprintf(out, "%s%*s", name, width < NAME_WIDTH ? NAME_WIDTH - width : 0, "");
	format_number(number, sizeof(number), total);
	print_number(out, number, width < NAME_WIDTH);
	/* A gauge has no delta, but scripts add up the third column. */
	if (delta->type == CELL_NONE && total->type == CELL_COUNT)
		delta = &zero;
	format_number(number, sizeof(number), delta);
	print_number(out, number, false);
	fputc('\n', out);
}

static int print(void *state, FILE *out, const struct lines_sample *sample)
{
	(void)state;
	for (size_t i = 0; i < sample->view->nr_rows; i++) {
		const struct view_row *row = &sample->view->rows[i];

		if (!lines_is_other(row) && lines_has_row(sample, row))
			print_row(out, sample->view, row);
	}
	return 0;
}

const struct lines_type lines_batch = {
	.print = print,
};
