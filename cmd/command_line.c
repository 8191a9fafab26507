// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options, the rules between them, and what their values mean. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/argument.h"
#include "lib/array.h"
#include "lib/units.h"
#include "cmd/command.h"
#include "cmd/run.h"
#include "ui/metrics/metrics.h"
#include "trace/timeline/out.h"

#define ONCE_S 1.0 /* as kvm_stat's -1 */
#define FILE_DELAY_S 15.0 /* of --prometheus: as often as node_exporter is scraped by default */

/* What the shell's completion offers for the arguments of options. */
#define TIMES "now today yesterday"
#define LONG_TIMES "1ms 5ms 100ms"
#define EXIT_KINDS "vmexit userspace mmio ioport msr cpuid hypercall sysreg fault interrupt"
#define RECORDING_KINDS "trace.dat perf.data acrn kvmtrace"
#define COSTS_BY_NAME "times events none" /* as enum cost */
#define CLOCKS "local global counter uptime perf mono mono_raw boot tai x86-tsc"

/* ---- the rows ---- */

/* works; letter, 0: none; name; the argument's name; member of struct options; help; more. */
#define ROW(kind_, works_, letter_, name_, value_, member, ...) \
	{ .kind = (kind_), .works = (works_), .letter = (letter_), .name = (name_), \
	  .value = (value_), .offset = offsetof(struct options, member), .help = __VA_ARGS__ }
#define HEADING(text) { .heading = (text) }
#define FLAG(works, letter, name, ...) ROW(VALUE_FLAG, works, letter, name, NULL, __VA_ARGS__)
#define STRING(...) ROW(VALUE_STRING, __VA_ARGS__)
#define WORD(...) ROW(VALUE_WORD, __VA_ARGS__)
#define NUMBER(...) ROW(VALUE_NUMBER, __VA_ARGS__)
#define COUNT(...) ROW(VALUE_COUNT, __VA_ARGS__)
/* Its function reads the argument. */
#define OTHER(works_, letter_, name_, value_, take_, ...) \
	{ .kind = VALUE_OTHER, .works = (works_), .letter = (letter_), .name = (name_), \
	  .value = (value_), .take = (take_), .help = __VA_ARGS__ }
#define IN_MAN .is_in_man = true
#define FILES .offer = OFFER_FILES

/* Shorter names, for the column "works with". */
#define TOP MODES_TOP
#define RUNS (MODES_TOP & ~(MODE_PROVIDERS | MODE_GUESTS))
#define ROWS (RUNS & ~MODE_FIELDS)
#define SAMPLES (ROWS & ~MODE_DIFF)
#define SCREEN MODE_SCREEN
#define ONCE MODE_ONCE
#define LOG MODE_LOG
#define EXITS MODE_EXITS
#define WHY MODE_WHY
#define WHO MODE_WHO
#define REPORT MODE_REPORT
#define WHERE MODE_WHERE
#define EXPORT MODE_EXPORT
#define RECORD MODE_RECORD
#define FORMAT MODE_FORMAT
#define TIMELINE MODE_TIMELINE
#define NOW FROM_NOW
#define PAST FROM_PAST
#define RECORDING FROM_RECORDING
#define PROMETHEUS FROM_PROMETHEUS

