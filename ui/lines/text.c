// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text log: a line for each sample below headings, as vmstat. Only rows that counted anything
 * have a column.
 *
 * A number is the delta of one interval, as in kvm_stat's log, and the headings name the interval;
 * a gauge's is its level now; "-" means that the row is gone. Headings are printed every 20 samples
 * and when a column is added. A column that counts nothing any more stays at least until the next
 * headings.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/when.h"
#include "lib/xalloc.h"
#include "ui/lines/shared.h"
#include "ui/numbers.h"

#define TIME_WIDTH 19
#define COLUMN_WIDTH 9

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

static int log_start(const struct lines_config *config, void **ret_state, struct error *why)
{
	struct text_log *log = xcalloc(1, sizeof(*log));

	(void)config;
	(void)why;
	*ret_state = log;
	return 0;
}

static void log_end(void *state)
{
	struct text_log *log = state;

	if (log)
		free(log->columns);
	free(log);
}

static bool is_wanted(const struct view *view, const struct view_row *row)
{
	return !lines_is_other(row) && row->cells[0].type == CELL_TEXT &&
	       lines_is_active(view, row);
}

static bool is_row_of(const struct view_row *row, const struct log_column *column)
{
	return row->field == column->field && row->guest == column->guest && !lines_is_other(row);
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

	array_grow(&log->columns, &log->room, log->nr + 1);
	log->columns[log->nr++] = (struct log_column){
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
		char name[LINES_NAME_SIZE];

		if (!is_wanted(view, row))
			continue;
		lines_name(name, sizeof(name), view, row);
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

static int log_print(void *state, FILE *out, const struct lines_sample *sample)
{
	struct text_log *log = state;
	char time[WHEN_SIZE];

	if (needs_headings(log, sample))
		print_headings(log, out, sample);
	when_format_clock(time, sizeof(time), sample->time_ns, true, false);
	fputs(time, out);
	for (size_t i = 0; i < log->nr; i++)
		print_value(out, sample->view, &log->columns[i]);
	fputc('\n', out);
	log->nr_below++;
	return 0;
}

const struct lines_type lines_text = {
	.start = log_start,
	.end = log_end,
	.print = log_print,
};
