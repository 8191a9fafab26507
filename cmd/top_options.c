// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/delay.h"
#include "cmd/command.h"
#include "cmd/option.h"
#include "cmd/top_options.h"
#include "views/view.h"

#define OPTIONS struct top_options

static const struct option_spec specs[] = {
	OPT_HEADING("What to count"),
	OPT_STRING('f', "fields", "REGEX", fields,
		   "only what has a matching name; \"help\" lists the names"),
	OPT_STRING('g', "guest", "NAME", guest, "one guest, by its name"),
	OPT_PID('p', "pid", "PID", pid, "one guest, by its process"),
	OPT_FLAG('t', "tracepoints", tracepoints, "from the kernel's trace events (default)"),
	OPT_FLAG('d', "debugfs", debugfs, "from the kernel's debugfs counters; -d -t: from both"),
	OPT_FLAG('i', "debugfs-include-past", include_past,
		 "with -d: what running guests counted before, too"),
	OPT_HEADING("How to show it (default: on the screen, live)"),
	{ .letter = '1', .name = "once", .alias = "batch", .kind = VALUE_FLAG,
	  .offset = OPT_AT(batch), .help = "count for a second, print, end" },
	OPT_FLAG('l', "log", log, "print a line per interval"),
	OPT_STRING('L', "log-to-file", "FILE", log_file, "append them to FILE; SIGHUP reopens it"),
	OPT_FLAG('c', "csv", csv, "with -l or -L: as CSV"),
	OPT_FLAG(0, "json", json, "with -1, -l or -L: a JSON object per sample and line"),
	OPT_FLAG('z', "skip-zero-records", skip_zero,
		 "with -1, -l or -L: no line where nothing happened"),
	OPT_OTHER('s', "set-delay", "SECONDS", delay_s, "interval, 0.1 to 86400 (default 3)"),
	OPT_COUNT('n', "samples", "N", samples, "end after N intervals"),
	OPT_STRING(0, "view", "NAME", view, "begin with: "), /* add_help() adds the names */
	OPT_FLAG('b', "by-guest", by_guest, "the same as --view guests"),
	OPT_FLAG('x', "children", children,
		 "with the reasons of each event (-1 and -c always have them)"),
	OPT_STRING('o', "sort", "COLUMN", sort,
		   "event, total, share, rate; other views: see the man page. A CSV of events has "
		   "its columns by name"),
	OPT_HEADING("Other"),
	OPT_FLAG(0, "demo", demo, "run a tiny guest of its own if there is none"),
	OPT_FLAG(0, "list-guests", list_guests, "the guests that run here: process, vCPUs, name"),
	OPT_FLAG(0, "list-providers", list_providers, "what can count here, and why not"),
	OPT_STRING(0, "engine", "NAME", engine,
		   "what counts trace events: bpf or perf (default: bpf where allowed)"),
	OPT_STRING(0, "sysroot", "DIR", sysroot, "look at a captured machine instead"),
	OPT_HELP,
	OPT_FLAG('V', "version", version, "the version"),
};

/* Takes the delay, and -g or -p as kvm_stat does. */
static int take(void *ret_options, const struct option_spec *spec, const char *text,
		struct why *why)
{
	struct top_options *options = ret_options;

	if (spec->offset == OPT_AT(delay_s))
		return delay_parse(text, &options->delay_s, why);
	option_take_guest(spec, &options->guest, &options->pid);
	return 0;
}

/* Refuses options that make no sense together. */
static int check(const struct top_options *options, struct why *why)
{
	bool logs = options->log || options->log_file;

	if (options->help || options->version)
		return 0;
	if (options->csv && !logs)
		return why_set(why, -EINVAL, "-c/--csv requires -l/--log or -L/--log-to-file");
	if (options->batch && logs)
		return why_set(why, -EINVAL,
			       "-1/--once and -l/--log or -L/--log-to-file exclude each other: "
			       "-l -n 1 -s 1 logs one second");
	if (options->skip_zero && !logs && !options->batch)
		return why_set(why, -EINVAL, "-z/--skip-zero-records requires -1/--once, -l/--log "
					     "or -L/--log-to-file");
	if (options->json && !logs && !options->batch)
		return why_set(why, -EINVAL,
			       "--json requires -1/--once, -l/--log or -L/--log-to-file");
	if (options->json && options->csv)
		return why_set(why, -EINVAL, "-c/--csv and --json exclude each other");
	if (options->engine && strcmp(options->engine, "bpf") != 0 &&
	    strcmp(options->engine, "perf") != 0)
		return why_set(why, -EINVAL, "\"%s\": no such engine; there are: bpf, perf",
			       options->engine);
	return 0;
}

static void add_help(const struct option_spec *spec, char *buf, size_t size)
{
	if (spec->offset == OPT_AT(view))
		view_type_names(buf, size);
}

static const struct option_table table = {
	.specs = specs,
	.nr = ARRAY_SIZE(specs),
	.usage = "Usage: kvmtop [OPTION]...\n"
		 "       kvmtop COMMAND [OPTION]...\n"
		 "Shows what KVM guests on this host make the kernel do: which exits and events,\n"
		 "how often, how long, in which guest.\n",
	.footer = "Exit status: 0 done, 1 failure, 2 wrong usage. Keys: press h. More: man "
		  "kvmtop\n",
	.take = take,
	.add_help = add_help,
};

int top_options_parse(int argc, char **argv, struct top_options *ret_options, struct why *why)
{
	struct top_options options = { .delay_s = DELAY_DEFAULT_S, .sysroot = "" };
	char names[128];
	int first, err;

	first = option_table_parse(&table, argc, argv, &options, why);
	if (first < 0)
		return first;
	if (first < argc) {
		commands_names(names, sizeof(names));
		return why_set(why, -EINVAL,
			       "unexpected argument \"%s\"; a command is the first word: %s",
			       argv[first], names);
	}
	err = check(&options, why);
	options.tracepoints |= !options.debugfs;
	if (!err)
		*ret_options = options;
	return err;
}

enum mode top_options_mode(const struct top_options *options)
{
	if (options->help)
		return MODE_HELP;
	if (options->version)
		return MODE_VERSION;
	if (options->list_providers)
		return MODE_PROVIDERS;
	if (options->list_guests)
		return MODE_GUESTS;
	if (options->fields && strcmp(options->fields, "help") == 0)
		return MODE_FIELDS;
	if (options->log || options->log_file)
		return MODE_LOG;
	return options->batch ? MODE_BATCH : MODE_CURSES;
}

void top_options_help(FILE *out)
{
	option_table_help(&table, out);
}
