// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line without a command: what is refused, and with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/array.h"
#include "cmd/top_options.h"
#include "history/file.h"

static struct top_options options;
static struct why why;

/* The words are separated by blanks. */
static int parse(const char *words)
{
	static char text[4096];
	char *argv[64] = { text }, *at = text, *word;
	int argc = 1;

	snprintf(text, sizeof(text), "kvmtop %s", words);
	strsep(&at, " ");
	while (argc < 63 && (word = strsep(&at, " "))) {
		if (*word)
			argv[argc++] = word;
	}
	why = (struct why){ "" };
	return top_options_parse(argc, argv, &options, &why);
}

static void accepts(const char *words, enum mode mode)
{
	if (parse(words) < 0)
		fail_msg("\"%s\": %s", words, why.text);
	assert_int_equal(top_options_mode(&options), mode);
}

static void refuses(const char *words, const char *with)
{
	options.pid = 4711;
	assert_true(parse(words) < 0);
	assert_int_equal(options.pid, 4711); /* untouched */
	if (!strstr(why.text, with))
		fail_msg("\"%s\": \"%s\", wanted \"%s\"", words, why.text, with);
}

static void intervals_are_up_to_a_day(void **state)
{
	(void)state;
	accepts("-l -s 60", MODE_LOG);
	assert_true(options.delay_s == 60);
	accepts("-l -s 86400", MODE_LOG);
	accepts("-s 3600", MODE_CURSES);
	refuses("-l -s 86401", "\"86401\": not a number of seconds from 0.1 to 86400");
	refuses("-l -s 0.05", "\"0.05\": not a number of seconds from 0.1");
	refuses("--listen 1 --engine none", "\"none\": no such engine; there are: bpf, perf");
}

static void once_and_a_log_exclude_each_other(void **state)
{
	(void)state;
	accepts("-1", MODE_BATCH);
	accepts("-l -n 1 -s 1", MODE_LOG);
	refuses("-1 -l", "-1/--once and -l/--log or -L/--log-to-file exclude each other: "
			 "-l -n 1 -s 1 logs one second");
	refuses("-1 -c -L file", "exclude each other");
	refuses("-d --stats", "-d/--debugfs and --stats exclude each other");
}

/* --batch is another name of --once. */
static void second_names_are_names_of_options(void **state)
{
	(void)state;
	accepts("--batch", MODE_BATCH);
	accepts("--ba", MODE_BATCH);
	refuses("--batch=3", "option --batch takes no argument");
	refuses("--onc=3", "option --once takes no argument");
	refuses("--b", "option --b is ambiguous: --batch or --by-guest");
}

static void numbers_without_a_limit_have_a_least_one(void **state)
{
	(void)state;
	refuses("-n x", "\"x\": N must be a whole number, at least 1");
	refuses("-n 99999999999999999999", "\"99999999999999999999\": N must be");
	refuses("-p 0", "\"0\": PID must be a number from 1 to 2147483647");
}

static void zeros_are_skipped_wherever_lines_are(void **state)
{
	(void)state;
	accepts("-1 -z", MODE_BATCH);
	accepts("-l -z", MODE_LOG);
	accepts("-z -L file", MODE_LOG);
	refuses("-z", "-z/--skip-zero-records requires -1/--once, -l/--log or -L");
}

static void commands_are_named(void **state)
{
	(void)state;
	refuses("foo", "unexpected argument \"foo\"; a command is the first word: "
		       "exits, format, record, report, timeline");
	refuses("-1 report", "unexpected argument \"report\"");
}

static void a_history_may_be_named(void **state)
{
	static const char *const named[] = { "-r h.db", "h.db -r", "-r -- h.db", "--read h.db",
					     "--read=h.db", "-1r h.db", "-r -1 h.db", "-r1 h.db",
					     "-r --at -30s h.db", "-r h.db --diff -2h..-1h -1h.." };
	static const char *const unnamed[] = { "-r", "--read", "-r -1", "-r1", "-r --at 03:12",
					       "-r --diff -2h..-1h -1h.." };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		assert_int_equal(parse(named[i]), 0);
		assert_true(options.read);
		assert_string_equal(options.read_file, "h.db");
	}
	for (size_t i = 0; i < ARRAY_SIZE(unnamed); i++) {
		assert_int_equal(parse(unnamed[i]), 0);
		assert_true(options.read);
		assert_string_equal(options.read_file, "/var/lib/kvmtop/history.db");
	}
	accepts("-r -1", MODE_BATCH);
	accepts("-r -l h.db", MODE_LOG);
	refuses("h.db", "unexpected argument \"h.db\"");
	refuses("-r a.db b.db", "unexpected argument \"b.db\"");
	refuses("--read=a.db b.db", "unexpected argument \"b.db\"");
}

