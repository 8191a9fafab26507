// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CSV: a line for each sample; the columns are chosen at the start and never change.
 *
 * The value of a counter is its delta, or 0 while nothing counts it. The value of a gauge or peak
 * is its level; kvm_stat wrote the change of the level instead.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/when.h"
#include "lib/xalloc.h"
#include "ui/lines/shared.h"

struct csv_column {
	const char *name; /* the dictionary's */
	uint64_t value;
};

struct csv {
	const struct fields *fields;
	struct csv_column *columns; /* by name */
	size_t nr;
};

void csv_print_name(FILE *out, const char *name)
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

static int has_other_columns(size_t nr_ours, size_t nr_theirs, const char *different,
			     const char *path, struct error *why)
{
	char safe[48];
	size_t len = 0;

	for (; len < sizeof(safe) - 1 && different[len]; len++)
		safe[len] = isprint((unsigned char)different[len]) ? different[len] : '?';
	safe[len] = '\0';
	return error_set(why, -EEXIST,
			 "\"%s\" has other columns (%zu, ours %zu; first difference: \"%s\")",
			 path, nr_theirs, nr_ours, safe);
}

static bool is_time(const char *name)
{
	return strcmp(name, CSV_KVM_STAT_TIME) == 0 || strcmp(name, CSV_TIME) == 0;
}

int csv_check(csv_name_at *name_at, const void *state, char *head, const char *path,
	      struct error *why)
{
	const char *different = NULL, *theirs, *ours;
	size_t nr_theirs = 0, nr_ours = 0;

	for (; (theirs = csv_next_name(&head)); nr_theirs++) {
		if (!nr_theirs && !is_time(theirs))
			return error_set(why, -EINVAL,
					 "\"%s\" is not a CSV log: choose another file", path);
		ours = name_at(state, nr_theirs);
		if (!different && (!ours || strcmp(theirs, ours) != 0))
			different = theirs;
	}
	if (!different)
		different = name_at(state, nr_theirs);
	while (name_at(state, nr_ours))
		nr_ours++;
	return different ? has_other_columns(nr_ours, nr_theirs, different, path, why) : 0;
}

static int compare_columns(const void *a, const void *b)
{
	const struct csv_column *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int csv_start(const struct lines_config *config, void **ret_state, struct error *why)
{
	struct csv *csv = xcalloc(1, sizeof(*csv));

	(void)why;
	csv->columns = xcalloc(fields_count(config->fields) + 1, sizeof(*csv->columns));
	csv->fields = config->fields;
	for (uint32_t i = 0; i < fields_count(config->fields); i++) {
		if (field_set_has(config->columns, i))
			csv->columns[csv->nr++].name = fields_get(config->fields, i)->name;
	}
	qsort(csv->columns, csv->nr, sizeof(*csv->columns), compare_columns);
	*ret_state = csv;
	return 0;
}

static void csv_end(void *state)
{
	struct csv *csv = state;

	if (csv)
		free(csv->columns);
	free(csv);
}

static const char *heading(const void *state, size_t column)
{
	const struct csv *csv = state;

	if (column == 0)
		return CSV_KVM_STAT_TIME;
	return column <= csv->nr ? csv->columns[column - 1].name : NULL;
}

static int check(const void *state, char *head, const char *path, struct error *why)
{
	return csv_check(heading, state, head, path, why);
}

static void print_header(FILE *out, const struct csv *csv)
{
	for (size_t i = 0; heading(csv, i); i++) {
		if (i)
			fputc(',', out);
		csv_print_name(out, heading(csv, i));
	}
	fputc('\n', out);
}

static void take_values(struct csv *csv, const struct view *view)
{
	for (size_t i = 0; i < csv->nr; i++)
		csv->columns[i].value = 0;
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];
		struct csv_column wanted = { 0 }, *column;

		if (row->field == FIELD_NONE)
			continue;
		wanted.name = fields_get(csv->fields, row->field)->name;
		column = bsearch(&wanted, csv->columns, csv->nr, sizeof(wanted), compare_columns);
		if (column)
			column->value = lines_count(lines_value(view, row));
	}
}

static int csv_print(void *state, FILE *out, const struct lines_sample *sample)
{
	struct csv *csv = state;
	char time[WHEN_SIZE];

	if (sample->needs_header)
		print_header(out, csv);
	take_values(csv, sample->view);
	when_format_clock(time, sizeof(time), sample->time_ns, true, false);
	fputs(time, out);
	for (size_t i = 0; i < csv->nr; i++)
		fprintf(out, ",%" PRIu64, csv->columns[i].value);
	fputc('\n', out);
	return 0;
}

const struct lines_type lines_csv = {
	.start = csv_start,
	.end = csv_end,
	.check = check,
	.print = csv_print,
};
