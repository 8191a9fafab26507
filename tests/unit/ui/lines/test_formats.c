// SPDX-License-Identifier: GPL-2.0-or-later
/* The formats of lines: kvm_stat's to the letter, the log for people, and JSON. */
#include <errno.h>
#include <inttypes.h>

#include <json-c/json.h>

#include "tests/unit/unit.h"
#include "tests/worlds/lines_world.h"
#include "core/views/view.h"

#define KVM_STAT "tests/data/kvm_stat/"

/* ---- batch */

/* Fills the view with the names and numbers that kvm_stat printed. */
static void load_batch(struct world *w, const char *path)
{
	FILE *file = fopen(path, "r");
	char name[128];
	uint64_t total, delta;

	assert_non_null(file);
	while (fscanf(file, "%127s %" SCNu64 " %" SCNu64, name, &total, &delta) == 3)
		add_event(w, name, total, delta);
	fclose(file);
	assert_true(w->view.nr_rows > 50);
}

static void prints_what_kvm_stat_printed(struct world *w, const char *path)
{
	char *theirs;

	load_batch(w, path);
	theirs = copy_text(read_file(w, path));
	open_stdout(w, LINES_BATCH);
	write_sample(w);
	close_log(w);
	assert_string_equal(read_file(w, w->path), theirs);
	free(theirs);
}

TEST(batch_is_kvm_stats_with_tracepoints, set_up, tear_down)
{
	prints_what_kvm_stat_printed(*state, KVM_STAT "batch.txt");
}

TEST(batch_is_kvm_stats_with_debugfs, set_up, tear_down)
{
	prints_what_kvm_stat_printed(*state, KVM_STAT "batch-debugfs.txt");
}

TEST(flaw_B16_columns_never_touch, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "exits", 12957982764, 983252656460);
	add_event(w, "e", 1234567890, 123456789);
	add_event(w, "e41_45678901234567890123456789012345678901", 1234567890, 1234567890);
	add_event(w, "e43_5678901234567890123456789012345678901234567", 1234567890, 0);
	add_event(w, "e43_567890123456789012345678901234567890123", 123456789, 999999999);
	assert_string_equal(lines_once(w, LINES_BATCH),
		"exits                                     12957982764 983252656460\n"
		"e                                         1234567890 123456789\n"
		"e41_45678901234567890123456789012345678901 1234567890 1234567890\n"
		"e43_5678901234567890123456789012345678901234567 1234567890         0\n"
		"e43_567890123456789012345678901234567890123 123456789 999999999\n");
}

TEST(batch_takes_gauges_to_have_moved_by_0, set_up, tear_down)
{
	struct world *w = *state;

	add_level(w, "pages_4k", FIELD_GAUGE, 512);
	assert_string_equal(lines_once(w, LINES_BATCH),
		"pages_4k                                         512         0\n");
}

TEST(batch_leaves_out_others, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 2, 1);
	add_other(w, 2, 1);
	assert_string_equal(lines_once(w, LINES_BATCH),
		"kvm_exit                                           2         1\n");
}

TEST(batch_pads_by_columns_not_bytes, set_up, tear_down)
{
	struct world *w = *state;

	add_guest(w, 1, "Bär", 2);
	add_guest(w, STATS_ENDED, "(ended)", 1);
	assert_string_equal(lines_once(w, LINES_BATCH),
		"Bär                                               20         2\n"
		"(ended)                                           10         1\n");
}

/* ---- CSV */

TEST(csv_header_is_kvm_stats, set_up, tear_down)
{
	struct world *w = *state;
	char *theirs;
	const char *ours;

	load_batch(w, KVM_STAT "batch.txt");
	theirs = copy_text(read_file(w, KVM_STAT "log.csv"));
	ours = lines_once(w, LINES_CSV);
	assert_int_equal(strncmp(ours, theirs, strlen(theirs)), 0);
	assert_non_null(strstr(ours + strlen(theirs), WHEN ",0,0,255,1215,130,0,"));
	free(theirs);
}

