// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CSV. Of events a line for each sample, as kvm_stat's: the columns are chosen at the start and
 * never change. The value of a counter is its delta, or 0 while nothing counts it; the value of a
 * gauge or peak is its level, where kvm_stat wrote the change of the level.
 *
 * Every view has a line for each row, below the ids of the view's columns. Durations are in ns.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "lib/when.h"
#include "lib/xalloc.h"
#include "ui/lines/format.h"
#include "core/views/view.h"

/* The first column's heading: of kvm_stat's CSV, and where each row has a line, as in JSON. */
#define KVM_STAT_TIME "timestamp"
#define ROW_TIME "time"

struct csv {
	const struct fields *fields;
	const char **names; /* the headings: of the time, then of events by name, or of columns */
	uint64_t *values;   /* of events */
	size_t nr;	    /* 0: each sample has its own headings */
};

/* Quoted when it must be (RFC 4180). */
static void print_name(FILE *out, const char *name)
{
	if (!strpbrk(name, ",\"\r\n")) {
		fputs(name, out);
		return;
	}
	fputc('"', out);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', out);
		fputc(*name, out);
	}
	fputc('"', out);
}

/* ---- the headings of a log that is continued */

char *csv_next_name(char **at)
{
	char *in = *at, *out = *at, *name = *at;
	bool is_quoted = false, is_last;

	if (!name)
		return NULL;
	for (; *in && (is_quoted || (*in != ',' && *in != '\n')); in++) {
		if (*in != '"')
			*out++ = *in;
		else if (is_quoted && in[1] == '"')
			*out++ = *in++;
		else
			is_quoted = !is_quoted;
	}
	/* Read before the name's NUL overwrites it. */
	is_last = *in != ',';
	*out = '\0';
	*at = is_last ? NULL : in + 1;
	return name;
}

static int check(const void *state, char *head, const char *path, struct error *error)
{
	const struct csv *csv = state;
	const char *different = NULL, *theirs;
	size_t nr = 0, len = 0;
	char safe[48];

	for (; (theirs = csv_next_name(&head)); nr++) {
		if (!nr && strcmp(theirs, KVM_STAT_TIME) != 0 && strcmp(theirs, ROW_TIME) != 0)
			return error_set(error, -EINVAL,
					 "\"%s\" is not a CSV log: choose another file", path);
		if (!different && (nr >= csv->nr || strcmp(theirs, csv->names[nr]) != 0))
			different = theirs;
	}
	if (!different && nr < csv->nr)
		different = csv->names[nr];
	if (!different)
		return 0;
	for (; len < sizeof(safe) - 1 && different[len]; len++)
		safe[len] = isprint((unsigned char)different[len]) ? different[len] : '?';
	safe[len] = '\0';
	return error_set(error, -EINVAL,
			 "\"%s\" has other columns (%zu, ours %zu; first difference: \"%s\"): "
			 "rename it, or choose another file", path, nr, csv->nr, safe);
}

static void end(void *state)
{
	struct csv *csv = state;

	free(csv->names);
	free(csv->values);
	free(csv);
}

/* ---- a line for each sample */

static void *csv_start(const struct lines_config *config)
{
	struct csv *csv = xcalloc(1, sizeof(*csv));
	uint32_t nr = fields_count(config->fields);

	csv->names = xcalloc(nr + 1, sizeof(*csv->names));
	csv->values = xcalloc(nr + 1, sizeof(*csv->values));
	csv->fields = config->fields;
	csv->names[csv->nr++] = KVM_STAT_TIME;
	for (uint32_t i = 0; i < nr; i++) {
		if (field_set_has(config->columns, i))
			csv->names[csv->nr++] = fields_get(config->fields, i)->name;
	}
	qsort(csv->names + 1, csv->nr - 1, sizeof(*csv->names), text_compare);
	return csv;
}

static void take_values(struct csv *csv, const struct view *view)
{
	memset(csv->values, 0, csv->nr * sizeof(*csv->values));
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];
		const char *name, **found;

		if (row->field == FIELD_NONE)
			continue;
		name = fields_get(csv->fields, row->field)->name;
		found = bsearch(&name, csv->names + 1, csv->nr - 1, sizeof(*csv->names),
				text_compare);
		if (found)
			csv->values[found - csv->names] = lines_count(lines_value(view, row));
	}
}

static void csv_print(void *state, FILE *out, const struct lines_sample *sample)
{
	struct csv *csv = state;
	char time[WHEN_SIZE];

	for (size_t i = 0; sample->needs_header && i < csv->nr; i++) {
		if (i)
			fputc(',', out);
		print_name(out, csv->names[i]);
	}
	if (sample->needs_header)
		fputc('\n', out);
	take_values(csv, sample->view);
	lines_time(sample, false, time, sizeof(time));
	fputs(time, out);
	for (size_t i = 1; i < csv->nr; i++)
		fprintf(out, ",%" PRIu64, csv->values[i]);
	fputc('\n', out);
}

const struct lines_type lines_csv = {
	.start = csv_start,
	.end = end,
	.check = check,
	.print = csv_print,
};

/* ---- a line for each row */

static void *rows_start(const struct lines_config *config)
{
	struct csv *csv = xcalloc(1, sizeof(*csv));
	const struct column *column;

	if (!config->has_time)
		return csv;
	csv->names = xcalloc(VIEW_COLUMNS + 1, sizeof(*csv->names));
	csv->names[csv->nr++] = ROW_TIME;
	for (column = config->type->columns; column->id; column++) {
		if (!cell_is_picture(column_type(column)) && !column->is_of_recording)
			csv->names[csv->nr++] = column_name(column);
	}
	return csv;
}

/* An absent cell is empty. */
static void print_cell(FILE *out, const struct column *column, const struct cell *cell)
{
	if (cell->type == CELL_TEXT && column_type(column) == CELL_TEXT)
		print_name(out, cell->text);
	else if (cell->type == CELL_COUNT)
		fprintf(out, "%" PRIu64, cell->count);
	else if (cell->type == CELL_NS)
		fprintf(out, "%" PRIu64, cell->ns);
	else if (cell->type == CELL_PERCENT || (cell->type == CELL_RATE && cell->number >= 0))
		lines_print_number(out, cell->number);
}

/* row: NULL for the ids. time: of a log, before the first column; "": none. */
static void print_line(FILE *out, const struct view *view, const struct view_row *row,
		       const char *time)
{
	const struct column *columns = view->type->columns;
	const char *comma = time[0] ? "," : "";
	char id[LINES_ID_SIZE];

	fputs(time, out);
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

static void rows_print(void *state, FILE *out, const struct lines_sample *sample)
{
	bool has_time = sample->config->has_time;
	char time[WHEN_SIZE] = "";

	(void)state;
	if (has_time)
		lines_time(sample, true, time, sizeof(time));
	if (has_time ? sample->needs_header : !sample->config->goes_on || sample->nr == 0)
		print_line(out, sample->view, NULL, has_time ? ROW_TIME : "");
	for (size_t i = 0; i < sample->view->nr_rows; i++) {
		if (lines_has_row(sample, &sample->view->rows[i]))
			print_line(out, sample->view, &sample->view->rows[i], time);
	}
}

const struct lines_type lines_rows = {
	.start = rows_start,
	.end = end,
	.check = check,
	.print = rows_print,
};
