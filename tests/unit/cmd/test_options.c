// SPDX-License-Identifier: GPL-2.0-or-later
/* The command lines: what words mean, what is refused, and with which words. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "core/views/view.h"
#include "history/file.h"
#include "tests/unit/unit.h"

static struct options options;
static struct error error;

/* The words are separated by blanks; the first may be a command. */
static int parse(const char *words)
{
	static char text[8192];
	char *argv[64] = { text }, *at = text, *word;
	const struct command *command;
	int argc = 1, first;

	snprintf(text, sizeof(text), "kvmtop %s", words);
	strsep(&at, " ");
	while (argc < 63 && (word = strsep(&at, " "))) {
		if (*word)
			argv[argc++] = word;
	}
	error = (struct error){ "" };
	command = argc > 1 ? command_by_name(argv[1]) : NULL;
	first = command != NULL;
	return options_parse(command ? command : &top_command, argc - first, argv + first, &options,
			     &error);
}

static void accepts(const char *words, unsigned int mode)
{
	if (parse(words) < 0)
		fail_msg("\"%s\": %s", words, error.text);
	assert_int_equal(options.mode, mode);
}

static void refuses(const char *words, const char *with)
{
	options.pid = 4711;
	if (parse(words) == 0)
		fail_msg("\"%s\" is not refused", words);
	assert_int_equal(options.pid, 4711); /* untouched */
	if (!strstr(error.text, with))
		fail_msg("\"%s\": \"%s\", wanted \"%s\"", words, error.text, with);
}

/* ---- kvmtop itself ---- */

TEST(intervals_are_up_to_a_day)
{
	accepts("-l -s 60", MODE_LOG);
	assert_true(options.interval_s == 60);
	accepts("-l --interval 86400", MODE_LOG);
	accepts("--set-delay 3600", MODE_SCREEN);
	assert_true(options.interval_s == 3600);
	accepts("-l -s 1min", MODE_LOG);
	assert_true(options.interval_s == 60);
	accepts("-1", MODE_ONCE);
	assert_true(options.interval_s == 1);
	accepts("-1 -s 500ms", MODE_ONCE);
	assert_true(options.interval_s == 0.5);
	accepts("-r README.md -1 -s 2ms", MODE_ONCE); /* a recording, by what it is not */
	assert_true(options.interval_s == 0.002);
	refuses("-l -s 86401", "\"86401\": not a time from 0.1 s to 86400 s, as in 5, 0.5, 10s");
	refuses("-l -s 0.05", "\"0.05\": not a time from 0.1 s");
	refuses("-l -s 25h", "\"25h\": not a time from 0.1 s");
	refuses("-l -s nan", "\"nan\": not a time from 0.1 s");
	refuses("-l -s 3x", "\"3x\": not a time from 0.1 s");
	refuses("-l -s 0", "\"0\": not a time from 0.1 s");
	refuses("export --listen 1 --engine none",
		"\"none\": --engine must be one of bpf, perf");
}

TEST(once_and_a_log_exclude_each_other)
{
	accepts("-1", MODE_ONCE);
	accepts("-l -n 1 -s 1", MODE_LOG);
	refuses("-1 -l", "-1/--once and -l/--log exclude each other: -l -n 1 -s 1 logs one second");
	refuses("-1 -c -L file", "-1/--once and -L/--log-to-file exclude each other");
}

/* --batch is another name of --once. */
TEST(second_names_are_names_of_options)
{
	accepts("--batch", MODE_ONCE);
	accepts("--ba", MODE_ONCE);
	accepts("--log-to-file x", MODE_LOG);
	assert_string_equal(options.output, "x");
	accepts("-L -", MODE_LOG);
	assert_null(options.output);
	refuses("-w -", "-w -: a history cannot be written to a pipe");
	refuses("--batch=3", "option --batch takes no argument");
	refuses("--onc=3", "option --once takes no argument");
	refuses("--b", "option --b is ambiguous: --by-guest or --batch");
}

