// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines: files that lose, mix and tear nothing, and errors that name their cause. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/unit.h"
#include "tests/worlds/lines_world.h"
#include "ui/numbers.h"
#include "core/views/view.h"

/* A locale with a decimal comma, made if need be and possible. */
static bool use_comma_locale(struct world *w)
{
	char command[512];

	if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		return true;
	/* A whole locale would take a second. */
	snprintf(command, sizeof(command), "cd %s && printf 'LC_NUMERIC\ncopy \"de_DE\"\n"
		 "END LC_NUMERIC\n' | localedef -c -f ANSI_X3.4-1968 ./comma >%s 2>&1",
		 w->dir, w->path);
	setenv("LOCPATH", w->dir, 1);
	return system(command) >= 0 && setlocale(LC_NUMERIC, "comma");
}

static void drop_comma_locale(struct world *w)
{
	char command[128];

	setlocale(LC_ALL, "C.UTF-8");
	unsetenv("LOCPATH");
	snprintf(command, sizeof(command), "rm -rf %s/comma", w->dir);
	if (system(command) != 0)
		print_message("%s: left behind\n", w->dir);
}

TEST(decimals_have_a_point_in_every_locale, set_up, tear_down)
{
	struct world *w = *state;
	struct view_row *row = add_event(w, "kvm_exit", 9, 3);
	bool is_comma = use_comma_locale(w);
	char *json, *text, percent[16], number[16];

	row->cells[view_column_by_id(&view_events, "rate")] =
		(struct cell){ .type = CELL_RATE, .number = 1.5 };
	json = copy_text(lines_once(w, LINES_JSON));
	text = copy_text(lines_once(w, LINES_TEXT));
	format_percent(percent, sizeof(percent), 45.1);
	snprintf(number, sizeof(number), "%.1f", 0.5);
	drop_comma_locale(w);
	if (is_comma)
		assert_string_equal(number, "0,5");
	assert_non_null(strstr(json, "\"elapsed_s\":3.0000,"));
	assert_non_null(strstr(json, "\"rate\":1.500}"));
	assert_non_null(strstr(text, "(per 3.0 s)"));
	assert_string_equal(percent, "45.1");
	free(json);
	free(text);
	if (!is_comma) {
		print_message("no locale de_DE.UTF-8, and none can be made\n");
		skip();
	}
}

TEST(zeros_are_skipped_and_not_counted, set_up, tear_down)
{
	struct world *w = *state;
	int delta = view_column_by_id(&view_events, "delta");

	add_level(w, "pages_4k", FIELD_GAUGE, 5);
	add_event(w, "kvm_exit", 9, 3);
	capture_stdout(w);
	assert_int_equal(try_open(w, LINES_CSV, NULL, true), 0);
	for (int i = 0; i < 40; i++) {
		w->view.rows[1].cells[delta] = cell_count(i % 2);
		write_sample(w);
	}
	w->view.rows[1].cells[delta] = cell_count(7);
	write_sample(w);
	close_log(w);
	assert_int_equal(count_text(read_file(w, w->path), "\n"), 23);
	assert_int_equal(count_text(w->text, ",0,"), 0);
	/* The 20 odd ones, and the last, which is the 21st. */
	assert_string_equal(strstr(w->text + 1, "timestamp"),
			    "timestamp,kvm_exit,pages_4k\n" WHEN ",7,5\n");
}

TEST(zeros_are_skipped_in_every_format, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 0);
	for (int format = LINES_BATCH; format <= LINES_JSON; format++) {
		assert_int_equal(try_open(w, format, w->path, true), 0);
		write_sample(w);
		close_log(w);
		file_is(w, w->path, "");
	}
}

TEST(a_line_cut_by_a_crash_is_ended, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	write_file(w->path, "timestamp,kvm_exit\n2026-11-21 01:2");
	open_log(w, LINES_CSV);
	file_is(w, w->path, "timestamp,kvm_exit\n2026-11-21 01:2");
	write_sample(w);
	write_sample(w);
	close_log(w);
	file_is(w, w->path, "timestamp,kvm_exit\n2026-11-21 01:2\n" WHEN ",3\n" WHEN ",3\n");
	write_file(w->path, "{\"time\":");
	open_log(w, LINES_JSON);
	write_sample(w);
	assert_int_equal(strncmp(read_file(w, w->path), "{\"time\":\n{\"time\":\"2026", 22), 0);
}

