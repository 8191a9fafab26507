// SPDX-License-Identifier: GPL-2.0-or-later
/* Times, names and cells of lines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ui/lines/shared.h"

int lines_print_time(char *buf, const struct timespec *when)
{
	struct tm tm;

	if (!localtime_r(&when->tv_sec, &tm))
		return -errno;
	return strftime(buf, LINES_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &tm) ? 0 : -EOVERFLOW;
}

void lines_name(char *buf, size_t size, const struct view *view, const struct view_row *row)
{
	const struct column *columns = view->type->columns;
	int len = snprintf(buf, size, "%s",
			   row->cells[0].type == CELL_TEXT ? row->cells[0].text : "-");

	if (row->vcpu >= 0 && (size_t)len < size) {
		snprintf(buf + len, size - (size_t)len, "/%d", (int)row->vcpu);
		return;
	}
	for (size_t i = 1; columns[i].id && (size_t)len < size; i++) {
		if (columns[i].flags & COLUMN_KEY && row->cells[i].type == CELL_TEXT)
			len += snprintf(buf + len, size - (size_t)len, " %s", row->cells[i].text);
	}
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