TEST(numbers_without_a_limit_have_a_least_one)
{
	refuses("-n x", "\"x\": N must be a whole number, at least 1");
	refuses("-n 99999999999999999999", "\"99999999999999999999\": N must be");
	refuses("-p 0", "\"0\": PID must be a number from 1 to 2147483647");
	refuses("-p 1,2", "\"1,2\": -p takes one PID here");
}

TEST(zeros_are_skipped_wherever_lines_are)
{
	accepts("-1 -z", MODE_ONCE);
	accepts("-l -z", MODE_LOG);
	accepts("-z -L file", MODE_LOG);
	refuses("-z",
		"-z/--skip-zero-records works with -1/--once or -l/--log, not with the screen");
	accepts("-c", MODE_ONCE);
	accepts("--json -z -s 5", MODE_ONCE);
	assert_true(options.interval_s == 5);
	refuses("-1 -c --json", "-c/--csv and --json exclude each other");
}

TEST(the_level_that_costs_most_counts)
{
	static const struct {
		const char *words;
		enum cost cost;
	} levels[] = {
		{ "", COST_TIMES }, { "-t", COST_EVENTS }, { "-d", COST_NONE }, { "-i", COST_NONE },
		{ "-d -i", COST_NONE }, { "-d -t", COST_EVENTS }, { "-i -t", COST_EVENTS },
		{ "--cost none -t", COST_EVENTS }, { "--cost events -d", COST_EVENTS },
		{ "-d --cost times", COST_TIMES }, { "--cost none", COST_NONE },
		{ "-w x --keep who,interrupts --cost none", COST_NONE },
		{ "-w x --keep who,where --cost none", COST_TIMES },
		{ "-w x --keep hotspots -t", COST_TIMES },
		{ "-w x --keep long --cost events", COST_TIMES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		assert_true(parse(levels[i].words) >= 0);
		assert_int_equal(options.cost, levels[i].cost);
	}
}

TEST(only_these_exits_is_f)
{
	accepts("where -f ^io$", MODE_WHERE);
	assert_string_equal(options.fields, "^io$");
	refuses("where --reason x", "unknown option --reason");
}

/* In all commands. Two letters are of replaced programs: kvmexit's -t and kvmtrace_format's -c. */
TEST(a_letter_is_one_option)
{
	for (size_t i = 0; i < option_table.nr; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct option_spec *a = &option_table.specs[i];
			const struct option_spec *b = &option_table.specs[j];

			if (!a->letter || a->letter != b->letter ||
			    (a->works | b->works) & MODE_FORMAT ||
			    (a->letter == 't' && (a->works | b->works) & MODE_EXITS))
				continue;
			if (strcmp(a->name, b->name) != 0)
				fail_msg("-%c is --%s and --%s", a->letter, b->name, a->name);
		}
	}
}

TEST(what_a_history_keeps_is_a_list)
{
	accepts("-w x --keep who,hotspots --keep where -l", MODE_LOG);
	assert_int_equal(options.keeps, 1U << KEEP_HOTSPOTS | 1U << KEEP_WHO | 1U << KEEP_WHERE);
	accepts("-w x", MODE_WRITE);
	assert_int_equal(options.keeps, 0);
	refuses("-w x --keep who,",
		"\"\": --keep takes words of hotspots who where interrupts long");
	refuses("-w x --keep exits", "\"exits\": --keep takes words of");
	refuses("-1 --keep who", "--keep needs -w/--write");
	refuses("-w x --view who",
		"--view works with the screen, -1/--once, -l/--log, --diff or -f help, not with "
		"-w/--write");
}

TEST(options_without_effect_are_refused)
{
	refuses("-1 -n 3", "-n/--samples works with the screen, -l/--log or -w/--write, not with "
			   "-1/--once");
	refuses("-1 --no-mouse", "--no-mouse works with the screen, not with -1/--once");
	refuses("report --no-mouse --csv x", "--no-mouse and -c/--csv exclude each other");
	refuses("--engine bpf -1 --sysroot x", "--engine works with this machine, not with a "
					       "captured machine");
	refuses("-f help -s 1", "-s/--interval works with the screen, -1/--once, -l/--log, "
				"--diff or -w/--write, not with -f help");
	refuses("-r a.db b.db", "\"b.db\": -r names one source");
}