static const struct option_spec specs[] = {
	HEADING("What to count"),
	STRING(RUNS, 'f', "fields", "REGEX", fields, "only matching names; \"help\" lists them",
	       .offer = OFFER_FIELDS, .words = "help"),
	OTHER(RUNS | EXITS | WHERE | WHY | WHO | REPORT | RECORD, 'g', "guest", "NAME", take_guest,
	      "one guest, by its name", .offer = OFFER_GUESTS),
	OTHER(RUNS | REPORT, 'p', "pid", "PID", take_pids,
	      "a guest, by its process; of a recording several", .offer = OFFER_PIDS),
	OTHER(EXITS | WHERE | WHY | WHO | RECORD, 'p', "pid", "PID", take_pids,
	      "one guest, by its process", .offer = OFFER_PIDS),
	STRING(WHERE, 'f', "fields", "REGEX", fields, "only exits with matching reasons"),
	WORD(EXITS | REPORT, 0, "by", "WHAT", by, "a row for each reason, guest, vcpu or tid",
	     .words = BY_WORDS),
	OTHER(EXITS | REPORT, 0, "longer", "TIME", take_longer,
	      "instead, each exit longer than TIME (5ms, 200us)", .words = LONG_TIMES),
	STRING(EXITS | REPORT, 0, "event", "EVENT", event_name, EXIT_KINDS, .words = EXIT_KINDS),
	FLAG(EXITS, 'a', "alltids", all, "with -p or -g: a line for each vCPU"),
	NUMBER(EXITS | REPORT, 'v', "vcpu", "N", vcpu, "only vCPUs of this number",
	       .take = check_vcpu),
	OTHER(EXITS, 't', "tid", "TID", take_tid, "one vCPU, by its thread"),
	OTHER(EXITS, 'T', "tids", "TID,...", take_tids, "these vCPUs, by their threads"),
	FLAG(EXITS | REPORT | WHERE, 0, "halts", halts, "halts, too"),
	FLAG(WHERE, 0, "guest-code", guest_code, "the guest's functions, too, with their exits"),
	FLAG(EXITS | WHERE, 0, "arguments", arguments,
	     "tell exits apart by port, MSR ...; costs more"),
	COUNT(WHERE, 0, "hertz", "N", hertz, "samples a second on each CPU (default 99)"),
	FLAG(WHO, 0, "interrupts", interrupts,
	     "instead, how long interrupts are pending before a vCPU enters its guest"),
	WORD(RUNS | NOW | EXPORT, 0, "cost", "LEVEL", cost_name,
	     "what counting may cost guests: none (no program in exits), events (counts), "
	     "times (default)", .words = COSTS_BY_NAME),
	FLAG(RUNS | NOW, 't', "tracepoints", tracepoints,
	     "count the kernel's trace events, as --cost events"),
	FLAG(RUNS | NOW, 'd', "debugfs", debugfs,
	     "KVM's own counters, by debugfs, as --cost none; -d -t: both"),
	FLAG(RUNS | NOW, 'i', "debugfs-include-past", include_past,
	     "KVM's own counters since each guest's start, as --cost none"),
	WORD(TOP | FROM_LIVE | EXPORT, 0, "engine", "NAME", engine,
	     "what counts trace events: bpf or perf", IN_MAN, .words = "bpf perf"),
	OTHER(RECORD, 'e', "trace-event", "EVENT", take_event,
	      "only this event; * is any text, ? any character; may be repeated",
	      .offer = OFFER_EVENTS),
	OTHER(RECORD, 0, "filter", "EXPR", take_filter,
	      "a filter of the kernel for the -e before it, or for all events"),
	FLAG(RECORD, 0, "sched", ring.sched, "also record when the guests' threads wait for a CPU"),
	COUNT(RECORD, 0, "buffer-size", "KIB", ring.kib, "size of the buffer of each CPU"),
	STRING(RECORD, 'C', "clock", "CLOCK", ring.clock,
	       "the kernel's clock: local, mono, x86-tsc ...", .words = CLOCKS),

	HEADING("How to show it"),
	STRING((RUNS & ~MODE_WRITE) | REPORT, 0, "view", "NAME", view_name, "",
	       .add_help = view_type_names, .offer = OFFER_VIEWS),
	FLAG(RUNS, 'b', "by-guest", by_guest, "the same as --view guests",
	     .offer = OFFER_VIEWS),
	ROW(VALUE_FLAG, TOP, '1', "once", NULL, batch, "count for a second, or -s, print, end",
	    .alias = "batch"),
	FLAG(TOP, 'l', "log", log, "print a line per interval"),
	STRING(TOP, 'L', "log-to-file", "FILE", output,
	       "append these lines to FILE; SIGHUP reopens it", FILES),
	STRING(ROWS | NOW | PROMETHEUS | RECORDING, 's', "interval", "SECONDS", interval,
	       "between samples (default 3; of a recording less)", .alias = "set-delay"),
	STRING(EXPORT, 's', "interval", "SECONDS", interval, "between samples (default 3)",
	       .alias = "set-delay"),
	COUNT((SAMPLES & ~ONCE) | EXPORT, 'n', "samples", "N", samples, "end after N intervals"),
	FLAG(ROWS | WHERE | WHO | REPORT, 'x', "children", children,
	     "all rows of trees: reasons, calls, who had a CPU"),
	STRING(ROWS | EXITS | WHERE | REPORT, 'k', "sort", "COLUMN", sort,
	       "sort by it; an unknown name lists all", .offer = OFFER_COLUMNS),
	FLAG(REPORT, 0, "text", text, "text on a terminal, too"),
	STRING(WHERE | REPORT, 0, "svg", "FILE", svg, "a flame graph, for a browser", FILES),
	FLAG(WHERE | REPORT, 0, "folded", folded, "a line for each stack, for flame graphs"),
	FLAG(ONCE | LOG | MODE_DIFF | EXITS | WHERE | WHY | WHO | REPORT, 'c', "csv", csv,
	     "as CSV"),
	FLAG(ONCE | LOG | MODE_DIFF | EXITS | WHERE | WHY | WHO | REPORT, 0, "json", json,
	     "as JSON, an object for each sample"),
	FLAG(ONCE | LOG, 'z', "skip-zero-records", skip_zero,
	     "with -1 or -l: no line where nothing happened"),
	STRING(EXITS | WHERE | WHY | WHO | REPORT | RECORD | TIMELINE, 'o', "output", "FILE",
	       output, "write to FILE", FILES),
	WORD(TIMELINE, 0, "format", "NAME", format,
	     "chrome: JSON (default); perfetto: smaller and faster, for Perfetto only",
	     .words = TIMELINE_FORMATS),
	STRING(REPORT, 's', "interval", "SECONDS", interval, "between samples on the screen",
	       .alias = "set-delay"),
	FLAG(REPORT, 0, "acrn", acrn, "as ACRN's vm_exit analysis; its CSV is appended"),
	FLAG(SCREEN | REPORT, 0, "no-mouse", no_mouse, "leave the mouse to the terminal"),

	HEADING("What to look at"),
	ROW(VALUE_FLAG, TOP | PAST | FROM_MACHINE, 'r', "read", "[SOURCE]", read,
	    "a history, recording, machine's folder or URL", .take = take_source, FILES),
	OTHER(SCREEN | ONCE | PAST, 0, "at", "TIME", take_at,
	      "begin at: -30min, 03:12, \"2026-11-21 03:12\"", .words = TIMES),
	OTHER(ONCE | LOG | MODE_DIFF | PAST, 0, "from", "TIME|URL", take_from,
	      "with -l: from TIME on; with -1 or --diff: as one interval; of a Prometheus "
	      "http://HOST:9090 (the same as -r URL)", .words = TIMES),
	OTHER(ONCE | LOG | MODE_DIFF | PAST, 0, "to", "TIME", take_to,
	      "with -1, -l or --diff: up to TIME", .words = TIMES),
	STRING(MODE_DIFF | PAST, 0, "diff", "FROM..TO", other,
	       "compare with this span of time, which comes first", .take = check_span),
	STRING(EXITS, 0, "diff", "GUEST", other,
	       "compare with GUEST, pid or name; it comes first", .offer = OFFER_GUESTS),
	STRING(REPORT, 0, "diff", "OTHER", other,
	       "compare with this recording, which comes first", FILES),
	STRING(TOP | PROMETHEUS, 0, "host", "NAME", host,
	       "of a Prometheus: one host, by its label \"instance\""),
	STRING(TOP | PROMETHEUS, 0, "http-config", "FILE", http_config,
	       "of a Prometheus: TLS, password or bearer token, headers, in promtool's format",
	       FILES),
	OTHER(TOP | RECORDING, 0, "frequency", "FREQ", take_frequency,
	      "of the TSC, where a recording's times are in cycles: 2.4GHz"),
	OTHER(REPORT | TIMELINE, 0, "frequency", "FREQ", take_frequency,
	      "of the TSC, where times are in cycles: 2.4GHz"),
	OTHER(FORMAT, 'c', "frequency", "FREQ", take_frequency,
	      "of the TSC: %(tsc) is then in seconds"),
	STRING(TOP | RECORDING | REPORT | TIMELINE, 0, "input-format", "KIND", input_format,
	       "its kind: trace.dat, perf.data, acrn or kvmtrace",
	       .words = RECORDING_KINDS),
	STRING(FORMAT, 0, "input-format", "KIND", input_format,
	       "if it is not recognized: kvmtrace or acrn",
	       .words = "kvmtrace acrn"),
	STRING(TOP | RECORDING | REPORT | TIMELINE, 0, "buffer", "NAME", buffer,
	       "only this buffer; top: a trace.dat's main one"),
	OTHER(TIMELINE, 'r', "read", "FILE", take_recording,
	      "a recording: trace.dat, perf.data, ACRN, kvmtrace; may be repeated", FILES),
	STRING(TIMELINE, 0, "perf-stat", "FILE", perf,
	       "counters: what perf stat -I -x or -j printed", FILES),
	OTHER(TIMELINE, 'O', "offset", "N", take_offset,
	      "how far the guest's clock is ahead of the host's; auto: from -r (default)",
	      .words = "auto"),
	FLAG(TIMELINE, 'F', "trim", trims, "no function calls outside the time of -r"),
	OTHER(TIMELINE, 'm', "merge", "TRACE", take_merged,
	      "function calls on the host, at its time; or GUEST=TRACE, as above", FILES),
	STRING(TIMELINE, 0, "binary", "FILE", binary,
	       "the guest's program: write its symbols into GUESTTRACE", FILES),
	STRING(TIMELINE, 0, "binary-name", "NAME", binary_name,
	       "that program's name in GUESTTRACE (default: test)"),
	STRING(TOP | FROM_MACHINE, 0, "sysroot", "DIR", sysroot, "a captured machine",
	       .offer = OFFER_FOLDERS),
	STRING(EXITS | WHERE | WHY | EXPORT, 0, "sysroot", "DIR", sysroot, "a captured machine",
	       IN_MAN, .offer = OFFER_FOLDERS),

	HEADING("What to keep"),
	STRING(SAMPLES | NOW, 'w', "write", "FILE", write_file,
	       "write every sample to FILE; no terminal needed", FILES),
	OTHER(SAMPLES | NOW, 0, "keep", "VIEW,...", take_keeps,
	      "with -w: also what these views need, which costs more: " KEEP_WORDS,
	      .words = KEEP_WORDS),
	OTHER(SAMPLES | NOW, 0, "max-age", "DURATION", take_max_age,
	      "with -w: drop samples older than this, such as 7d"),
	OTHER(SAMPLES | NOW, 0, "max-size", "SIZE", take_max_size,
	      "with -w: drop the oldest samples beyond this, such as 2G"),
	STRING(EXPORT, 0, "prometheus", "FILE.prom", prometheus,
	       "write FILE for node_exporter's textfile collector, every 15 s or -s", FILES),
	STRING(EXPORT, 0, "listen", "ADDRESS", listen,
	       "answer at ADDRESS:PORT, :PORT (all), PORT (this machine), unix:PATH or systemd",
	       .words = "systemd unix:"),
	STRING(EXPORT, 0, "web-config", "FILE", web_config,
	       "with --listen: TLS and passwords, in the format of Prometheus' exporters", FILES),
	OTHER(EXPORT, 0, "metrics", "NAME,...", take_metrics,
	      "add these metrics, or with no-NAME leave them out; \"help\" lists all",
	      .offer = OFFER_METRICS, .words = "help"),
	COUNT(EXPORT, 0, "max-series", "N", max_series,
	      "export at most N series (default 20000)"),

	HEADING("Other"),
	FLAG(TOP | FROM_LIVE, 0, "demo", demo, "run a tiny guest of its own if there is none"),
	FLAG(TOP | NOW, 0, "list-guests", list_guests, "list the guests: process, vCPUs, name"),
	FLAG(TOP | NOW, 0, "list-providers", list_providers,
	     "list what can count here, and why the rest cannot"),
	STRING(TOP | WHY | REPORT | EXPORT, 0, "thresholds", "FILE", thresholds,
	       "of findings; \"help\" prints a file with all (default: " THRESHOLDS_FILE ")",
	       FILES, .words = "help"),
	FLAG(TOP | NOW | WHERE, 0, "guest-symbols", guest_symbols,
	     "name functions of Linux guests, by their memory"),
	FLAG(EXITS, 0, "guest-symbols", guest_symbols,
	     "name functions of Linux guests, by their memory", IN_MAN),
	OTHER(TOP | WHERE | REPORT, 0, "guest-kallsyms", "NAME=FILE", take_kallsyms,
	      "NAME's functions, by its /proc/kallsyms in FILE"),
	OTHER(EXITS, 0, "guest-kallsyms", "NAME=FILE", take_kallsyms,
	      "NAME's functions, by its /proc/kallsyms in FILE", IN_MAN),
	FLAG(TOP, 0, "complete", complete, "what the shell can offer next, after -- and words",
	     IN_MAN),
	FLAG(TOP, 0, "schema", schema, "the JSON schema of --json", IN_MAN, .is_answer = true),
	FLAG(MODES_ALL, 'h', "help", help, "this text", .is_answer = true),
	FLAG(TOP, 'V', "version", version, "the version", .is_answer = true),
};

