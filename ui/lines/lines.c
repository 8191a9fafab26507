// SPDX-License-Identifier: GPL-2.0-or-later
/* The recorder: one record after the other in one of the formats, to a file or standard output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/lines/file.h"
#include "ui/lines/lines.h"
#include "ui/lines/lines_private.h"

static const struct record_type *const types[] = {
	[RECORD_BATCH] = &record_batch,
	[RECORD_TEXT] = &record_text,
	[RECORD_CSV] = &record_csv,
	[RECORD_JSON] = &record_json,
	[RECORD_ROWS] = &record_rows,
	[RECORD_LOG_ROWS] = &record_log_rows,
	[RECORD_TABLE] = &record_table,
};

struct recorder {
	struct recorder_config config;
	const struct record_type *type;
	void *state;
	struct record_file file;
	uint64_t nr; /* see struct record */
};

int record_print_time(char *buf, const struct timespec *when)
{
	struct tm tm;

	if (!localtime_r(&when->tv_sec, &tm))
		return -errno;
	return strftime(buf, RECORD_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &tm) ? 0 : -EOVERFLOW;
}

void record_name(char *buf, size_t size, const struct view *view, const struct view_row *row)
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

const char *record_id(const struct view *view, size_t column, char *buf)
{
	const char *id = view->type->columns[column].id;
	size_t len = strlen(id);

	if (!view->is_cycles || len < 3 || strcmp(id + len - 3, "_ns") != 0)
		return id;
	snprintf(buf, RECORD_ID_SIZE, "%.*s_cycles", (int)len - 3, id);
	return buf;
}

const struct cell *record_cell(const struct view *view, const struct view_row *row, const char *id)
{
	static const struct cell none = { .type = CELL_NONE };
	int column = view_column_by_id(view->type, id);

	return column < 0 ? &none : &row->cells[column];
}

uint64_t record_count(const struct cell *cell)
{
	return cell->type == CELL_COUNT ? cell->count : 0;
}

const struct cell *record_value(const struct view *view, const struct view_row *row)
{
	const struct cell *delta = record_cell(view, row, "delta");

	return delta->type == CELL_NONE ? record_cell(view, row, "total") : delta;
}

bool record_is_other(const struct view_row *row)
{
	return row->is_rest && row->field == FIELD_NONE && row->guest == GUEST_ANY;
}

bool record_is_active(const struct view *view, const struct view_row *row)
{
	return record_count(record_cell(view, row, "total")) > 0 ||
	       record_count(record_cell(view, row, "delta")) > 0;
}

static bool is_zero(const struct view *view)
{
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (record_count(record_cell(view, &view->rows[i], "delta")) > 0)
			return false;
	}
	return true;
}

static int open_file(const struct recorder *recorder, struct record_file *ret_file, struct why *why)
{
	struct record_file file;
	char *head = NULL;
	int err = record_file_open(recorder->config.path, recorder->config.overwrites, &file, why);

	if (err)
		return err;
	if (recorder->type->check)
		err = record_file_head(&file, &head, why);
	if (!err && head)
		err = recorder->type->check(recorder->state, head, file.path, why);
	free(head);
	if (err)
		record_file_close(&file, NULL);
	else
		*ret_file = file;
	return err;
}

static void recorder_free(struct recorder *recorder)
{
	if (recorder->type->end)
		recorder->type->end(recorder->state);
	free(recorder);
}

int recorder_open(const struct recorder_config *config, struct recorder **ret_recorder,
		  struct why *why)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err = 0;

	if (!recorder)
		return why_set(why, -ENOMEM, "no memory");
	recorder->config = *config;
	recorder->type = types[config->format];
	if (recorder->type->start)
		err = recorder->type->start(config, &recorder->state, why);
	if (!err)
		err = open_file(recorder, &recorder->file, why);
	if (err)
		recorder_free(recorder);
	else
		*ret_recorder = recorder;
	return err;
}

/* Standard output, which may end on a screen, has headers again and again; a file has one. */
static bool needs_header(const struct recorder *recorder)
{
	if (!recorder->file.path)
		return recorder->nr % RECORD_PAGE == 0;
	if (!recorder->file.is_regular)
		return recorder->nr == 0;
	return record_file_is_empty(&recorder->file);
}

/* Into memory first, so that it gets out in one piece. */
static int print(const struct recorder *recorder, const struct record *record, char **ret_text,
		 size_t *ret_size)
{
	FILE *out = open_memstream(ret_text, ret_size);
	int err;

	if (!out)
		return -errno;
	err = recorder->type->print(recorder->state, out, record);
	if (fclose(out) != 0 && !err)
		err = -ENOMEM;
	return err;
}

int recorder_write(struct recorder *recorder, const struct view *view, const struct timespec *when,
		   uint64_t elapsed_ns, struct why *why)
{
	struct record record = {
		.config = &recorder->config,
		.view = view,
		.when = when,
		.elapsed_ns = elapsed_ns,
		.nr = recorder->nr,
		.needs_header = needs_header(recorder),
	};
	char *text = NULL;
	size_t size;
	int err;

	if (recorder->config.skip_zero && is_zero(view))
		return 0;
	err = print(recorder, &record, &text, &size);
	if (err)
		why_set(why, err, "cannot print a record: %s", strerror(-err));
	else
		err = record_file_write(&recorder->file, text, size, why);
	free(text);
	/* Who reads on after an error sees the headings again. */
	recorder->nr = err ? 0 : recorder->nr + 1;
	return err;
}

int recorder_reopen(struct recorder *recorder, struct why *why)
{
	struct record_file old = recorder->file;
	int err;

	if (!old.path)
		return 0;
	/* When it fails, records still have the old file to go to. */
	err = open_file(recorder, &recorder->file, why);
	if (err)
		return err;
	recorder->nr = 0;
	return record_file_close(&old, why);
}

int recorder_close(struct recorder *recorder, struct why *why)
{
	int err;

	if (!recorder)
		return 0;
	err = record_file_close(&recorder->file, why);
	recorder_free(recorder);
	return err;
}