static void times_are_of_a_history(void **state)
{
	(void)state;
	accepts("-r --at -1d12h", MODE_CURSES);
	assert_string_equal(options.at, "-1d12h");
	accepts("-r -1 --at 03:12", MODE_BATCH);
	accepts("-r -1 --from 03:10 --to +5m", MODE_BATCH);
	assert_string_equal(options.from, "03:10");
	assert_string_equal(options.to, "+5m");
	accepts("-r -l -c --view exits --from -2h", MODE_LOG);
	accepts("-r --json", MODE_LOG);
	accepts("-r -c --view exits --from 03:10", MODE_LOG);
	accepts("-r -1 -c", MODE_BATCH);
	accepts("-r -z -c", MODE_LOG);
	refuses("-r -z", "-z/--skip-zero-records requires");
	accepts("-r --diff 03:10..03:15 -2h..-1h --json", MODE_DIFF);
	assert_string_equal(options.diff[0], "03:10..03:15");
	assert_string_equal(options.diff[1], "-2h..-1h");
	refuses("-r --at tomorrow", "\"tomorrow\": not a time such as 03:12, -30s");
	refuses("-r -1 --from 3", "\"3\": not a time such as");
	refuses("-r -1 --to -5", "\"-5\": not a step such as -30s");
	refuses("-r --diff 03:10..03:15", "option --diff needs FROM..TO FROM..TO");
	refuses("-r --diff 03:10..03:15 03:20", "\"03:20\": not a span such as 03:10..03:15");
	refuses("-r --diff x..03:15 03:20..", "\"x\": not a time such as");
	refuses("--at 03:12", "--at, --from, --to and --diff require -r/--read or --from URL");
	refuses("-1 --from 03:12", "require -r/--read");
	refuses("--diff -2h..-1h -1h..", "require -r/--read");
	refuses("-r -l --at 03:12", "-l/--log and -L take --from and --to");
	refuses("-r -1 --at 03:12 --to 03:15", "--at is one moment");
	refuses("-r --from 03:12", "--from and --to require -1/--once, -l/--log or");
	refuses("-r -1 --diff -2h..-1h -1h..", "--diff has its own times and format");
	refuses("-r --at -1h --diff -2h..-1h -1h..", "--diff has its own times and format");
}

static void what_is_over_is_not_counted(void **state)
{
	static const char *const live[] = {
		"-t/--tracepoints", "-d/--debugfs", "--stats", "-i/--debugfs-include-past",
		"--demo", "--list-guests", "--list-providers",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(live); i++) {
		char words[64], wanted[96];

		snprintf(words, sizeof(words), "-r -1 %s", strstr(live[i], "--"));
		snprintf(wanted, sizeof(wanted),
			 "%s is for what happens now, -r/--read shows the past", live[i]);
		refuses(words, wanted);
	}
	refuses("-r -w x", "-w/--write is for what happens now");
	refuses("-r -l -s 5", "-s/--set-delay is for what happens now");
	refuses("-r --past 4", "--past is for what happens now");
	refuses("-r --engine bpf", "--engine is for what happens now");
	refuses("-r --sysroot x", "--sysroot is for what happens now");
}

static void what_is_kept_has_limits(void **state)
{
	(void)state;
	accepts("-w h.db", MODE_CURSES);
	assert_string_equal(options.write_file, "h.db");
	assert_true(options.max_age_ns == 0 && options.max_size == 0);
	accepts("-w h.db -s 10 --max-age 7d --max-size 2G", MODE_CURSES);
	assert_true(options.max_age_ns == UINT64_C(7) * 86400 * 1000000000);
	assert_true(options.max_size == UINT64_C(2) << 30);
	accepts("-w h.db -l", MODE_LOG);
	refuses("--max-age 7d", "--max-age and --max-size require -w/--write");
	refuses("-l --max-size 7G", "--max-age and --max-size require -w/--write");
	refuses("-w h.db --max-age 7", "\"7\": not a duration such as 200us, 5ms, 30s, 10min, 7d");
	refuses("-w h.db --max-size 2", "\"2\": not a size such as 500M, 64MiB, 2G");
	refuses("-w h.db --max-size 4095K",
		"\"4095K\": too small for a history: give at least 4M");
	accepts("-w h.db --max-size 4M", MODE_CURSES);
	assert_true(options.max_size == HISTORY_SIZE_LEAST);
	accepts("-w h.db --max-size 0", MODE_CURSES);
	assert_true(options.max_size == 0);
	refuses("-w", "option -w needs FILE");
	accepts("", MODE_CURSES);
	assert_true(options.past_bytes == 4 << 20);
	accepts("--past 0", MODE_CURSES);
	assert_true(options.past_bytes == 0);
	accepts("--past 16", MODE_CURSES);
	assert_true(options.past_bytes == 16 << 20);
	accepts("--past 1G", MODE_CURSES);
	assert_true(options.past_bytes == 1 << 30);
	refuses("--past=", "\"\": not a size such as");
	refuses("--past much", "\"much\": not a size such as");
	refuses("-1 --past 4", "--past is for the live screen");
}