TEST(commands_are_named)
{
	refuses("foo", "unexpected argument \"foo\"; a command is the first word: "
		       "exits, export, format, record, report, timeline");
	refuses("-1 report", "unexpected argument \"report\"");
	accepts("--version -k x extra", MODE_VERSION);
}

TEST(a_source_may_be_named)
{
	static const char *const named[] = { "-r h.db", "h.db -r", "-r -- h.db", "--read h.db",
					     "--read=h.db", "-1r h.db", "-r -1 h.db", "-r1 h.db",
					     "-r --at -30s h.db",
					     "-r h.db --diff -2h..-1h --from -1h" };
	static const char *const unnamed[] = { "-r", "--read", "-r -1", "-r1", "-r --at 03:12",
					       "-r --diff -2h..-1h --from -1h" };

	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		assert_int_equal(parse(named[i]), 0);
		assert_int_equal(options.source, FROM_HISTORY);
		assert_string_equal(options.read_file, "h.db");
	}
	for (size_t i = 0; i < ARRAY_SIZE(unnamed); i++) {
		assert_int_equal(parse(unnamed[i]), 0);
		assert_int_equal(options.source, FROM_HISTORY);
		assert_string_equal(options.read_file, "/var/lib/kvmtop/history.db");
	}
	accepts("-r -1", MODE_ONCE);
	accepts("-r -l h.db", MODE_LOG);
	refuses("h.db", "unexpected argument \"h.db\"");
	refuses("-r a.db b.db", "unexpected argument \"b.db\"");
	refuses("--read=a.db b.db", "unexpected argument \"b.db\"");
}

TEST(a_source_is_what_it_is)
{
	accepts("", MODE_SCREEN);
	assert_int_equal(options.source, FROM_LIVE);
	accepts("-r tests/sysroot/amd -1", MODE_ONCE);
	assert_int_equal(options.source, FROM_MACHINE);
	assert_string_equal(options.sysroot, "tests/sysroot/amd");
	accepts("--sysroot tests/sysroot/amd", MODE_SCREEN);
	assert_int_equal(options.source, FROM_MACHINE);
	accepts("-r tests/data/trace/svm-perf.data b --json", MODE_ONCE);
	assert_int_equal(options.source, FROM_RECORDING);
	assert_int_equal(options.nr_words, 1);
	accepts("-r -", MODE_SCREEN);
	assert_int_equal(options.source, FROM_RECORDING);
	accepts("-r http://a:9090 -1", MODE_ONCE);
	assert_int_equal(options.source, FROM_PROMETHEUS);
	assert_string_equal(options.url, "http://a:9090");
	accepts("-r localhost:9090 -1", MODE_ONCE);
	assert_int_equal(options.source, FROM_PROMETHEUS);
	assert_string_equal(options.url, "localhost:9090");
	accepts("-r http://a:9090/prefix/ -1", MODE_ONCE);
	accepts("--from http://a:9090 --host b", MODE_SCREEN);
	assert_int_equal(options.source, FROM_PROMETHEUS);
	refuses("--from http://a -r x", "-r/--read and --from URL exclude each other");
	refuses("-r http://u:p@a", "user and password go into --http-config FILE");
	refuses("-1 --host a", "--host works with a Prometheus (-r), not with this machine");
	refuses("-r http://a -1 -g b", "-g/--guest needs --host");
	refuses("-r http://a -1 --to -5min", "--to needs --from");
}