TEST(csv_goes_on_where_kvm_stat_stopped, set_up, tear_down)
{
	struct world *w = *state;
	const char *text;

	load_batch(w, KVM_STAT "batch.txt");
	write_file(w->path, read_file(w, KVM_STAT "log.csv"));
	open_log(w, LINES_CSV);
	write_sample(w);
	close_log(w);
	text = read_file(w, w->path);
	assert_int_equal(count_text(text, "timestamp"), 1);
	assert_int_equal(count_text(text, "\n"), 2);
}

TEST(csv_columns_are_in_order_of_bytes, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_pio", 9, 3);
	add_event(w, "kvm_exit(HLT)", 9, 2);
	add_event(w, "kvm_exit", 9, 1);
	add_event(w, "Z", 9, 4);
	add_other(w, 9, 5);
	assert_string_equal(lines_once(w, LINES_CSV),
			    "timestamp,Z,kvm_exit,kvm_exit(HLT),kvm_pio\n" WHEN ",4,1,2,3\n");
}

TEST(csv_has_levels_of_gauges, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "exits", 9, 3);
	add_level(w, "pages_4k", FIELD_GAUGE, 512);
	assert_string_equal(lines_once(w, LINES_CSV),
			    "timestamp,exits,pages_4k\n" WHEN ",3,512\n");
}

TEST(flaw_C1_columns_are_there_before_the_first_guest, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "exits", 9, 3);
	add_level(w, "pages_4k", FIELD_GAUGE, 512);
	w->view.nr_rows = 0;
	assert_string_equal(lines_once(w, LINES_CSV),
			    "timestamp,exits,pages_4k\n" WHEN ",0,0\n");
}

TEST(csv_columns_never_change, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_CSV);
	write_sample(w);
	add_event(w, "kvm_exit(new)", 5, 5);
	write_sample(w);
	w->view.nr_rows = 0;
	write_sample(w);
	close_log(w);
	file_is(w, w->path, "timestamp,kvm_exit\n" WHEN ",3\n" WHEN ",3\n" WHEN ",0\n");
}

TEST(csv_to_a_file_has_one_header, set_up, tear_down)
{
	struct world *w = *state;
	const char *text;

	add_event(w, "kvm_exit", 9, 3);
	for (int run = 0; run < 2; run++) {
		open_log(w, LINES_CSV);
		for (int i = 0; i < 30; i++)
			write_sample(w);
		close_log(w);
	}
	text = read_file(w, w->path);
	assert_int_equal(count_text(text, "timestamp"), 1);
	assert_int_equal(count_text(text, "\n"), 61);
}

TEST(csv_to_stdout_has_headers_every_20, set_up, tear_down)
{
	struct world *w = *state;
	const char *text;

	add_event(w, "kvm_exit", 9, 3);
	open_stdout(w, LINES_CSV);
	for (int i = 0; i < 21; i++)
		write_sample(w);
	close_log(w);
	text = read_file(w, w->path);
	assert_int_equal(count_text(text, "\n"), 23);
	for (int i = 0; i < 21; i++)
		text = strchr(text, '\n') + 1;
	assert_string_equal(text, "timestamp,kvm_exit\n" WHEN ",3\n");
}

TEST(csv_to_a_pipe_has_one_header, set_up, tear_down)
{
	struct world *w = *state;
	char path[32], text[4096];
	int fds[2];
	ssize_t len;

	add_event(w, "kvm_exit", 9, 3);
	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	assert_int_equal(try_open(w, LINES_CSV, path, false), 0);
	close(fds[1]);
	for (int i = 0; i < 21; i++)
		write_sample(w);
	close_log(w);
	len = read(fds[0], text, sizeof(text) - 1);
	close(fds[0]);
	assert_true(len > 0);
	text[len] = '\0';
	assert_int_equal(count_text(text, "timestamp"), 1);
	assert_int_equal(count_text(text, "\n"), 22);
}