/* ---- the rules ---- */

static const struct option_rule rules[] = {
	{ true, 0, "keep max-age max-size", "write", NULL },
	{ true, EXITS | REPORT, "halts", "longer", NULL },
	{ true, EXITS, "arguments guest-kallsyms guest-symbols", "longer", NULL },
	{ true, WHERE, "guest-kallsyms guest-symbols", "guest-code", NULL },
	{ true, EXITS, "vcpu alltids diff", "pid guest", NULL },
	{ true, EXITS | WHERE | WHY | WHO | REPORT, "output", "csv json folded", NULL },
	{ false, 0, "svg", "output", NULL },
	{ false, 0, "svg folded csv json", "svg folded csv json", NULL },
	{ false, REPORT, "svg folded", "longer diff acrn by text", "it is the view where" },
	{ true, REPORT, "children", "view folded svg", "the tree is of --view where" },
	{ true, 0, "acrn", "frequency", "the TSC's" },
	{ true, 0, "web-config", "listen", NULL },
	{ true, 0, "trim", "read", "it leaves out calls outside the time of the recordings" },
	{ true, PROMETHEUS, "to", "from", "a Prometheus does not say when it began" },
	{ true, PROMETHEUS, "guest pid", "host", "name the host of the guest" },
	{ false, TOP, "once", "log log-to-file", "-l -n 1 -s 1 logs one second" },
	{ false, 0, "prometheus", "listen", "run kvmtop twice" },
	{ false, 0, "alltids", "vcpu", NULL },
	{ false, EXITS, "pid guest tid tids", "pid guest tid tids", NULL },
	{ false, EXITS, "longer", "sort event diff by", NULL },
	{ false, EXITS, "by", "alltids diff", NULL },
	{ false, REPORT, "longer", "diff acrn by event", NULL },
	{ false, EXITS, "diff", "vcpu alltids sort", "it compares all of two guests" },
	{ true, TOP, "diff", "from to", "they are the span that is compared" },
	{ false, TOP, "diff", "log log-to-file at", "it has a format of its own" },
	{ false, 0, "at", "from to", "it is one moment" },
	{ false, 0, "acrn", "json diff by event view", NULL },
	{ false, REPORT, "view", "by diff", NULL },
	{ false, REPORT, "no-mouse", "text csv json acrn diff", NULL },
};