TEST(times_are_of_the_past)
{
	accepts("-r --at -1d12h", MODE_SCREEN);
	assert_string_equal(options.at, "-1d12h");
	accepts("-r -1 --at 03:12", MODE_ONCE);
	accepts("-r -1 --from 03:10 --to +5m", MODE_ONCE);
	assert_string_equal(options.from, "03:10");
	assert_string_equal(options.to, "+5m");
	accepts("-r -l -c --view exits --from -2h", MODE_LOG);
	accepts("-r --json", MODE_ONCE);
	accepts("-r -c --view exits --from 03:10", MODE_ONCE);
	accepts("-r -l -z -c", MODE_LOG);
	refuses("-r -z", "-z/--skip-zero-records works with");
	accepts("-r --diff 03:10..03:15 --from -2h --to -1h --json", MODE_DIFF);
	assert_string_equal(options.other, "03:10..03:15");
	assert_string_equal(options.from, "-2h");
	refuses("-r --at tomorrow", "\"tomorrow\": not a time such as 03:12, -30s");
	refuses("-r -1 --from 3", "\"3\": not a time such as");
	refuses("-r -1 --to -5", "\"-5\": not a step such as -30s");
	refuses("-r --diff 03:10..03:15",
		"--diff needs --from or --to: they are the span that is compared");
	refuses("-r --diff", "option --diff needs FROM..TO");
	refuses("-r --diff 03:20 --from -1h", "\"03:20\": not a span such as 03:10..03:15");
	refuses("-r --diff x..03:15 --from 03:20", "\"x\": not a time such as");
	refuses("--at 03:12", "--at works with a recording, a history or a Prometheus (-r), not "
			      "with this machine");
	refuses("-1 --from 03:12", "--from works with a recording, a history or");
	refuses("--diff -2h..-1h --from -1h", "--from works with a recording, a history or");
	refuses("-r -l --at 03:12", "--at works with the screen or -1/--once, not with -l/--log");
	refuses("-r -1 --at 03:12 --to 03:15",
		"--at and --to exclude each other: it is one moment");
	refuses("-r --from 03:12",
		"--from works with -1/--once, -l/--log or --diff, not with the screen");
	refuses("-r -l --diff -2h..-1h --from -1h",
		"--diff and -l/--log exclude each other: it has a format of its own");
	refuses("-r --at -1h --diff -2h..-1h --from -1h", "--diff and --at exclude each other");
}

TEST(what_is_over_is_not_counted)
{
	static const char *const live[] = {
		"-t/--tracepoints", "-d/--debugfs",
		"-i/--debugfs-include-past", "--list-guests", "--list-providers",
	};

	for (size_t i = 0; i < ARRAY_SIZE(live); i++) {
		char words[64], wanted[96];

		snprintf(words, sizeof(words), "-r -1 %s", strstr(live[i], "--"));
		snprintf(wanted, sizeof(wanted),
			 "%s works with this machine or a captured machine, not with a history",
			 live[i]);
		refuses(words, wanted);
	}
	refuses("-r -w x", "-w/--write works with this machine or a captured machine, not with");
	refuses("-r -l -s 5", "-s/--interval works with this machine, a captured machine, a "
			      "recording or a Prometheus (-r), not with a history");
	refuses("-r --sysroot x", "-r/--read and --sysroot exclude each other");
	refuses("-r tests/sysroot/amd --sysroot x", "-r/--read and --sysroot exclude each other");
}