static void is_refused(struct world *w, const char *theirs, const char *error)
{
	char wanted[256];

	write_file(w->path, theirs);
	snprintf(wanted, sizeof(wanted),
		 "\"%s\" has other columns (%s): rename it, or choose another file", w->path,
		 error);
	assert_int_equal(try_open(w, LINES_CSV, w->path, false), -EINVAL);
	assert_string_equal(w->error.text, wanted);
	file_is(w, w->path, theirs);
}

TEST(flaw_C2_other_columns_are_refused, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	add_event(w, "kvm_pio", 9, 3);
	is_refused(w, "timestamp,kvm_exit,kvm_fpu\n", "3, ours 3; first difference: \"kvm_fpu\"");
	is_refused(w, "timestamp,kvm_exit\n" WHEN ",3\n",
		   "2, ours 3; first difference: \"kvm_pio\"");
	is_refused(w, "timestamp,kvm_exit,kvm_pio,x,y\n", "5, ours 3; first difference: \"x\"");
	is_refused(w, "timestamp,\x1b[2J\n", "2, ours 3; first difference: \"?[2J\"");
	is_refused(w, "time,reason\n", "2, ours 3; first difference: \"time\"");
}

TEST(what_is_no_log_is_refused, set_up, tear_down)
{
	static const char *const texts[] = { "\n", "dear diary,\x1b[2J", "kvm_exit,timestamp\n" };
	struct world *w = *state;
	char wanted[128];

	add_event(w, "kvm_exit", 9, 3);
	snprintf(wanted, sizeof(wanted), "\"%s\" is not a CSV log: choose another file", w->path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_file(w->path, texts[i]);
		assert_int_equal(try_open(w, LINES_CSV, w->path, false), -EINVAL);
		assert_string_equal(w->error.text, wanted);
		file_is(w, w->path, texts[i]);
	}
}

TEST(csv_quotes_only_what_needs_it, set_up, tear_down)
{
	struct world *w = *state;
	const char *wanted;

	add_event(w, "a,b", 9, 1);
	add_event(w, "a\"b", 9, 2);
	add_event(w, "a\nb", 9, 3);
	add_event(w, "kvm exit(x)", 9, 4);
	/* In order of bytes: newline, quote, comma. */
	wanted = "timestamp,\"a\nb\",\"a\"\"b\",\"a,b\",kvm exit(x)\n" WHEN ",3,2,1,4\n";
	assert_string_equal(lines_once(w, LINES_CSV), wanted);
	/* And reads back what it wrote. */
	open_log(w, LINES_CSV);
}

/* Guests come and go: a row a line, and which guests there are may change from sample to sample. */
TEST(flaw_C1_csv_of_guests_has_a_row_each, set_up, tear_down)
{
	struct world *w = *state;
	const char *text;

	add_guest(w, 1, "db,1", 3);
	open_log(w, LINES_ROWS | LOG);
	write_sample(w);
	add_guest(w, 2, "web", 4);
	write_sample(w);
	close_log(w);
	text = read_file(w, w->path);
	assert_int_equal(strncmp(text, "time,guest,pid,vcpus,", 21), 0);
	assert_string_equal(strchr(text, '\n') + 1,
		WHEN_EXACTLY ",\"db,1\",4001,,,,,,,,30,,3,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n"
		WHEN_EXACTLY ",\"db,1\",4001,,,,,,,,30,,3,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n"
		WHEN_EXACTLY ",web,4002,,,,,,,,40,,4,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n");
	/* Goes on in its own file. */
	open_log(w, LINES_ROWS | LOG);
	write_sample(w);
	close_log(w);
	assert_int_equal(count_text(read_file(w, w->path), "\n"), 6);
}

TEST(csv_follows_a_file_that_was_emptied, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 9, 3);
	open_log(w, LINES_CSV);
	write_sample(w);
	/* As logrotate's copytruncate does. */
	assert_int_equal(truncate(w->path, 0), 0);
	write_sample(w);
	file_is(w, w->path, "timestamp,kvm_exit\n" WHEN ",3\n");
}

/* ---- text */

