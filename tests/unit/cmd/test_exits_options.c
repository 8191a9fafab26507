// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of `kvmtop exits`: what words mean, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/exits_options.h"
#include "core/views/list.h"

static struct exits_options options;
static struct why why;

/* The words are separated by blanks. */
static int parse(const char *words)
{
	static char text[4096];
	char *argv[64] = { text }, *at = text, *word;
	int argc = 1;

	snprintf(text, sizeof(text), "exits %s", words);
	strsep(&at, " ");
	while (argc < 63 && (word = strsep(&at, " "))) {
		if (*word)
			argv[argc++] = word;
	}
	why = (struct why){ "" };
	return exits_options_parse(argc, argv, &options, &why);
}

static void accepts(const char *words)
{
	if (parse(words) < 0)
		fail_msg("\"%s\": %s", words, why.text);
}

static void refuses(const char *words, const char *with)
{
	options.pid = 4711;
	assert_true(parse(words) < 0);
	assert_int_equal(options.pid, 4711); /* untouched */
	if (!strstr(why.text, with))
		fail_msg("\"%s\": \"%s\", wanted \"%s\"", words, why.text, with);
}

static void sorts_by(const char *key, const char *column)
{
	char words[64];

	snprintf(words, sizeof(words), "-k %s", key);
	accepts(words);
	assert_int_equal(options.sort, view_column_by_id(&view_exit_totals, column));
}

static void nothing_means_all(void **state)
{
	(void)state;
	accepts("");
	assert_int_equal(options.pid + options.tid, 0);
	assert_int_equal(options.nr_only, 0);
	assert_int_equal(options.event, EXITS_VMEXIT);
	assert_true(options.duration_s <= 0);
	assert_string_equal(options.sysroot, "");
	assert_int_equal(options.sort, view_column_by_id(&view_exit_totals, "count"));
}

static void whose(void **state)
{
	(void)state;
	accepts("-p 4000 -v 1 5");
	assert_int_equal(options.pid, 4000);
	assert_true(options.has_vcpu);
	assert_int_equal(options.vcpu_index, 1);
	assert_true(options.duration_s > 4.9 && options.duration_s < 5.1);
	accepts("-p 4000 -v 0");
	assert_true(options.has_vcpu);
	accepts("--pid 4000 --alltids");
	assert_true(options.all);
	accepts("-t 4001");
	assert_int_equal(options.nr_only, 1);
	assert_int_equal(options.only[0], 4001);
	accepts("-T 4001,4002,4003 0.5");
	assert_int_equal(options.nr_only, 3);
	assert_int_equal(options.only[2], 4003);
}

static void events(void **state)
{
	(void)state;
	accepts("--event mmio");
	assert_int_equal(options.event, EXITS_MMIO);
	accepts("--event=hypercall");
	assert_int_equal(options.event, EXITS_HYPERCALL);
	refuses("--event vmexits", "no such event; there are: vmexit, userspace, ioport, mmio");
}

static void perfs_keys(void **state)
{
	(void)state;
	sorts_by("sample", "total");
	sorts_by("count", "total");
	sorts_by("total", "total");
	sorts_by("percent_sample", "share");
	sorts_by("count_percent", "share");
	sorts_by("time", "time_ns");
	sorts_by("percent_time", "time_percent");
	sorts_by("mean", "avg_ns");
	sorts_by("mean_time", "avg_ns");
	sorts_by("max", "max_ns");
	sorts_by("max_time", "max_ns");
	sorts_by("min", "min_ns");
	sorts_by("min_time", "min_ns");
	sorts_by("p99", "p99_ns");
	sorts_by("avg_ns", "avg_ns"); /* our own names, too */
	refuses("-k speed", "\"speed\": no column to sort by; there are: pid, tid, reason");
	refuses("-k hist", "\"hist\": no column to sort by; there are: pid, tid, reason");
	refuses("-k rate", "\"rate\": no column to sort by; there are: pid, tid, reason");
	refuses("-k ", "-k needs KEY");
}