TEST(files_and_guests_have_a_name)
{
	static const struct {
		const char *option, *label;
	} cases[] = {
		{ "-r", "-r/--read needs SOURCE" },
		{ "--read=", "-r/--read needs SOURCE" },
		{ "-w", "-w/--write needs FILE" },
		{ "-L", "-L/--log-to-file needs FILE" },
		{ "--sysroot", "--sysroot needs DIR" },
		{ "-g", "-g/--guest needs NAME" },
		{ "--thresholds", "--thresholds needs FILE" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char program[] = "kvmtop", option[16], empty[] = "", want[64];
		char *argv[] = { program, option, empty, NULL };
		int argc = cases[i].option[strlen(cases[i].option) - 1] == '=' ? 2 : 3;

		snprintf(option, sizeof(option), "%s", cases[i].option);
		snprintf(want, sizeof(want), "%s, which is empty", cases[i].label);
		assert_int_equal(options_parse(&top_command, argc, argv, &options, &error),
				 -EINVAL);
		assert_string_equal(error.text, want);
	}
}

/* As in kvm_stat: it matches every name. */
TEST(an_expression_may_be_empty)
{
	char program[] = "kvmtop", letter[] = "-f", empty[] = "";
	char *argv[] = { program, letter, empty, NULL };

	assert_int_equal(options_parse(&top_command, 3, argv, &options, &error), 0);
}

TEST(lists_take_no_options_of_samples)
{
	refuses("--list-guests -w x", "-l/--log or -w/--write, not with --list-guests");
	refuses("--list-guests -f kvm_exit", "-f/--fields works with ");
	refuses("--list-guests --view vcpus", "--view works with ");
	refuses("--list-providers -p 1", "-p/--pid works with ");
	refuses("--list-providers -n 1", "-n/--samples works with ");
	refuses("-r x --diff @0..@1 --from @1 -n 1", "-n/--samples works with ");
	refuses("-f help -n 1", "-n/--samples works with ");
	refuses("-f help -w x", "-w/--write works with ");
	refuses("--demo --sysroot x", "--demo works with this machine, not with a captured");
	accepts("-f help --view vcpus", MODE_FIELDS);
	accepts("-f help -d", MODE_FIELDS);
	accepts("--demo --list-guests", MODE_GUESTS);
}

TEST(what_is_kept_has_limits)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_true(dup2(null, STDIN_FILENO) == STDIN_FILENO); /* no terminal */
	accepts("-w h.db", MODE_WRITE);
	assert_string_equal(options.write_file, "h.db");
	assert_true(options.max_age_ns == 0 && options.max_size == 0);
	accepts("-w h.db -s 10 --max-age 7d --max-size 2G", MODE_WRITE);
	assert_true(options.max_age_ns == UINT64_C(7) * 86400 * 1000000000);
	assert_true(options.max_size == UINT64_C(2) << 30);
	accepts("-w h.db -l", MODE_LOG);
	refuses("--max-age 7d", "--max-age needs -w/--write");
	refuses("-l --max-size 7G", "--max-size needs -w/--write");
	refuses("-w h.db --max-age 7", "\"7\": not a duration such as 200us, 5ms, 30s, 10min, 7d");
	refuses("-w h.db --max-size 2", "\"2\": not a size such as 500M, 64MiB, 2G");
	refuses("-w h.db --max-size 4095K",
		"\"4095K\": too small for a history: give at least 4M");
	accepts("-w h.db --max-size 4M", MODE_WRITE);
	assert_true(options.max_size == HISTORY_SIZE_LEAST);
	accepts("-w h.db --max-size 0", MODE_WRITE);
	assert_true(options.max_size == 0);
	refuses("-w", "option -w needs FILE");
}

/* ---- the commands ---- */

TEST(an_export_is_for_prometheus)
{
	accepts("export --prometheus a.prom", MODE_EXPORT);
	assert_true(options.interval_s == 15);
	assert_int_equal(options.max_series, 20000);
	accepts("export --prometheus - -s 5 --max-series 7 --metrics user", MODE_EXPORT);
	assert_true(options.interval_s == 5);
	assert_int_equal(options.max_series, 7);
	accepts("export --listen 9752 --web-config x", MODE_EXPORT);
	assert_true(options.interval_s == 3);
	accepts("export --listen [::1]:9752", MODE_EXPORT);
	accepts("export --listen unix:/x", MODE_EXPORT);
	accepts("export --listen systemd", MODE_EXPORT);
	accepts("export --metrics help", MODE_EXPORT);
	assert_true(options.metrics_help);
	refuses("export", "give --listen ADDRESS or --prometheus FILE.prom");
	refuses("export --prometheus a.txt",
		"\"a.txt\": node_exporter reads only names that end in");
	refuses("export --prometheus .prom", "node_exporter reads only names");
	refuses("export --prometheus a.prom --listen 1", "exclude each other: run kvmtop twice");
	refuses("export --prometheus a.prom -b", "unknown option -b");
	refuses("export --listen 1 -w h.db", "unknown option -w");
	refuses("export --prometheus a.prom --web-config x", "--web-config needs --listen");
	refuses("--metrics user", "unknown option --metrics");
	refuses("--listen 9752", "unknown option --listen");
	accepts("export --listen localhost:9752", MODE_EXPORT);
	accepts("export --listen 0.0.0.0:9752", MODE_EXPORT);
	accepts("export --listen :9752", MODE_EXPORT);
	refuses("export --listen a.example:9752", "the address must be numbers");
	refuses("export --listen []:9752", "the address must be numbers");
	refuses("export --listen [:::]:9752", "the address must be numbers");
	refuses("export --listen host", "\"host\": no address to listen at");
	refuses("export --listen 70000", "no address to listen at");
	refuses("export --listen ::1:9", "is written in brackets");
	refuses("export --listen unix:", "the path of a socket has 1 to 107 bytes");
	refuses("export --listen 1 --metrics nothing", "\"nothing\": no such metrics");
}