TEST(flaw_C4_only_active_events_have_columns, set_up, tear_down)
{
	struct world *w = *state;

	load_batch(w, KVM_STAT "batch.txt");
	add_other(w, 5, 5);
	assert_true(strcspn(lines_once(w, LINES_TEXT), "\n") < 1000);
	assert_null(strstr(w->text, "other"));
	assert_null(strstr(w->text, "kvm_ack_irq"));
	assert_non_null(strstr(w->text, " kvm_exit(IOIO) "));
}

TEST(text_columns_join_and_stay, set_up, tear_down)
{
	struct world *w = *state;
	int delta = view_column_by_id(&view_events, "delta");

	add_event(w, "kvm_exit", 5, 5);
	open_log(w, LINES_TEXT);
	write_sample(w);
	add_event(w, "kvm_pio", 7, 7);
	write_sample(w);
	w->view.rows[0].cells[delta] = cell_count(0);
	write_sample(w);
	w->view.nr_rows = 1;
	write_sample(w);
	close_log(w);
	file_is(w, w->path,
		"time (per 3.0 s)     kvm_exit\n"
		"2026-11-21 01:26:48         5\n"
		"time (per 3.0 s)     kvm_exit   kvm_pio\n"
		"2026-11-21 01:26:48         5         7\n"
		"2026-11-21 01:26:48         0         7\n"
		"2026-11-21 01:26:48         0         -\n");
}

TEST(text_has_headings_every_20, set_up, tear_down)
{
	struct world *w = *state;
	const char *text;

	add_event(w, "kvm_exit", 5, 5);
	open_log(w, LINES_TEXT);
	for (int i = 0; i < 10; i++)
		write_sample(w);
	add_event(w, "kvm_pio", 7, 7);
	for (int i = 0; i < 21; i++)
		write_sample(w);
	close_log(w);
	text = read_file(w, w->path);
	assert_int_equal(count_text(text, "time"), 3);
	assert_int_equal(count_text(text, "\n"), 34);
	assert_int_equal(count_text(strstr(text, "kvm_pio"), "time"), 1);
	assert_int_equal(count_text(strrchr(text, 'p'), "\n"), 2);
}

TEST(text_columns_keep_their_order, set_up, tear_down)
{
	struct world *w = *state;
	struct view_row row;

	add_event(w, "kvm_exit", 5, 5);
	add_event(w, "kvm_pio", 7, 7);
	open_log(w, LINES_TEXT);
	write_sample(w);
	row = w->view.rows[0];
	w->view.rows[0] = w->view.rows[1];
	w->view.rows[1] = row;
	write_sample(w);
	close_log(w);
	file_is(w, w->path,
		"time (per 3.0 s)     kvm_exit   kvm_pio\n"
		"2026-11-21 01:26:48         5         7\n"
		"2026-11-21 01:26:48         5         7\n");
}

TEST(text_names_the_interval_once_it_is_known, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 5, 5);
	open_log(w, LINES_TEXT);
	assert_int_equal(lines_write(w->lines, &w->view, when, 0, &w->error), 0);
	assert_int_equal(lines_write(w->lines, &w->view, when, SECONDS / 4, &w->error), 0);
	write_sample(w);
	close_log(w);
	file_is(w, w->path,
		"time                 kvm_exit\n"
		"2026-11-21 01:26:48         5\n"
		"time (per 0.3 s)     kvm_exit\n"
		"2026-11-21 01:26:48         5\n"
		"2026-11-21 01:26:48         5\n");
}

TEST(text_shortens_what_would_break_its_columns, set_up, tear_down)
{
	struct world *w = *state;

	add_event(w, "kvm_exit", 999999999, 999999999);
	add_event(w, "kvm_pio", 1234567890, 1234567890);
	assert_string_equal(lines_once(w, LINES_TEXT),
		"time (per 3.0 s)     kvm_exit   kvm_pio\n"
		"2026-11-21 01:26:48 999999999     1.23G\n");
}

/* ---- JSON */