static const struct option_word mode_words[] = {
	{ MODE_SCREEN, "the screen" },
	{ MODE_ONCE, "-1/--once" },
	{ MODE_LOG, "-l/--log" },
	{ MODE_DIFF, "--diff" },
	{ MODE_WRITE, "-w/--write" },
	{ MODE_FIELDS, "-f help" },
	{ MODE_PROVIDERS, "--list-providers" },
	{ MODE_GUESTS, "--list-guests" },
	{ 0, NULL },
};

static const struct option_word source_words[] = {
	{ FROM_LIVE, "this machine" },
	{ FROM_MACHINE, "a captured machine" },
	{ FROM_RECORDING, "a recording" },
	{ FROM_HISTORY, "a history" },
	{ FROM_PROMETHEUS, "a Prometheus (-r)" },
	{ 0, NULL },
};

static const struct option_group groups[] = {
	{ MODES_ALL, mode_words },
	{ FROM_NOW | FROM_PAST, source_words },
};

const struct option_table option_table = {
	.specs = specs,
	.nr = ARRAY_SIZE(specs),
	.rules = rules,
	.nr_rules = ARRAY_SIZE(rules),
	.groups = groups,
	.nr_groups = ARRAY_SIZE(groups),
};

/* ---- options that depend on each other ---- */