TEST(flaw_B2_samples_are_there_at_once, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_CSV);
	write_sample(w);
	/* Not closed, not flushed: as if killed here. */
	file_is(w, w->path, "timestamp,kvm_exit\n" WHEN ",3\n");
}

TEST(flaw_B1_rotation_goes_on_in_a_new_file, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_CSV);
	write_sample(w);
	assert_int_equal(rename(w->path, w->other), 0);
	/* Between the rename and the signal. */
	write_sample(w);
	assert_int_equal(lines_reopen(w->lines, &w->error), 0);
	write_sample(w);
	close_log(w);
	file_is(w, w->other, "timestamp,kvm_exit\n" WHEN ",3\n" WHEN ",3\n");
	file_is(w, w->path, "timestamp,kvm_exit\n" WHEN ",3\n");
}

TEST(reopening_lets_go_of_the_old_file, set_up, tear_down)
{
	struct world *w = *state;
	char command[128];

	open_log(w, LINES_CSV);
	assert_int_equal(rename(w->path, w->other), 0);
	assert_int_equal(lines_reopen(w->lines, &w->error), 0);
	snprintf(command, sizeof(command), "! ls -l /proc/$PPID/fd/ | grep -q '%s'", w->other);
	assert_int_equal(system(command), 0);
}

TEST(rotated_text_has_headings_again, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_TEXT);
	write_sample(w);
	assert_int_equal(rename(w->path, w->other), 0);
	assert_int_equal(lines_reopen(w->lines, &w->error), 0);
	write_sample(w);
	close_log(w);
	assert_int_equal(strncmp(read_file(w, w->path), "time (per", 9), 0);
}

TEST(reopening_without_rotation_appends, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_CSV);
	write_sample(w);
	assert_int_equal(lines_reopen(w->lines, &w->error), 0);
	write_sample(w);
	file_is(w, w->path, "timestamp,kvm_exit\n" WHEN ",3\n" WHEN ",3\n");
}

TEST(reopening_that_fails_keeps_the_old_file, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_CSV);
	assert_int_equal(rename(w->path, w->other), 0);
	write_file(w->path, "kvm_pio\n");
	assert_int_equal(lines_reopen(w->lines, &w->error), -EINVAL);
	write_sample(w);
	close_log(w);
	file_is(w, w->other, "timestamp,kvm_exit\n" WHEN ",3\n");
	file_is(w, w->path, "kvm_pio\n");
}

TEST(reopening_refuses_other_columns, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_CSV);
	assert_int_equal(rename(w->path, w->other), 0);
	write_file(w->path, "timestamp,kvm_pio\n");
	assert_int_equal(lines_reopen(w->lines, &w->error), -EINVAL);
	assert_non_null(strstr(w->error.text,
			       "rename it, or choose another file; until then the old "
			       "file is continued"));
	write_sample(w);
	close_log(w);
	file_is(w, w->path, "timestamp,kvm_pio\n");
	file_is(w, w->other, "timestamp,kvm_exit\n" WHEN ",3\n");
}

TEST(reopening_stdout_does_nothing, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_stdout(w, LINES_CSV);
	write_sample(w);
	assert_int_equal(lines_reopen(w->lines, &w->error), 0);
	write_sample(w);
	close_log(w);
	file_is(w, w->path, "timestamp,kvm_exit\n" WHEN ",3\n" WHEN ",3\n");
}

TEST(a_full_disk_is_an_error, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	if (access("/dev/full", W_OK) != 0) {
		print_message("no /dev/full\n");
		skip();
	}
	for (unsigned int format = LINES_BATCH; format <= LINES_TABLE; format++) {
		assert_int_equal(try_open(w, format, "/dev/full", false), 0);
		assert_int_equal(lines_write(w->lines, &w->view, when, 0, &w->error), -ENOSPC);
		assert_string_equal(w->error.text,
				    "cannot write to \"/dev/full\": No space left on "
				    "device: make room, or choose another file");
		close_log(w);
	}
}