static void what_makes_no_sense(void **state)
{
	(void)state;
	refuses("-v 1", "-v needs a guest: add -p PID");
	refuses("-a", "-a needs a guest: add -p PID");
	refuses("-p 1 -a -v 1", "-v and -a exclude each other");
	refuses("-p 1 -t 2", "-p, -g, -t and -T exclude each other");
	refuses("-t 1 -T 2", "-p, -g, -t and -T exclude each other");
	refuses("-g db -p 2", "-p, -g, -t and -T exclude each other");
	refuses("-v 2", "-v needs a guest: add -p PID or -g NAME");
	refuses("--tid=1 --ti=2", "is ambiguous: --tid or --tids");
	refuses("--jso=1", "--json takes no argument");
	refuses("--json=", "--json takes no argument");
	refuses("--jsonx", "unknown option --jsonx");
	refuses("--json --csv", "exclude each other");
	refuses("-p 1 -v -1", "not the number of a vCPU");
	refuses("-p 1 -v 1x", "not the number of a vCPU");
	refuses("-p 1 -v 99999999999999999999", "not the number of a vCPU");
	refuses("-p 0", "PID must be");
	refuses("-T 1,,2", "not a list of threads");
	refuses("-T 1,2,", "not a list of threads");
	refuses("-T -1", "not a list of threads");
	refuses("-T 99999999999", "not a list of threads");
	refuses("5 6", "unexpected argument \"6\"");
	refuses("soon", "\"soon\": not a number of seconds");
	refuses("0", "not a number of seconds");
	refuses("-- -5", "not a number of seconds");
	refuses("sleep 5", "not a number of seconds");
	accepts("-- 0.5");
	assert_true(options.duration_s > 0.4 && !options.command);
	accepts("-k time -- sleep -k 5");
	assert_string_equal(options.command[0], "sleep");
	assert_string_equal(options.command[2], "5");
	assert_null(options.command[3]);
	assert_true(options.duration_s <= 0);
	refuses("nan", "not a number of seconds");
	refuses("--whatever", "--whatever");
}

static void long_exits(void **state)
{
	(void)state;
	accepts("--longer 5ms");
	assert_int_equal(options.longer_ns, 5000000);
	assert_false(options.halts || options.arguments);
	accepts("--longer 1.5us --halts --arguments -g web1 10");
	assert_int_equal(options.longer_ns, 1500);
	assert_true(options.halts && options.arguments);
	accepts("--longer 1s --guest-kallsyms a=b=c --guest-kallsyms web1=/f");
	assert_int_equal(options.kallsyms.nr, 2);
	assert_string_equal(options.kallsyms.texts[1], "web1=/f");
	refuses("--longer 5", "5");
	refuses("--longer 0", "a time above 0");
	refuses("--longer x", "x");
	refuses("--halts", "--halts needs --longer TIME");
	refuses("--arguments", "--arguments needs --longer TIME");
	refuses("--guest-kallsyms a=b", "--guest-kallsyms needs --longer TIME");
	refuses("--longer 1ms --guest-kallsyms web1", "takes NAME=FILE");
	refuses("--longer 1ms --guest-kallsyms =f", "takes NAME=FILE");
	refuses("--longer 1ms --guest-kallsyms a=", "takes NAME=FILE");
	refuses("--longer 1ms -k total", "--key and --longer exclude each other");
	refuses("--longer 1ms --event msr", "--event and --longer exclude each other");
	refuses("--longer 1ms -p 1 --diff b", "--diff and --longer exclude each other");
}

static void too_many_kernels(void **state)
{
	char words[1024] = "--longer 1ms";

	(void)state;
	for (int i = 0; i < KALLSYMS_GUESTS; i++)
		strcat(words, " --guest-kallsyms a=b");
	accepts(words);
	strcat(words, " --guest-kallsyms a=b");
	refuses(words, "at most 16 guests");
}

static void too_many_threads(void **state)
{
	char words[4096] = "-T 1";

	(void)state;
	for (int i = 1; i < EXITS_TIDS; i++)
		strcat(words, ",1");
	accepts(words);
	assert_int_equal(options.nr_only, EXITS_TIDS);
	strcat(words, ",1");
	refuses(words, "at most");
}

static void help_needs_nothing_else_to_be_right(void **state)
{
	(void)state;
	accepts("--help soon -v 1");
	assert_true(options.help);
	accepts("--help --no-such-option -g");
	assert_true(options.help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_means_all),
		cmocka_unit_test(whose),
		cmocka_unit_test(events),
		cmocka_unit_test(perfs_keys),
		cmocka_unit_test(what_makes_no_sense),
		cmocka_unit_test(long_exits),
		cmocka_unit_test(too_many_kernels),
		cmocka_unit_test(too_many_threads),
		cmocka_unit_test(help_needs_nothing_else_to_be_right),
	};

	return cmocka_run_group_tests_name("exits_options", tests, NULL, NULL);
}