static void exports_have_options_of_their_own(void **state)
{
	(void)state;
	accepts("--prometheus a.prom", MODE_EXPORT);
	assert_true(options.delay_s == 15);
	assert_int_equal(options.max_series, 20000);
	accepts("--prometheus - -s 5 --max-series 7 --metrics user", MODE_EXPORT);
	assert_true(options.delay_s == 5);
	assert_int_equal(options.max_series, 7);
	accepts("--listen 9752 --web-config x", MODE_EXPORT);
	assert_true(options.delay_s == 3);
	accepts("--listen [::1]:9752", MODE_EXPORT);
	accepts("--listen unix:/x", MODE_EXPORT);
	accepts("--listen systemd", MODE_EXPORT);
	accepts("--metrics help", MODE_METRICS);
	accepts("--help --view x --no-such-option -g", MODE_HELP);
	accepts("--version -o x extra", MODE_VERSION);
	refuses("--prometheus a.txt", "\"a.txt\": node_exporter reads only names that end in");
	refuses("--prometheus .prom", "node_exporter reads only names");
	refuses("--prometheus a.prom --listen 1", "exclude each other");
	refuses("--prometheus a.prom -b", "-b/--by-guest is not for --prometheus");
	refuses("--listen 1 -w h.db", "-w/--write is not for --prometheus and --listen");
	refuses("--listen 1 --max-age 7d", "--max-age is not for --prometheus and --listen");
	refuses("--listen 1 --max-size 2G", "--max-size is not for");
	refuses("--listen 1 --host a", "--host is not for");
	refuses("--listen 1 --http-config a", "--http-config is not for");
	refuses("--listen 1 --timeout 5", "--timeout is not for");
	refuses("--prometheus a.prom --at -5min", "--at is not for");
	refuses("--prometheus a.prom --from -5min", "--from is not for");
	refuses("--prometheus a.prom --to now", "--to is not for");
	refuses("--prometheus a.prom --diff -2h..-1h -1h..now", "--diff is not for");
	refuses("--prometheus a.prom --web-config x", "--web-config requires --listen");
	refuses("-l --metrics user", "require --prometheus or --listen");
	refuses("--max-series 5", "require --prometheus or --listen");
	accepts("--listen localhost:9752", MODE_EXPORT);
	accepts("--listen 0.0.0.0:9752", MODE_EXPORT);
	accepts("--listen :9752", MODE_EXPORT);
	refuses("--listen a.example:9752", "the address must be numbers");
	refuses("--listen []:9752", "the address must be numbers");
	refuses("--listen [:::]:9752", "the address must be numbers");
	refuses("--listen host", "\"host\": no address to listen at");
	refuses("--listen 70000", "no address to listen at");
	refuses("--listen ::1:9", "is written in brackets");
	refuses("--listen unix:", "the path of a socket has 1 to 107 bytes");
	refuses("--listen 1 --metrics nothing", "\"nothing\": no such metrics");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_up_to_a_day),
		cmocka_unit_test(once_and_a_log_exclude_each_other),
		cmocka_unit_test(second_names_are_names_of_options),
		cmocka_unit_test(numbers_without_a_limit_have_a_least_one),
		cmocka_unit_test(zeros_are_skipped_wherever_lines_are),
		cmocka_unit_test(commands_are_named),
		cmocka_unit_test(a_history_may_be_named),
		cmocka_unit_test(times_are_of_a_history),
		cmocka_unit_test(what_is_over_is_not_counted),
		cmocka_unit_test(what_is_kept_has_limits),
		cmocka_unit_test(exports_have_options_of_their_own),
	};

	return cmocka_run_group_tests_name("top_options", tests, NULL, NULL);
}
