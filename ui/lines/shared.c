// SPDX-License-Identifier: GPL-2.0-or-later
/* Times, names and cells of lines. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/lines/shared.h"

int lines_print_time(char *buf, const struct timespec *when)
{
	struct tm tm;

	if (!localtime_r(&when->tv_sec, &tm))
		return -errno;
	return strftime(buf, LINES_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &tm) ? 0 : -EOVERFLOW;
}

int lines_print_exact_time(char *buf, const struct timespec *when)
{
	struct tm tm;
	size_t len;
	long minutes;

	if (!localtime_r(&when->tv_sec, &tm))
		return -errno;
	len = strftime(buf, LINES_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!len)
		return -EOVERFLOW;
	minutes = labs(tm.tm_gmtoff) / 60;
	snprintf(buf + len, LINES_TIME_SIZE - len, ".%03ld%c%02ld:%02ld",
		 when->tv_nsec / 1000000, tm.tm_gmtoff < 0 ? '-' : '+', minutes / 60,
		 minutes % 60);
	return 0;
}

void lines_print_interval(FILE *out, uint64_t elapsed_ns, int width)
{
	uint64_t tenths = (elapsed_ns + 50000000) / 100000000;
	char text[64] = "time";

	/* %f would write the decimal point of the locale. */
	if (tenths)
		snprintf(text, sizeof(text), "time (per %" PRIu64 ".%" PRIu64 " s)", tenths / 10,
			 tenths % 10);
	fprintf(out, "%-*s", width, text);
}

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

void lines_name(char *buf, size_t size, const struct view *view, const struct view_row *row)
{
	const struct cell *pid = lines_cell(view, row, "pid");

	if (pid->type == CELL_COUNT && has_namesake(view, row))
		snprintf(buf, size, "%s(%" PRIu64 ")", name_of(row), pid->count);
	else
		snprintf(buf, size, "%s", name_of(row));
}

bool lines_has_row(const struct lines_sample *sample, const struct view_row *row)
{
	return !sample->config->skip_zero || !view_row_is_quiet(sample->view, row);
}

const char *lines_id(const struct view *view, size_t column, char *buf)
{
	const char *id = view->type->columns[column].id;
	size_t len = strlen(id);

	if (!view->is_cycles || len < 3 || strcmp(id + len - 3, "_ns") != 0)
		return id;
	snprintf(buf, LINES_ID_SIZE, "%.*s_cycles", (int)len - 3, id);
	return buf;
}

const struct cell *lines_cell(const struct view *view, const struct view_row *row, const char *id)
{
	static const struct cell none = { .type = CELL_NONE };
	int column = view_column_by_id(view->type, id);

	return column < 0 ? &none : &row->cells[column];
}

uint64_t lines_count(const struct cell *cell)
{
	return cell->type == CELL_COUNT ? cell->count : 0;
}

const struct cell *lines_value(const struct view *view, const struct view_row *row)
{
	const struct cell *delta = lines_cell(view, row, "delta");

	return delta->type == CELL_NONE ? lines_cell(view, row, "total") : delta;
}

bool lines_is_other(const struct view_row *row)
{
	return row->is_rest && row->field == FIELD_NONE && row->guest == GUEST_ANY;
}

bool lines_is_active(const struct view *view, const struct view_row *row)
{
	return lines_count(lines_cell(view, row, "total")) > 0 ||
	       lines_count(lines_cell(view, row, "delta")) > 0;
}
