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

#include "cmd/top_options.h"

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
	refuses("-l -s 86401", "\"86401\": delay must be <= 86400, a day");
	refuses("-l -s 0.05", "\"0.05\": delay must be >= 0.1");
}

static void once_and_a_log_exclude_each_other(void **state)
{
	(void)state;
	accepts("-1", MODE_BATCH);
	accepts("-l -n 1 -s 1", MODE_LOG);
	refuses("-1 -l", "-1/--once and -l/--log or -L/--log-to-file exclude each other: "
			 "-l -n 1 -s 1 logs one second");
	refuses("-1 -c -L file", "exclude each other");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_up_to_a_day),
		cmocka_unit_test(once_and_a_log_exclude_each_other),
		cmocka_unit_test(zeros_are_skipped_wherever_lines_are),
		cmocka_unit_test(commands_are_named),
	};

	return cmocka_run_group_tests_name("top_options", tests, NULL, NULL);
}