TEST(json_is_one_object_a_line, set_up, tear_down)
{
	struct world *w = *state;
	struct view_row *row = add_event(w, "kvm_exit", 2000, 1000);

	row->cells[view_column_by_id(&view_events, "rate")] =
		(struct cell){ .type = CELL_RATE, .number = 333.33333 };
	row->cells[view_column_by_id(&view_events, "total_percent")] =
		(struct cell){ .type = CELL_PERCENT, .number = 100 };
	row->cells[view_column_by_id(&view_events, "history")].type = CELL_SPARK;
	add_event(w, "kvm_exit(a/b \"c\")", UINT64_MAX, 1);
	add_other(w, 3, 2);
	add_level(w, "pages_4k", FIELD_GAUGE, 7);
	w->view.rows[w->view.nr_rows - 1].elapsed_ns = 2999850001;
	open_log(w, LINES_JSON);
	assert_int_equal(lines_write(w->lines, &w->view, when, 3001249999, &w->error), 0);
	close_log(w);
	file_is(w, w->path,
		"{\"time\":\"2026-11-21T01:26:48.123+01:00\",\"elapsed_s\":3.0012,"
		"\"view\":\"events\",\"rows\":["
		"{\"event\":\"kvm_exit\",\"parent\":null,\"total\":2000,\"total_percent\":100.000,"
		"\"delta\":1000,\"rate\":333.333},"
		"{\"event\":\"kvm_exit(a/b \\\"c\\\")\",\"parent\":\"kvm_exit\","
		"\"total\":18446744073709551615,\"total_percent\":null,\"delta\":1,\"rate\":null},"
		"{\"event\":\"other\",\"parent\":\"kvm_exit\",\"total\":3,\"total_percent\":null,"
		"\"delta\":2,\"rate\":null,\"other\":true},"
		"{\"event\":\"pages_4k\",\"parent\":null,\"total\":7,\"total_percent\":null,"
		"\"delta\":null,\"rate\":null,\"elapsed_s\":2.9999}]}\n");
}

TEST(json_elapsed_is_null_when_not_known, set_up, tear_down)
{
	struct world *w = *state;

	open_log(w, LINES_JSON);
	assert_int_equal(lines_write(w->lines, &w->view, when, 0, &w->error), 0);
	close_log(w);
	file_is(w, w->path, "{\"time\":\"2026-11-21T01:26:48.123+01:00\",\"elapsed_s\":null,"
			    "\"view\":\"events\",\"rows\":[]}\n");
}

TEST(json_time_has_the_offset, set_up, tear_down)
{
	struct world *w = *state;

	set_zone("NST3:30");
	assert_non_null(strstr(lines_once(w, LINES_JSON), "\"2026-11-20T20:56:48.123-03:30\""));
	set_zone("UTC");
	assert_non_null(strstr(lines_once(w, LINES_JSON), "\"2026-11-21T00:26:48.123+00:00\""));
}

TEST(json_numbers_are_numbers, set_up, tear_down)
{
	struct world *w = *state;
	const double rates[] = { 0, 0.0004, 0.0005, 12345678.9, 9e14, 1e300, -1 };
	const char *texts[] = { "0.000", "0.000", "0.001", "12345678.900", "900000000000000.000",
				"null", "null" };
	struct view_row *row = add_event(w, "kvm_exit", 9, 3);

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct json_object *parsed;
		char wanted[64];

		row->cells[view_column_by_id(&view_events, "rate")] =
			(struct cell){ .type = CELL_RATE, .number = rates[i] };
		snprintf(wanted, sizeof(wanted), "\"rate\":%s}", texts[i]);
		assert_non_null(strstr(lines_once(w, LINES_JSON), wanted));
		parsed = json_tokener_parse(w->text);
		assert_non_null(parsed);
		json_object_put(parsed);
	}
}

