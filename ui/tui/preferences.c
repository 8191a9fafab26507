// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes the file of preferences: one table has its names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/settings.h"
#include "lib/units.h"
#include "lib/file.h"
#include "lib/xalloc.h"
#include "ui/tui/tui.h"
#include "core/views/view.h"

#define FILE_MAX (64u << 10)
#define SEPARATORS " \t,"

_Static_assert(VIEWS + 1 < ORDERS_MAX, "each view has an order, and an empty one ends them");

struct view_order *preferences_order(struct preferences *preferences, const struct view_type *type)
{
	struct view_order *order = preferences->orders;

	while (order->type && order->type != type)
		order++;
	return order;
}

/* ---- values ---- */

static int read_view(struct preferences *preferences, char *text, struct error *error)
{
	return view_type_find(text, &preferences->view, error);
}

static void write_view(const struct preferences *preferences, FILE *file)
{
	if (preferences->view)
		fprintf(file, "view = %s\n", preferences->view->name);
}

/* "guests:rate events:-total": a "-" reverses the order. */
static int read_sort(struct preferences *preferences, char *text, struct error *error)
{
	struct preferences sorted = *preferences;
	char *word;

	while ((word = strsep(&text, SEPARATORS))) {
		struct view_order order = { .type = NULL };
		char *column = strchr(word, ':');
		int err;

		if (!*word)
			continue;
		if (!column)
			return error_set(error, -EINVAL, "\"%s\": not VIEW:COLUMN", word);
		*column++ = '\0';
		order.reverse = *column == '-';
		err = view_type_find(word, &order.type, error);
		if (!err)
			err = view_column_find(order.type, column + order.reverse, false,
					       &order.sort, error);
		if (err)
			return err;
		*preferences_order(&sorted, order.type) = order;
	}
	*preferences = sorted;
	return 0;
}

/* Orders of views that are no tabs are not kept. */
static void write_sort(const struct preferences *preferences, FILE *file)
{
	const char *begin = "sort = ";

	for (const struct view_order *order = preferences->orders; order->type; order++) {
		if (view_type_by_name(order->type->name) != order->type)
			continue;
		fprintf(file, "%s%s:%s%s", begin, order->type->name, order->reverse ? "-" : "",
			column_name(&order->type->columns[order->sort]));
		begin = " ";
	}
	if (*begin == ' ')
		fputc('\n', file);
}

static int read_interval(struct preferences *preferences, char *text, struct error *error)
{
	return seconds_parse(text, DELAY_MIN_S, DELAY_MAX_S, &preferences->interval_s, error);
}

static void write_interval(const struct preferences *preferences, FILE *file)
{
	if (preferences->interval_s > 0)
		fprintf(file, "interval = %.10g\n", preferences->interval_s);
}

static bool is_column(const char *name)
{
	for (size_t i = COL_NONE + 1; i < COLUMNS; i++) {
		if (column_dictionary[i].name && strcmp(column_dictionary[i].name, name) == 0)
			return true;
	}
	return false;
}

static int read_hide(struct preferences *preferences, char *text, struct error *error)
{
	char hide[sizeof(preferences->hide)] = "", *word;

	while ((word = strsep(&text, SEPARATORS))) {
		size_t len = strlen(hide);

		if (!*word)
			continue;
		if (!is_column(word))
			return error_set(error, -EINVAL, "\"%s\": no such column; names are as for "
					 "--sort, or hist, history", word);
		if ((size_t)snprintf(hide + len, sizeof(hide) - len, "%s%s", len ? " " : "",
				     word) >= sizeof(hide) - len)
			return error_set(error, -EINVAL, "more names than fit %zu characters",
					 sizeof(hide) - 1);
	}
	memcpy(preferences->hide, hide, sizeof(hide));
	return 0;
}

static int read_monochrome(struct preferences *preferences, char *text, struct error *error)
{
	bool is_yes = strcmp(text, "yes") == 0;

	if (!is_yes && strcmp(text, "no") != 0)
		return error_set(error, -EINVAL, "\"%s\": neither yes nor no", text);
	preferences->is_monochrome = is_yes;
	return 0;
}

static int read_background(struct preferences *preferences, char *text, struct error *error)
{
	bool is_dark = strcmp(text, "dark") == 0;

	if (!is_dark && strcmp(text, "any") != 0)
		return error_set(error, -EINVAL, "\"%s\": neither dark nor any", text);
	preferences->is_dark = is_dark;
	return 0;
}

