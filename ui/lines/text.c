// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text as kvm_stat's, of events and of guests.
 *
 * Batch: a line for each row with kvm_stat's columns: name, total and delta.
 *
 * The log: a line for each sample below headings, as vmstat. Only rows that counted anything have a
 * column. A number is the delta of one interval, as in kvm_stat's log, and the headings name the
 * interval; a gauge's is its level now; "-" means that the row is gone. Headings are printed every
 * 20 samples and when a column is added. A column that counts nothing any more stays at least until
 * the next headings.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/when.h"
#include "lib/xalloc.h"
#include "ui/lines/format.h"
#include "ui/numbers.h"
#include "core/views/view.h"

#define NAME_SIZE (GUEST_NAME_SIZE + 32)
#define NAME_WIDTH 42 /* of batch */
#define NUMBER_WIDTH 10
#define TIME_WIDTH 19
#define COLUMN_WIDTH 9

static const char *name_of(const struct view_row *row)
{
	return row->cells[0].type == CELL_TEXT ? row->cells[0].text : "-";
}

static bool has_namesake(const struct view *view, const struct view_row *row)
{
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (&view->rows[i] != row && strcmp(name_of(&view->rows[i]), name_of(row)) == 0)
			return true;
	}
	return false;
}

/* The event or guest of the row. Guests of one name are told apart by pid: "db1(4711)". */
static void format_name(char *buf, size_t size, const struct view *view,
			const struct view_row *row)
{
	const struct cell *pid = lines_cell(view, row, COL_PID);

	if (pid->type == CELL_COUNT && has_namesake(view, row))
		snprintf(buf, size, "%s(%" PRIu64 ")", name_of(row), pid->count);
	else
		snprintf(buf, size, "%s", name_of(row));
}

/* "other": belongs to a parent and means nothing on a line of its own. */
static bool is_other(const struct view_row *row)
{
	return row->is_rest && row->field == FIELD_NONE && row->guest == GUEST_ALL;
}

/* ---- batch */

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
	char name[NAME_SIZE], number[24];
	int width;

	format_name(name, sizeof(name), view, row);
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

static void print(void *state, FILE *out, const struct lines_sample *sample)
{
	(void)state;
	for (size_t i = 0; i < sample->view->nr_rows; i++) {
		const struct view_row *row = &sample->view->rows[i];

		if (!is_other(row) && lines_has_row(sample, row))
			print_row(out, sample->view, row);
	}
}

const struct lines_type lines_batch = {
	.print = print,
};

/* ---- the log */

struct log_column {
	uint32_t field, guest; /* of its row */
	int width;
};

struct text_log {
	struct log_column *columns;
	size_t nr, room;
	uint64_t nr_below; /* samples since the headings */
	bool has_interval; /* the headings name it */
};

static void *log_start(const struct lines_config *config)
{
	(void)config;
	return xcalloc(1, sizeof(struct text_log));
}

static void log_end(void *state)
{
	struct text_log *log = state;

	free(log->columns);
	free(log);
}

/* Whether the row has a name, and counted anything, now or before. */
static bool is_wanted(const struct view *view, const struct view_row *row)
{
	return !is_other(row) && row->cells[0].type == CELL_TEXT &&
	       (lines_count(lines_cell(view, row, COL_TOTAL)) ||
		lines_count(lines_cell(view, row, COL_DELTA)));
}

static bool is_row_of(const struct view_row *row, const struct log_column *column)
{
	return row->field == column->field && row->guest == column->guest && !is_other(row);
}

static bool has_column(const struct text_log *log, const struct view_row *row)
{
	for (size_t i = 0; i < log->nr; i++) {
		if (is_row_of(row, &log->columns[i]))
			return true;
	}
	return false;
}

static bool is_complete(const struct text_log *log, const struct view *view)
{
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (is_wanted(view, &view->rows[i]) && !has_column(log, &view->rows[i]))
			return false;
	}
	return true;
}

static bool needs_headings(const struct text_log *log, const struct lines_sample *sample)
{
	return sample->nr == 0 || log->nr_below >= LINES_PAGE ||
	       (!log->has_interval && sample->elapsed_ns) || !is_complete(log, sample->view);
}

static void add_column(struct text_log *log, const struct view_row *row, const char *name)
{
	int width = format_width(name);

	*array_add(log->columns, log->nr, log->room) = (struct log_column){
		.field = row->field,
		.guest = row->guest,
		.width = width > COLUMN_WIDTH ? width : COLUMN_WIDTH,
	};
}

/* Chooses the columns and prints their headings, if there are columns. */
static void print_headings(struct text_log *log, FILE *out, const struct lines_sample *sample)
{
	const struct view *view = sample->view;

	log->nr = 0;
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];
		char name[NAME_SIZE];

		if (!is_wanted(view, row))
			continue;
		format_name(name, sizeof(name), view, row);
		add_column(log, row, name);
		if (log->nr == 1)
			lines_print_interval(out, sample->elapsed_ns, TIME_WIDTH);
		fprintf(out, " %*s%s", log->columns[log->nr - 1].width - format_width(name), "",
			name);
	}
	if (log->nr)
		fputc('\n', out);
	log->nr_below = 0;
	log->has_interval = sample->elapsed_ns > 0;
}

static void print_value(FILE *out, const struct view *view, const struct log_column *column)
{
	char text[32] = "-";

	for (size_t i = 0; i < view->nr_rows; i++) {
		if (!is_row_of(&view->rows[i], column))
			continue;
		format_cell(text, sizeof(text), lines_value(view, &view->rows[i]), column->width,
			    false);
		break;
	}
	fprintf(out, " %*s", column->width, text);
}

static void log_print(void *state, FILE *out, const struct lines_sample *sample)
{
	struct text_log *log = state;
	char time[WHEN_SIZE];

	if (needs_headings(log, sample))
		print_headings(log, out, sample);
	lines_time(sample, false, time, sizeof(time));
	fprintf(out, "%-*s", TIME_WIDTH, time);
	for (size_t i = 0; i < log->nr; i++)
		print_value(out, sample->view, &log->columns[i]);
	fputc('\n', out);
	log->nr_below++;
}

const struct lines_type lines_text = {
	.start = log_start,
	.end = log_end,
	.print = log_print,
};