/* A row of the Exits view: text, counts, durations, buckets. */
static struct view_row *add_exit(struct world *w, const char *name, bool is_idle,
				 const uint64_t *hist)
{
	static const enum column_id absent[] = {
		COL_PID, COL_TID, COL_GUEST, COL_VCPU, COL_SHORTEST, COL_OPEN, COL_ENDED,
	};
	struct view_row *row;

	w->view.type = &view_exits;
	w->view.absent = 0;
	for (size_t i = 0; view_exits.columns[i].id; i++) {
		if (view_exits.columns[i].is_of_recording)
			w->view.absent |= UINT64_C(1) << i;
	}
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		view_drop(&w->view, absent[i]);
	row = view_add(&w->view);
	assert_non_null(row);
	row->field = is_idle ? 2 : 1;
	row->is_idle = is_idle;
	row->cells[0] = cell_text(name);
	row->cells[view_column_by_id(&view_exits, "total")] = cell_count(9000);
	row->cells[view_column_by_id(&view_exits, "delta")] = cell_count(7);
	row->cells[view_column_by_id(&view_exits, "time_percent")] =
		is_idle ? cell_percent(0, 16) : cell_percent(1, 16);
	row->cells[view_column_by_id(&view_exits, "avg_ns")] = cell_ns(1234);
	row->cells[view_column_by_id(&view_exits, "hist")] = cell_hist(hist);
	return row;
}

static const uint64_t hist[HIST_BUCKETS] = { 1, 0, 5, [HIST_BUCKETS - 1] = 1 };

TEST(exits_are_a_table, set_up, tear_down)
{
	struct world *w = *state;

	add_exit(w, "データ", false, hist);
	add_exit(w, "HLT", true, hist);
	assert_string_equal(lines_once(w, LINES_TABLE),
		"Exit reason  Total  Count/s  %Count  Time  Time%  Run%  Poll%  Block%  Wait%"
		"  Idle%     Avg  p50  p99  Max\n"
		"データ        9000        -       -     -    6.2     -      -       -      -"
		"      -  1.23µs    -    -    -\n"
		"HLT           9000        -       -     -    0.0     -      -       -      -"
		"      -  1.23µs    -    -    -\n");
}

static size_t count_in_text(const char *text, const char *word)
{
	size_t nr = 0;

	while ((text = strstr(text, word))) {
		nr++;
		text += strlen(word);
	}
	return nr;
}

/* Samples below the headings of the first; wider ones have headings of their own. */
TEST(tables_go_on, set_up, tear_down)
{
	struct world *w = *state;
	const struct lines_config table = { .format = LINES_TABLE, .path = w->path,
					    .goes_on = true };
	const struct lines_config rows = { .format = LINES_ROWS, .path = w->path,
					   .goes_on = true };
	char *text;

	add_exit(w, "HLT", true, hist);
	unlink(w->path);
	assert_int_equal(lines_open(&table, &w->lines, &w->error), 0);
	write_sample(w);
	write_sample(w);
	add_exit(w, "A_REASON_OF_MANY_LETTERS", true, hist);
	write_sample(w);
	close_log(w);
	text = strdup(read_file(w, w->path));
	assert_non_null(text);
	assert_int_equal(count_in_text(text, "Exit reason"), 2);
	assert_int_equal(count_in_text(text, "\nHLT "), 3);
	free(text);
	unlink(w->path);
	assert_int_equal(lines_open(&rows, &w->lines, &w->error), 0);
	write_sample(w);
	write_sample(w);
	close_log(w);
	assert_int_equal(count_in_text(read_file(w, w->path), "reason,"), 1);
	assert_int_equal(count_in_text(read_file(w, w->path), "\nHLT,"), 2);
}

TEST(rows_are_quoted_and_exact, set_up, tear_down)
{
	struct world *w = *state;

	add_exit(w, "a,\"b\"", false, hist);
	add_exit(w, "HLT", true, hist);
	assert_string_equal(lines_once(w, LINES_ROWS),
		"reason,pid,tid,guest,vcpu,total,delta,rate,total_percent,time_ns,wait_ns,"
		"time_percent,run_percent,poll_percent,block_percent,wait_percent,idle_percent,"
		"min_ns,avg_ns,p50_ns,p99_ns,interval_max_ns,max_ns,open_ns\n"
		"\"a,\"\"b\"\"\",,,,,9000,7,,,,,6.250,,,,,,,1234,,,,,\n"
		"HLT,,,,,9000,7,,,,,0.000,,,,,,,1234,,,,,\n");
}

