// SPDX-License-Identifier: GPL-2.0-or-later
/* Times, names and cells of lines. */
#include <inttypes.h>
#include <string.h>

#include "lib/when.h"
#include "ui/lines/format.h"
#include "core/views/view.h"

void lines_time(const struct lines_sample *sample, bool is_iso, char *buf, size_t size)
{
	if (sample->config->start_ns)
		when_format_seconds(buf, size, sample->time_ns - sample->config->start_ns);
	else if (is_iso)
		when_format_iso(buf, size, sample->time_ns);
	else
		when_format_clock(buf, size, sample->time_ns, true, false);
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

bool lines_has_row(const struct lines_sample *sample, const struct view_row *row)
{
	return !sample->config->skip_zero || !view_row_is_quiet(sample->view, row);
}

bool lines_is_written(const struct view *view, size_t column)
{
	const struct column *of = &view->type->columns[column];

	return !(of->is_of_recording || of->is_of_live) || view_has_column(view, column);
}

const char *lines_id(const struct view *view, size_t column, char *buf)
{
	const char *id = column_name(&view->type->columns[column]);
	size_t len = strlen(id);

	if (view->unit == UNIT_NS || len < 3 || strcmp(id + len - 3, "_ns") != 0)
		return id;
	snprintf(buf, LINES_ID_SIZE, "%.*s_cycles", (int)len - 3, id);
	return buf;
}

const struct cell *lines_cell(const struct view *view, const struct view_row *row,
			      enum column_id id)
{
	static const struct cell none = { .type = CELL_NONE };
	int column = view_column(view->type, id);

	return column < 0 ? &none : &row->cells[column];
}

uint64_t lines_count(const struct cell *cell)
{
	return cell->type == CELL_COUNT ? cell->count : 0;
}

const struct cell *lines_value(const struct view *view, const struct view_row *row)
{
	const struct cell *delta = lines_cell(view, row, COL_DELTA);

	return delta->type == CELL_NONE ? lines_cell(view, row, COL_TOTAL) : delta;
}
