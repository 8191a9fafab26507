/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines_world - what the tests of the lines share: a folder, a view made by hand, the output.
 */
#ifndef KVMTOP_TESTS_WORLDS_LINES_WORLD_H
#define KVMTOP_TESTS_WORLDS_LINES_WORLD_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ui/lines/lines.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "tests/unit/unit.h"

#define SECONDS UINT64_C(1000000000)
#define WHEN "2026-11-21 01:26:48"		   /* kvm_stat's */
#define WHEN_EXACTLY "2026-11-21T01:26:48.123+01:00" /* of all other columns */

/* What every test has: a folder, a dictionary, and an events view to fill in. */
struct world {
	char dir[32], path[64], other[64];
	struct fields *fields;
	struct field_set columns;
	struct view view;
	struct lines *lines;
	struct error error;
	char *text;	/* what was read last */
	int saved_stdout; /* < 0: standard output is as it was */
};

static const uint64_t when = UINT64_C(1795220808123456789); /* CLOCK_REALTIME */

static inline void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static inline int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	strcpy(w->dir, "/tmp/kvmtop-lines.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->path, sizeof(w->path), "%s/log", w->dir);
	snprintf(w->other, sizeof(w->other), "%s/log.1", w->dir);
	w->fields = fields_new();
	view_begin(&w->view, &view_events);
	w->view.absent = UINT64_C(1) << view_column_by_id(&view_events, "hist");
	w->saved_stdout = -1;
	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	*state = w;
	return 0;
}

static inline void restore_stdout(struct world *w)
{
	if (w->saved_stdout < 0)
		return;
	fflush(stdout);
	dup2(w->saved_stdout, STDOUT_FILENO);
	close(w->saved_stdout);
	w->saved_stdout = -1;
}

static inline int tear_down(void **state)
{
	struct world *w = *state;

	restore_stdout(w);
	lines_close(w->lines, NULL);
	view_release(&w->view);
	field_set_release(&w->columns);
	fields_free(w->fields);
	unlink(w->path);
	unlink(w->other);
	rmdir(w->dir);
	free(w->text);
	free(w);
	return 0;
}

static inline void replace_stdout(struct world *w, int fd)
{
	fflush(stdout);
	w->saved_stdout = dup(STDOUT_FILENO);
	assert_true(w->saved_stdout >= 0);
	assert_true(dup2(fd, STDOUT_FILENO) >= 0);
}

/* Standard output goes to w->path until restore_stdout(). */
static inline void capture_stdout(struct world *w)
{
	FILE *file = fopen(w->path, "w");

	assert_non_null(file);
	replace_stdout(w, fileno(file));
	fclose(file);
}

static inline const char *read_file(struct world *w, const char *path)
{
	FILE *file = fopen(path, "r"), *out;
	size_t size;

	assert_non_null(file);
	free(w->text);
	w->text = NULL;
	out = open_memstream(&w->text, &size);
	assert_non_null(out);
	for (int c; (c = fgetc(file)) != EOF;)
		fputc(c, out);
	fclose(file);
	fclose(out);
	/* Not an assertion: analyzers do not see that assertions never return. */
	if (!w->text)
		abort();
	return w->text;
}

/* For the caller to free; read_file() drops what it read before. */
static inline char *copy_text(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		abort();
	return copy;
}

static inline void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

static inline void file_is(struct world *w, const char *path, const char *wanted)
{
	assert_string_equal(read_file(w, path), wanted);
}

static inline size_t count_text(const char *in, const char *text)
{
	size_t nr = 0;

	for (; (in = strstr(in, text)); in += strlen(text))
		nr++;
	return nr;
}

/* A row of a field that is in the dictionary and among the CSV's columns from then on. */
static inline struct view_row *add_level(struct world *w, const char *name, enum field_kind kind,
				  uint64_t total)
{
	struct field spec = { .name = name, .parent = FIELD_NONE, .kind = kind };
	struct view_row *row = view_add(&w->view);
	uint32_t id;

	assert_non_null(row);
	id = fields_add(w->fields, &spec);
	field_set_add(&w->columns, id);
	row->field = id;
	row->depth = strchr(name, '(') != NULL;
	row->cells[0] = cell_text(fields_get(w->fields, id)->name);
	row->cells[view_column_by_id(&view_events, "total")] = cell_count(total);
	return row;
}

static inline struct view_row *add_event(struct world *w, const char *name, uint64_t total,
						 uint64_t delta)
{
	struct view_row *row = add_level(w, name, FIELD_COUNTER, total);

	row->cells[view_column_by_id(&view_events, "delta")] = cell_count(delta);
	return row;
}

static inline struct view_row *add_other(struct world *w, uint64_t total, uint64_t delta)
{
	struct view_row *row = view_add(&w->view);

	assert_non_null(row);
	row->is_rest = true;
	row->depth = 1;
	row->cells[0] = cell_text("other");
	row->cells[view_column_by_id(&view_events, "total")] = cell_count(total);
	row->cells[view_column_by_id(&view_events, "delta")] = cell_count(delta);
	return row;
}

static inline struct view_row *add_guest(struct world *w, uint32_t guest, const char *name,
						 uint64_t delta)
{
	struct view_row *row;

	w->view.type = &view_guests;
	w->view.absent = 0;
	row = view_add(&w->view);
	assert_non_null(row);
	row->guest = guest;
	row->is_rest = guest == STATS_ENDED;
	row->cells[0] = cell_text(name);
	row->cells[view_column_by_id(&view_guests, "pid")] = cell_count(4000 + guest);
	row->cells[view_column_by_id(&view_guests, "total")] = cell_count(10 * delta);
	row->cells[view_column_by_id(&view_guests, "delta")] = cell_count(delta);
	return row;
}

#define LOG 0x100 /* with a format of every view: has_time */

static inline int try_open(struct world *w, unsigned int format, const char *path,
			   bool skip_zero)
{
	struct lines_config config = {
		.format = (enum lines_format)(format & ~(unsigned int)LOG),
		.has_time = format & LOG,
		.path = path,
		.skip_zero = skip_zero,
		.fields = w->fields,
		.columns = &w->columns,
		.type = w->view.type,
	};

	return lines_open(&config, &w->lines, &w->error);
}

static inline void open_log(struct world *w, unsigned int format)
{
	assert_int_equal(try_open(w, format, w->path, false), 0);
}

static inline void open_stdout(struct world *w, unsigned int format)
{
	capture_stdout(w);
	assert_int_equal(try_open(w, format, NULL, false), 0);
}

static inline void write_sample(struct world *w)
{
	assert_int_equal(lines_write(w->lines, &w->view, when, 3 * SECONDS, &w->error), 0);
}

static inline void close_log(struct world *w)
{
	struct lines *lines = w->lines;

	w->lines = NULL;
	restore_stdout(w);
	assert_int_equal(lines_close(lines, &w->error), 0);
}

/* One sample of the view as it is. */
static inline const char *lines_once(struct world *w, unsigned int format)
{
	unlink(w->path);
	open_log(w, format);
	write_sample(w);
	close_log(w);
	return read_file(w, w->path);
}

#endif