static int read_thresholds(struct preferences *preferences, char *text, struct error *error)
{
	if (*text != '/' || strlen(text) >= sizeof(preferences->thresholds))
		return error_set(error, -EINVAL, "\"%s\": not a path that begins with /", text);
	if (access(text, R_OK) < 0)
		return error_set(error, -errno, "%s: %s", text, strerror(errno));
	strcpy(preferences->thresholds, text);
	return 0;
}

static const struct preference {
	const char *name;
	int (*read)(struct preferences *preferences, char *text, struct error *error);
	/* Writes the line; NULL: W does not write it. */
	void (*write)(const struct preferences *preferences, FILE *file);
} table[] = {
	{ "view", read_view, write_view },
	{ "sort", read_sort, write_sort },
	{ "interval", read_interval, write_interval },
	{ "hide", read_hide, NULL },
	{ "monochrome", read_monochrome, NULL },
	{ "background", read_background, NULL },
	{ "thresholds", read_thresholds, NULL },
};

/* ---- files ---- */

/*
 * The row of the table for a line, which is cut. NULL: the line is wrong; with an empty error: a
 * comment.
 */
static const struct preference *find(char *line, char **ret_value, struct error *error)
{
	char *name;

	if (assignment_parse(line, &name, ret_value, error) <= 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	}
	error_set(error, -EINVAL, "\"%s\": no such name; kvmtop-screen(7) lists them", name);
	return NULL;
}

void preferences_parse(struct preferences *preferences, const char *text, const char *path,
		       void (*wrong)(const struct error *error))
{
	char *copy = xstrdup(text), *rest = copy, *line, *value;

	for (unsigned int number = 1; (line = strsep(&rest, "\n")); number++) {
		struct error what = { "" }, error;
		const struct preference *row = find(line, &value, &what);

		if (row ? row->read(preferences, value, &what) == 0 : !what.text[0])
			continue;
		error_set(&error, 0, "%s: line %u: %s%s%s; the line is skipped", path, number,
			  row ? row->name : "", row ? ": " : "", what.text);
		wrong(&error);
	}
	free(copy);
}

void preferences_read(struct preferences *preferences, const char *path,
		      void (*wrong)(const struct error *error))
{
	char *text = NULL;
	size_t size;
	struct error error;
	int err = read_whole(path, FILE_MAX, &text, &size);

	if (!err)
		preferences_parse(preferences, text, path, wrong);
	if (err && err != -ENOENT && err != -ENOTDIR) {
		error_set(&error, err, "%s: %s; the file is skipped", path, strerror(-err));
		wrong(&error);
	}
	free(text);
}

/* Replaces the lines that W writes, and appends missing ones. Other lines stay. */
static void write_lines(const struct preferences *preferences, char *text, FILE *file)
{
	bool is_written[ARRAY_SIZE(table)] = { false };
	char *rest = text, *line, *value;

	while ((line = strsep(&rest, "\n")) && (rest || *line)) {
		char *copy = xstrdup(line);
		const struct preference *row = find(copy, &value, &(struct error){ "" });

		if (!row || !row->write)
			fprintf(file, "%s\n", line);
		else if (!is_written[row - table])
			row->write(preferences, file);
		if (row)
			is_written[row - table] = true;
		free(copy);
	}
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].write && !is_written[i])
			table[i].write(preferences, file);
	}
}

/* Makes the file's folder and the folder above it. The open of the file reports a failure. */
static void make_folders(const char *path)
{
	char *folder = xstrdup(path), *end = strrchr(folder, '/');

	*end = '\0';
	end = strrchr(folder, '/');
	if (end > folder) {
		*end = '\0';
		(void)mkdir(folder, 0700);
		*end = '/';
	}
	(void)mkdir(folder, 0700);
	free(folder);
}

int preferences_write(const struct preferences *preferences, const char *path, struct error *error)
{
	struct whole_file whole = { .file = NULL };
	char *text = NULL;
	size_t size;
	int err;

	make_folders(path);
	err = read_whole(path, FILE_MAX, &text, &size);
	if (err && err != -ENOENT)
		return error_set(error, err, "%s: %s", path, strerror(-err));
	if (err)
		text = xstrdup("");
	err = whole_file_open(&whole, path, error);
	if (!err) {
		write_lines(preferences, text, whole.file);
		err = whole_file_keep(&whole);
		if (err)
			error_set(error, err, "%s: %s", path, strerror(-err));
	}
	free(text);
	return err;
}

void preferences_path(char *ret_path, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	*ret_path = '\0';
	if (config && *config == '/')
		snprintf(ret_path, size, "%s/kvmtop/config", config);
	else if (home && *home == '/')
		snprintf(ret_path, size, "%s/.config/kvmtop/config", home);
}