TEST(guests_of_one_name_are_told_apart, set_up, tear_down)
{
	struct world *w = *state;

	add_guest(w, 1, "guest", 3);
	add_guest(w, 2, "db", 4);
	add_guest(w, 3, "guest", 5);
	assert_string_equal(lines_once(w, LINES_TEXT),
			    "time (per 3.0 s)    guest(4001)        db guest(4003)\n"
			    WHEN "           3         4           5\n");
	assert_string_equal(lines_once(w, LINES_BATCH),
		"guest(4001)                                       30         3\n"
		"db                                                40         4\n"
		"guest(4003)                                       50         5\n");
}

/* Headings come when a column is wider than before, and every 20 lines. */
TEST(a_log_table_keeps_its_columns, set_up, tear_down)
{
	struct world *w = *state;
	const char *text;

	add_exit(w, "MSR", false, hist);
	open_log(w, LINES_TABLE | LOG);
	write_sample(w);
	w->view.rows[0].cells[view_column_by_id(&view_exits, "delta")] = cell_count(123456789);
	write_sample(w);
	assert_int_equal(count_text(read_file(w, w->path), "time"), 1);
	w->view.rows[0].cells[0] = cell_text("a long reason");
	write_sample(w);
	w->view.rows[0].cells[0] = cell_text("MSR");
	write_sample(w);
	text = read_file(w, w->path);
	assert_int_equal(count_text(text, "time"), 2);
	assert_int_equal(count_text(text, "\n"), 6);
	text = strstr(text + 1, "time");
	assert_int_equal(strcspn(strchr(text, '\n') + 1, "\n"),
			 strcspn(strrchr(text, 'M'), "\n") + strlen(WHEN_EXACTLY "  "));
	for (int i = 0; i < 19; i++)
		write_sample(w);
	assert_int_equal(count_text(read_file(w, w->path), "time"), 3);
	w->view.nr_rows = 0;
	write_sample(w);
	close_log(w);
	assert_int_equal(count_text(read_file(w, w->path), "\n"), 26);
}

/* A row is a line: -z leaves out a row in which nothing happened. */
TEST(rows_of_zeros_are_skipped, set_up, tear_down)
{
	static const unsigned int formats[] = { LINES_BATCH, LINES_TABLE, LINES_ROWS | LOG,
						     LINES_TABLE | LOG };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct view_row *row;

		w->view.nr_rows = 0;
		add_exit(w, "MSR", false, hist);
		row = add_exit(w, "quiet", false, hist);
		row->cells[view_column_by_id(&view_exits, "delta")] = cell_count(0);
		unlink(w->path);
		assert_int_equal(try_open(w, formats[i], w->path, true), 0);
		write_sample(w);
		close_log(w);
		assert_non_null(strstr(read_file(w, w->path), "MSR"));
		assert_null(strstr(w->text, "quiet"));
		/* One ended that was counted in the interval before. */
		row->cells[view_column_by_id(&view_exits, "time_ns")] = cell_ns(1);
		unlink(w->path);
		assert_int_equal(try_open(w, formats[i], w->path, true), 0);
		write_sample(w);
		close_log(w);
		assert_non_null(strstr(read_file(w, w->path), "quiet"));
	}
}

/* ---- pictures */

/* Room for five letters of the first name. */
TEST(pictures_have_whole_letters, set_up, tear_down)
{
	struct world *w = *state;
	const char *svg;

	w->view.type = &view_where;
	w->view.absent = 0;
	for (int i = 0; i < 2; i++) {
		struct view_row *row = view_add(&w->view);

		row->cells[view_column_by_id(&view_where, "function")] =
			cell_text(i ? "Bärenhöhle" : "<ä&öü>ß");
		row->cells[view_column_by_id(&view_where, "time_ns")] = cell_ns(i ? 967 : 33);
	}
	svg = lines_once(w, LINES_SVG);
	assert_non_null(strstr(svg, ">&lt;ä&amp;öü</text>"));
	assert_non_null(strstr(svg, "<title>&lt;ä&amp;öü&gt;ß, "));
	assert_non_null(strstr(svg, ">Bärenhöhle</text>"));
}
