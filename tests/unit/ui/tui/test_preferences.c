// SPDX-License-Identifier: GPL-2.0-or-later
/* The file of preferences: its lines, wrong lines, and what is written into it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "tests/unit/unit.h"
#include "ui/tui/tui.h"
#include "core/views/view.h"

static char wrongs[8][sizeof((struct error){ "" }.text)];
static size_t nr_wrongs;

static void count_wrong(const struct error *error)
{
	assert_true(nr_wrongs < 8);
	snprintf(wrongs[nr_wrongs++], sizeof(wrongs[0]), "%s", error->text);
}

static struct preferences parse(const char *text)
{
	struct preferences preferences = { .view = NULL };

	nr_wrongs = 0;
	preferences_parse(&preferences, text, "F", count_wrong);
	return preferences;
}

TEST(test_lines)
{
	const struct view_type *guests = &view_guests;
	struct preferences preferences = parse("# ours\n\nview=guests # first\n"
					       "sort = guests:pid, events:-total\n"
					       "interval = 0.5\nhide = hist,history\n"
					       "monochrome = yes\nthresholds = /dev/null\n");
	const struct view_order *order = preferences_order(&preferences, guests);

	assert_int_equal(nr_wrongs, 0);
	assert_ptr_equal(preferences.view, guests);
	assert_ptr_equal(order->type, guests);
	assert_int_equal(order->sort, view_column_by_id(guests, "pid"));
	assert_false(order->reverse);
	order = preferences_order(&preferences, &view_events);
	assert_int_equal(order->sort, view_column_by_id(order->type, "total"));
	assert_true(order->reverse);
	assert_true(preferences.interval_s == 0.5);
	assert_string_equal(preferences.hide, "hist history");
	assert_true(preferences.is_monochrome);
	assert_string_equal(preferences.thresholds, "/dev/null");
}

TEST(test_later_lines_win)
{
	struct preferences preferences = parse("interval = 5\nmonochrome = yes\nview = exits\n");

	preferences_parse(&preferences, "interval = 7\nmonochrome = no\n", "G", count_wrong);
	assert_true(preferences.interval_s == 7);
	assert_false(preferences.is_monochrome);
	assert_ptr_equal(preferences.view, &view_exits);
}

TEST(test_wrong_lines)
{
	static const char *const lines[][2] = {
		{ "view", "\"view\": not \"name = value\"" },
		{ "views = guests", "\"views\": no such name; kvmtop-screen(7) lists them" },
		{ "sort = guests", "sort: \"guests\": not VIEW:COLUMN" },
		{ "hide = total nonsense", "hide: \"nonsense\": no such column; names are as for "
					   "--sort, or hist, history" },
		{ "monochrome = 1", "monochrome: \"1\": neither yes nor no" },
		{ "background = white", "background: \"white\": neither dark nor any" },
		{ "thresholds = a", "thresholds: \"a\": not a path that begins with /" },
		{ "thresholds = /a/b c", "thresholds: /a/b c: No such file or directory" },
	};
	const struct preferences nothing = { .view = NULL };
	char text[128], expected[512];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct preferences preferences;

		snprintf(text, sizeof(text), "#\n%s\n", lines[i][0]);
		preferences = parse(text);
		snprintf(expected, sizeof(expected), "F: line 2: %s; the line is skipped",
			 lines[i][1]);
		assert_int_equal(nr_wrongs, 1);
		assert_string_equal(wrongs[0], expected);
		assert_memory_equal(&preferences, &nothing, sizeof(nothing));
	}
}

/* A bad word leaves the whole line out, and the lines after it are read. */
TEST(test_goes_on)
{
	struct preferences preferences =
		parse("view = nonsense\nsort = guests:pid guests:nonsense\ninterval = 0\n"
		      "interval = 2\n");

	assert_int_equal(nr_wrongs, 3);
	assert_null(preferences.view);
	assert_null(preferences.orders[0].type);
	assert_true(preferences.interval_s == 2);
}

TEST(test_write)
{
	static const char before[] = "# mine\nview = exits\nhide = total\nview = host\nfuture = 1";
	char folder[] = "/tmp/kvmtop-test.XXXXXX", path[64], *text;
	struct preferences preferences = parse("view = guests\nsort = guests:-pid\n"
					       "interval = 0.1\n");
	struct error error = { "" };
	size_t size;
	FILE *file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(before, file);
	fclose(file);
	for (int i = 0; i < 2; i++) { /* the second time changes nothing */
		assert_int_equal(preferences_write(&preferences, path, &error), 0);
		assert_int_equal(read_whole(path, 4096, &text, &size), 0);
		assert_string_equal(text, "# mine\nview = guests\nhide = total\nfuture = 1\n"
					  "sort = guests:-pid\ninterval = 0.1\n");
		free(text);
	}
	unlink(path);
	rmdir(folder);
}

TEST(test_path)
{
	char path[64];

	setenv("HOME", "/home/a", 1);
	setenv("XDG_CONFIG_HOME", "/c", 1);
	preferences_path(path, sizeof(path));
	assert_string_equal(path, "/c/kvmtop/config");
	unsetenv("XDG_CONFIG_HOME");
	preferences_path(path, sizeof(path));
	assert_string_equal(path, "/home/a/.config/kvmtop/config");
	unsetenv("HOME");
	preferences_path(path, sizeof(path));
	assert_string_equal(path, "");
}