/* Sets what -r names, and the source's kind. SOURCE is the first word, except in --read=SOURCE. */
static int find_source(struct options *options, struct error *error)
{
	const char *path = options->read_file;
	enum source_kind kind;

	if (options->read && !path) {
		path = options->nr_words ? *options->words++ : HISTORY_FILE;
		options->nr_words -= options->nr_words > 0;
	}
	options->read_file = path;
	if (path && *options->sysroot)
		return error_set(error, -EINVAL, "-r/--read and --sysroot exclude each other");
	if (path && !*path)
		return error_set(error, -EINVAL, "-r/--read needs SOURCE, which is empty");
	if (options->url && path)
		return error_set(error, -EINVAL, "-r/--read and --from URL exclude each other");
	if (path && options_is_url(path) && options_take_url(path, options, error) < 0)
		return -EINVAL;
	kind = options->url ? SOURCE_PROMETHEUS : source_kind_of(path);
	if (kind == SOURCE_PROMETHEUS && path)
		options->url = path;
	if (kind == SOURCE_MACHINE)
		options->sysroot = path;
	else if (kind == SOURCE_LIVE && *options->sysroot)
		kind = SOURCE_MACHINE;
	options->source = FROM_LIVE << kind;
	return 0;
}

/* What kvmtop is to do: the first one that the options ask for. */
static unsigned int mode_of(const struct options *options)
{
	bool has_format = options->csv || options->json;
	bool has_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	const struct {
		bool is_asked;
		unsigned int mode;
	} modes[] = {
		{ options->version || options->schema, MODE_VERSION },
		{ options->complete, MODE_COMPLETE },
		{ options->list_providers, MODE_PROVIDERS },
		{ options->list_guests, MODE_GUESTS },
		{ options->fields && strcmp(options->fields, "help") == 0, MODE_FIELDS },
		{ options->other != NULL, MODE_DIFF },
		{ options->log || options->output, MODE_LOG },
		{ options->batch, MODE_ONCE },
		/* --csv or --json alone is -1. */
		{ has_format, MODE_ONCE },
		{ options->write_file && !has_terminal, MODE_WRITE },
		{ true, MODE_SCREEN },
	};
	size_t i = 0;

	while (!modes[i].is_asked)
		i++;
	return modes[i].mode;
}