static void limit_file_size(rlim_t size)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(a_record_without_room_leaves_no_piece, set_up, tear_down)
{
	struct world *w = *state;
	int err;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_CSV);
	signal(SIGXFSZ, SIG_IGN);
	/* Not even the header gets in whole; then one sample and a half. */
	limit_file_size(10);
	err = lines_write(w->lines, &w->view, when, 0, &w->error);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(err, -EFBIG);
	file_is(w, w->path, "");
	write_sample(w);
	limit_file_size(50);
	err = lines_write(w->lines, &w->view, when, 0, &w->error);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(err, -EFBIG);
	assert_non_null(strstr(w->error.text, "/log\": File too large"));
	write_sample(w);
	file_is(w, w->path, "timestamp,kvm_exit\n" WHEN ",3\n" WHEN ",3\n");
}

TEST(headings_come_again_after_an_error, set_up, tear_down)
{
	struct world *w = *state;
	int err;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_TEXT);
	signal(SIGXFSZ, SIG_IGN);
	write_sample(w);
	limit_file_size(70);
	err = lines_write(w->lines, &w->view, when, 0, &w->error);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(err, -EFBIG);
	write_sample(w);
	assert_int_equal(count_text(read_file(w, w->path), "time (per 3.0 s)"), 2);
	assert_int_equal(count_text(w->text, "\n"), 4);
}

TEST(a_reader_that_left_is_epipe, set_up, tear_down)
{
	struct world *w = *state;
	int fds[2], err;

	add_event(w, "kvm_exit", 9, 3);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	replace_stdout(w, fds[1]);
	close(fds[1]);
	assert_int_equal(try_open(w, LINES_TEXT, NULL, false), 0);
	err = lines_write(w->lines, &w->view, when, 0, &w->error);
	close_log(w);
	assert_int_equal(err, -EPIPE);
	assert_string_equal(w->error.text, "cannot write to standard output: Broken pipe");
}

/* Text that was printed beside the lines: its failure is reported once, not again at the end. */
TEST(closing_reports_what_was_printed, set_up, tear_down)
{
	struct world *w = *state;
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	replace_stdout(w, fds[1]);
	close(fds[1]);
	assert_int_equal(try_open(w, LINES_TEXT, NULL, false), 0);
	puts("7 in all");
	assert_int_equal(lines_close(w->lines, &w->error), -EPIPE);
	w->lines = NULL;
	assert_false(ferror(stdout));
}

TEST(a_path_without_permission_is_named, set_up, tear_down)
{
	struct world *w = *state;
	bool is_root = geteuid() == 0;
	int err;

	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	err = try_open(w, LINES_TEXT, "/etc/kvmtop-test.log", false);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(err, -EACCES);
	assert_string_equal(w->error.text,
			    "cannot open \"/etc/kvmtop-test.log\": Permission denied");
}

TEST(a_folder_is_no_file, set_up, tear_down)
{
	struct world *w = *state;

	assert_int_equal(try_open(w, LINES_JSON, w->dir, false), -EISDIR);
	assert_non_null(strstr(w->error.text, "Is a directory"));
}

TEST(files_are_appended_to, set_up, tear_down)
{
	struct world *w = *state;

	write_file(w->path, "before\n");
	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_BATCH);
	write_sample(w);
	file_is(w, w->path,
		"before\n"
		"kvm_exit                                           9         3\n");
}

TEST(other_programs_do_not_inherit_the_file, set_up, tear_down)
{
	struct world *w = *state;
	char command[128];

	open_log(w, LINES_JSON);
	snprintf(command, sizeof(command), "! ls -l /proc/self/fd/ | grep -q '%s'", w->path);
	assert_int_equal(system(command), 0);
}

TEST(closing_nothing_is_fine, set_up, tear_down)
{
	assert_int_equal(lines_close(NULL, NULL), 0);
}