TEST(frequencies_have_units)
{
	static const struct {
		const char *word;
		double mhz;
	} all[] = { { "2.4GHz", 2400 }, { "2400MHz", 2400 }, { "2400000kHz", 2400 },
		    { "2400mhz", 2400 }, { "1kHz", 0.001 }, { "2400", 2400 },
		    { "10", 10 }, { "1", 1 }, { "3000.0", 3000 },
		    { "9999", 9999 }, { "10000", 10 }, { "2400000", 2400 } };
	static const char *const wrong[] = { "", "0", "-1MHz", "20000000", "2THz", "MHz",
					     "nan", "inf", "1e9GHz" };
	char words[64];

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		snprintf(words, sizeof(words), "report --frequency %s x", all[i].word);
		accepts(words, MODE_REPORT);
		assert_true(options.mhz > all[i].mhz * 0.999 && options.mhz < all[i].mhz * 1.001);
	}
	accepts("timeline -r x --frequency 2400", MODE_TIMELINE);
	assert_true(options.mhz > 2399 && options.mhz < 2401);
	accepts("format --frequency 2.4GHz rules", MODE_FORMAT);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(words, sizeof(words), "report --frequency=%s x", wrong[i]);
		refuses(words, "not a frequency with a unit, as in 2.4GHz");
	}
}

static void sorts_by(const char *key, const char *column)
{
	char words[64];

	snprintf(words, sizeof(words), "exits -k %s", key);
	accepts(words, MODE_EXITS);
	assert_int_equal(options.column, view_column_by_id(&view_exits, column));
}

TEST(nothing_means_all)
{
	accepts("exits", MODE_EXITS);
	assert_int_equal(options.pid + options.tid, 0);
	assert_int_equal(options.nr_only, 0);
	assert_int_equal(options.event, EXITS_VMEXIT);
	assert_true(options.duration_s <= 0);
	assert_string_equal(options.sysroot, "");
	assert_int_equal(options.column, view_column_by_id(&view_exits, "total"));
}

TEST(whose)
{
	accepts("exits -p 4000 -v 1 5", MODE_EXITS);
	assert_int_equal(options.pid, 4000);
	assert_true(options.has_vcpu);
	assert_int_equal(options.vcpu, 1);
	assert_true(options.duration_s > 4.9 && options.duration_s < 5.1);
	accepts("exits -p 4000 -v 0", MODE_EXITS);
	assert_true(options.has_vcpu);
	accepts("exits --pid 4000 --alltids", MODE_EXITS);
	assert_true(options.all);
	accepts("exits -t 4001", MODE_EXITS);
	assert_int_equal(options.nr_only, 1);
	assert_int_equal(options.only[0], 4001);
	accepts("exits -T 4001,4002,4003 0.5", MODE_EXITS);
	assert_int_equal(options.nr_only, 3);
	assert_int_equal(options.only[2], 4003);
	accepts("report -p 123,124 x", MODE_REPORT);
	assert_string_equal(options.pids, "123,124");
	assert_int_equal(options.pid, 0);
}

TEST(events)
{
	accepts("exits --event mmio", MODE_EXITS);
	assert_int_equal(options.event, EXITS_MMIO);
	accepts("exits --event=hypercall", MODE_EXITS);
	assert_int_equal(options.event, EXITS_HYPERCALL);
	refuses("exits --event vmexits",
		"no such event; there are: vmexit, userspace, ioport, mmio");
	accepts("record --filter a -e kvm_exit --filter b", MODE_RECORD);
	assert_string_equal(options.ring.filter, "a");
	assert_string_equal(options.choices[0].pattern, "kvm_exit");
	assert_string_equal(options.choices[0].filter, "b");
	accepts("record --buffer-size 64 -C mono --sched", MODE_RECORD);
	assert_int_equal(options.ring.kib, 64);
	assert_string_equal(options.ring.clock, "mono");
	assert_true(options.ring.sched);
}