static int read_interval(struct options *options, struct error *error)
{
	double min_s = options->source & FROM_RECORDING ? 0 : DELAY_MIN_S;

	options->interval_s = options->prometheus ? FILE_DELAY_S :
			      options->mode == MODE_ONCE ? ONCE_S : DELAY_DEFAULT_S;
	return options->interval ? seconds_parse(options->interval, min_s, DELAY_MAX_S,
						 &options->interval_s, error) : 0;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static int read_outputs(struct options *options, struct error *error)
{
	if (is_stdout(options->write_file))
		return error_set(error, -EINVAL, "-w -: a history cannot be written to a pipe: "
				 "name a file");
	if (!is_stdout(options->output) || options->mode == MODE_TIMELINE)
		return 0;
	if (options->mode == MODE_RECORD)
		return error_set(error, -EINVAL, "-o -: a trace.dat cannot be written to a pipe: "
				 "name a file");
	options->output = NULL; /* as without the option */
	return 0;
}

/* The word that costs most sets the level. */
static enum cost cost_of(const struct options *options)
{
	const char *name = options->cost_name;

	if (options->keeps & (1U << KEEP_HOTSPOTS | 1U << KEEP_WHERE | 1U << KEEP_LONG))
		return COST_TIMES;
	if (name && option_word(COSTS_BY_NAME, name) == COST_TIMES)
		return COST_TIMES;
	if (options->tracepoints || (name && option_word(COSTS_BY_NAME, name) == COST_EVENTS))
		return COST_EVENTS;
	return name || options->debugfs || options->include_past ? COST_NONE : COST_TIMES;
}

static int read_values(struct options *options, struct error *error)
{
	/* In the order of BY_WORDS. */
	static const unsigned int by[] = {
		GROUP_REASON, GROUP_GUEST, GROUP_GUEST | GROUP_VCPU, GROUP_GUEST | GROUP_VCPU,
	};
	bool takes_lists = options->source & FROM_RECORDING;
	int err = read_outputs(options, error);

	if (err)
		return err;
	if (options->pids && !options->pid && !takes_lists)
		return error_set(error, -EINVAL, "\"%s\": -p takes one PID here", options->pids);
	options->cost = cost_of(options);
	if (options->by)
		options->groups = by[option_word(BY_WORDS, options->by)];
	if (options->input_format)
		err = trace_kind_by_name(options->input_format, options->mode == MODE_FORMAT,
					 &options->kind, error);
	if (!err && options->event_name)
		err = exit_kind_by_name(options->event_name, &options->event, error);
	return err ? err : read_interval(options, error);
}

static int understand(const struct command *command, struct options *options,
		      struct option_set *given, struct error *error)
{
	int err = find_source(options, error);

	if (err)
		return err;
	if (!options->from) /* --from URL is -r URL */
		option_forget(&option_table, given, "from");
	if (!command->name[0])
		options->mode = mode_of(options);
	else if (options->mode & (MODE_REPORT | MODE_FORMAT | MODE_TIMELINE))
		options->source = FROM_RECORDING;
	err = option_check(&option_table, given, options->mode | options->source, error);
	if (!err)
		err = query_name_view(options, error);
	if (!err)
		err = read_values(options, error);
	if (!err && command->understand)
		err = command->understand(options, error);
	return err;
}

int options_parse(const struct command *command, int argc, char **argv,
		  struct options *ret_options, struct error *error)
{
	struct options options = {
		.mode = command->command.works,
		.sysroot = "",
		.metrics = METRICS_DEFAULT,
		.max_series = METRICS_SERIES_MAX,
	};
	struct option_set given = { 0 };
	int first = option_parse(&option_table, &command->command, argc, argv, &options, &given,
				 error);
	int err = 0;

	if (first < 0)
		return first;
	options.words = argv + first;
	options.nr_words = (size_t)(argc - first);
	if (!options.help && !options.metrics_help)
		err = understand(command, &options, &given, error);
	if (!err)
		*ret_options = options;
	return err;
}