TEST(perfs_keys)
{
	sorts_by("sample", "total");
	sorts_by("total", "total");
	sorts_by("percent_sample", "total_percent");
	sorts_by("time", "time_ns");
	sorts_by("mean", "avg_ns");
	sorts_by("max_time", "max_ns");
	sorts_by("p99", "p99_ns");
	sorts_by("avg_ns", "avg_ns"); /* our own names, too */
	sorts_by("rate", "rate");
	refuses("exits --sort speed",
		"\"speed\": no column to sort by in view exits; there are:\n  reason  ");
	refuses("exits -k hist",
		"\"hist\": no column to sort by in view exits; there are:\n  reason  ");
	refuses("exits -k ", "-k needs COLUMN");
}

TEST(what_makes_no_sense)
{
	refuses("exits -v 1", "-v/--vcpu needs -p/--pid or -g/--guest");
	refuses("exits -a", "-a/--alltids needs -p/--pid or -g/--guest");
	refuses("exits -p 1 -a -v 1", "-a/--alltids and -v/--vcpu exclude each other");
	refuses("exits -p 1 --tid 2", "-p/--pid and -t/--tid exclude each other");
	refuses("exits --tid 1 -T 2", "-t/--tid and -T/--tids exclude each other");
	refuses("exits -g db -p 2", "-p/--pid and -g/--guest exclude each other");
	refuses("exits --tid=1 --ti=2", "is ambiguous: --tid or --tids");
	refuses("exits --jso=1", "--json takes no argument");
	refuses("exits --json=", "--json takes no argument");
	refuses("exits --jsonx", "unknown option --jsonx");
	refuses("exits --json --csv", "exclude each other");
	refuses("exits --output x", "-o/--output needs -c/--csv or --json");
	refuses("exits -p 1 -v -1", "N must be a whole number");
	refuses("exits -p 1 -v 1x", "N must be a whole number");
	refuses("exits -p 1 -v 9999999999", "no vCPU has such a high number");
	refuses("exits -p 0", "PID must be");
	refuses("exits -T 1,,2", "TID must be a number from 1");
	refuses("exits -T 1,2,", "TID must be");
	refuses("exits -T -1", "TID must be");
	refuses("exits -T 99999999999", "TID must be");
	refuses("exits 5 6", "unexpected argument \"6\"");
	refuses("exits soon", "\"soon\": not a time from 0.1 s to");
	refuses("exits 0", "not a time from 0.1 s to");
	refuses("exits -- -5", "not a time from 0.1 s to");
	refuses("exits sleep 5", "not a time from 0.1 s to");
	accepts("exits -- 0.5", MODE_EXITS);
	assert_true(options.duration_s > 0.4 && !options.command);
	accepts("exits -k time -- sleep -k 5", MODE_EXITS);
	assert_string_equal(options.command[0], "sleep");
	assert_string_equal(options.command[2], "5");
	assert_null(options.command[3]);
	assert_true(options.duration_s <= 0);
	refuses("exits nan", "not a time from 0.1 s to");
	refuses("exits --whatever", "--whatever");
}

TEST(long_exits)
{
	accepts("exits --longer 5ms", MODE_EXITS);
	assert_int_equal(options.longer_ns, 5000000);
	assert_false(options.halts || options.arguments);
	accepts("exits --longer 1.5us --halts --arguments -g web1 10", MODE_EXITS);
	assert_int_equal(options.longer_ns, 1500);
	assert_true(options.halts && options.arguments);
	accepts("exits --longer 1s --guest-kallsyms a=b=c --guest-kallsyms web1=/f", MODE_EXITS);
	assert_int_equal(options.nr_kallsyms, 2);
	assert_string_equal(options.kallsyms[1], "web1=/f");
	refuses("exits --longer 5", "5");
	refuses("exits --longer 0", "a time above 0");
	refuses("exits --longer x", "x");
	refuses("exits --halts", "--halts needs --longer");
	refuses("exits --arguments", "--arguments needs --longer");
	refuses("exits --guest-kallsyms a=b", "--guest-kallsyms needs --longer");
	refuses("exits --longer 1ms --guest-kallsyms web1", "takes NAME=FILE");
	refuses("exits --longer 1ms --guest-kallsyms =f", "takes NAME=FILE");
	refuses("exits --longer 1ms --guest-kallsyms a=", "takes NAME=FILE");
	refuses("exits --longer 1ms -k total", "--longer and -k/--sort exclude each other");
	refuses("exits --longer 1ms --event msr", "--longer and --event exclude each other");
	refuses("exits --longer 1ms -p 1 --diff b", "--longer and --diff exclude each other");
	refuses("report --longer 1ms --by tid x", "--longer and --by exclude each other");
}

TEST(options_that_stand_for_a_view)
{
	accepts("-1 -b --view guests", MODE_ONCE);
	refuses("-1 -b --view exits", "-b/--by-guest is the view guests: leave out --view exits");
	refuses("-r tests/data/trace/svm-perf.data -b --view exits -1", "leave out --view exits");
	accepts("report --longer 1ms --view long x", MODE_REPORT);
	assert_ptr_equal(options.view, &view_long_exits);
	refuses("report --longer 1ms --view where x", "--longer is the view long: leave out "
						      "--view where");
	accepts("report --folded --view where x", MODE_REPORT);
	accepts("report --svg f --view where -x x", MODE_REPORT);
	accepts("report --folded -x x", MODE_REPORT);
	assert_ptr_equal(options.view, &view_where);
	refuses("report --svg f --view exits x", "--svg is the view where: leave out");
	refuses("report -x x", "-x/--children needs --view or --folded or --svg");
}

TEST(code_of_guests)
{
	accepts("where --guest-code --guest-symbols --guest-kallsyms web1=/f 3", MODE_WHERE);
	assert_true(options.guest_code && options.guest_symbols);
	assert_int_equal(options.nr_kallsyms, 1);
	refuses("where --guest-symbols", "--guest-symbols needs --guest-code");
	refuses("where --guest-kallsyms a=b", "--guest-kallsyms needs --guest-code");
}

TEST(too_many_kernels)
{
	char words[1024] = "exits --longer 1ms";

	for (int i = 0; i < KALLSYMS_GUESTS; i++)
		strcat(words, " --guest-kallsyms a=b");
	accepts(words, MODE_EXITS);
	strcat(words, " --guest-kallsyms a=b");
	refuses(words, "at most 16 can be given");
}

TEST(too_many_threads)
{
	char words[4096] = "exits -T 1";

	for (int i = 1; i < TIDS_MAX; i++)
		strcat(words, ",1");
	accepts(words, MODE_EXITS);
	assert_int_equal(options.nr_only, TIDS_MAX);
	strcat(words, ",1");
	refuses(words, "at most");
}

TEST(help_needs_nothing_else_to_be_right)
{
	static const char *const words[] = { "--help --view x --no-such-option -g",
					     "exits --help soon -v 1",
					     "exits --help --no-such-option -g" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		assert_int_equal(parse(words[i]), 0);
		assert_true(options.help);
	}
}

/* A rule or a name that no row has would never be noticed. */
TEST(rules_name_options)
{
	for (size_t i = 0; i < option_table.nr_rules; i++) {
		const struct option_rule *rule = &option_table.rules[i];
		const struct option_command all = { .works =
							    rule->works ? rule->works : MODES_ALL };
		char words[128], name[64], *at = words, *word;

		snprintf(words, sizeof(words), "%s %s", rule->names, rule->others);
		while ((word = strsep(&at, " "))) {
			snprintf(name, sizeof(name), "--%s", word);
			if ((all.works & MODES_ALL) && !option_by_word(&option_table, &all, name))
				fail_msg("%s of rule %zu is no option", name, i);
		}
	}
}
