// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/delay.h"
#include "lib/units.h"
#include "lib/when.h"
#include "cmd/command.h"
#include "cmd/option.h"
#include "cmd/top_options.h"
#include "history/file.h"
#include "lib/http/address.h"
#include "ui/metrics/metrics.h"
#include "core/views/view.h"

#define OPTIONS struct top_options

#define PAST_DEFAULT_BYTES (UINT64_C(4) << 20)
#define TIMES "now today yesterday"
#define TIMEOUT_MAX_S 3600
#define FILE_DELAY_S 15.0 /* of --prometheus: as node_exporter is usually asked */

static const struct option_spec specs[] = {
	OPT_HEADING("What to count"),
	OPT_STRING('f', "fields", "REGEX", fields,
		   "only rows with a matching name; \"help\" lists the names",
		   .offer = OFFER_FIELDS, .words = "help"),
	OPT_GUEST,
	OPT_GUEST_PID,
	OPT_FLAG('t', "tracepoints", tracepoints, "count the kernel's trace events (default)"),
	OPT_FLAG('d', "debugfs", debugfs, "read the kernel's debugfs counters; -d -t: both"),
	OPT_FLAG(0, "stats", stats,
		 "read the statistics that VMMs hold: QEMU 8.1 and later; -d does where debugfs "
		 "cannot be read"),
	OPT_FLAG('i', "debugfs-include-past", include_past,
		 "with -d or --stats: add what running guests counted before"),
	OPT_HEADING("How to show it (default: on the screen, live)"),
	{ .letter = '1', .name = "once", .alias = "batch", .kind = VALUE_FLAG,
	  .offset = OPT_AT(batch), .help = "count for a second, print, end" },
	OPT_FLAG('l', "log", log, "print a line per interval"),
	OPT_FILE('L', "log-to-file", "FILE", log_file,
		 "the same, appended to FILE; SIGHUP reopens it"),
	OPT_FLAG('c', "csv", csv, "with -l or -L: as CSV"),
	OPT_FLAG(0, "json", json, "with -1, -l or -L: a JSON object per sample and line"),
	OPT_FLAG('z', "skip-zero-records", skip_zero,
		 "with -1, -l or -L: no line where nothing happened"),
	OPT_OTHER('s', "set-delay", "SECONDS", delay_s, "interval, 0.1 to 86400 (default 3)"),
	OPT_COUNT('n', "samples", "N", samples, "end after N intervals"),
	OPT_STRING(0, "view", "NAME", view, "begin with: ", /* add_help() adds the names */
		   .offer = OFFER_VIEWS),
	OPT_FLAG('b', "by-guest", by_guest, "the same as --view guests",
		 .offer = OFFER_VIEWS),
	OPT_FLAG('x', "children", children,
		 "show the reasons of each event (-1 and -c always do)"),
	OPT_STRING('o', "sort", "COLUMN", sort,
		   "sort by event, total, share or rate; other views: see the man page. A CSV of "
		   "events always has its columns by name", .offer = OFFER_COLUMNS),
	OPT_FLAG(0, "no-mouse", no_mouse,
		 "leave the mouse to the terminal, which selects and copies text"),
	OPT_HEADING("History"),
	OPT_FILE('w', "write", "FILE", write_file,
		   "write every sample to FILE; without a terminal, show nothing"),
	OPT_OTHER(0, "max-age", "DURATION", max_age_ns,
		  "with -w: drop samples older than this, such as 7d"),
	OPT_OTHER(0, "max-size", "SIZE", max_size,
		  "with -w: drop the oldest samples when FILE grows beyond this, such as 2G"),
	{ .letter = 'r', .name = "read", .value = "[FILE]", .kind = VALUE_FLAG,
	  .offset = OPT_AT(read), .help = "show what -w wrote (default: " HISTORY_FILE ")",
	  .offer = OFFER_FILES },
	OPT_OTHER(0, "at", "TIME", at,
		  "with -r: begin at TIME: -30min, 03:12, \"2026-11-21 03:12\" ...",
		  .words = TIMES),
	OPT_OTHER(0, "from", "TIME|URL", from,
		  "with -r and -l or -L: print from TIME on; with -1: as one interval. URL of a "
		  "Prometheus (http://HOST:9090): show its hosts, in place of -r",
		  .words = TIMES),
	OPT_OTHER(0, "to", "TIME", to, "the same: up to TIME", .words = TIMES),
	{ .name = "diff", .value = "FROM..TO FROM..TO", .kind = VALUE_PAIR,
	  .offset = OPT_AT(diff), .help = "with -r: print what changed from one span to another" },
	OPT_OTHER(0, "past", "MIB", past_bytes,
		  "memory of the live screen for past samples (default 4); 0: none"),
	OPT_HEADING("For Prometheus"),
	OPT_FILE(0, "prometheus", "FILE.prom", prometheus,
		   "write FILE for node_exporter's textfile collector, every 15 s or -s"),
	OPT_STRING(0, "listen", "ADDRESS", listen,
		   "answer at ADDRESS:PORT, :PORT (all), PORT (this machine), unix:PATH or systemd",
		   .words = "systemd unix:"),
	OPT_FILE(0, "web-config", "FILE", web_config,
		   "with --listen: TLS and passwords, in the format of Prometheus' exporters"),
	OPT_OTHER(0, "metrics", "NAME,...", metrics,
		  "add these metrics, or with no-NAME leave them out; \"help\" lists all",
		  .offer = OFFER_METRICS, .words = "help"),
	OPT_COUNT(0, "max-series", "N", max_series,
		  "export at most N series (default 20000)"),
	OPT_STRING(0, "host", "NAME", host,
		   "with --from URL: one host, by its label \"instance\""),
	OPT_FILE(0, "http-config", "FILE", http_config,
		   "with --from URL: TLS, password or bearer token, in promtool's format"),
	OPT_COUNT(0, "timeout", "SECONDS", timeout_s,
		  "with --from URL: how long an answer may take (default 10)"),
	OPT_HEADING("Other"),
	OPT_FLAG(0, "demo", demo, "run a tiny guest of its own if there is none"),
	OPT_FLAG(0, "list-guests", list_guests,
		 "list the guests that run here: process, vCPUs, name"),
	OPT_FLAG(0, "list-providers", list_providers,
		 "list what can count here, and why the rest cannot"),
	OPT_STRING(0, "engine", "NAME", engine,
		   "what counts trace events: bpf or perf (default: bpf where allowed)",
		   .words = "bpf perf"),
	OPT_FILE(0, "thresholds", "FILE", thresholds,
		   "thresholds of the view why; see kvmtop why --help"),
	OPT_OTHER(0, "guest-kallsyms", "NAME=FILE", kallsyms,
		  "name guest NAME's functions, by a copy of its /proc/kallsyms"),
	OPT_SYSROOT,
	OPT_FLAG(0, "complete", complete,
		 "print what the shell can offer next, after -- and a command line"),
	OPT_HELP,
	OPT_FLAG('V', "version", version, "the version", .is_answer = true),
};

/* Before the history is open only the form of a time can be checked: any origin will do. */
static struct when_origin any_origin(void)
{
	uint64_t now_ns = clock_real_ns();

	return (struct when_origin){ now_ns, now_ns };
}

static int take_time(const char *text, const char **ret_text, struct why *why)
{
	const struct when_origin origin = any_origin();
	uint64_t unused;
	int err = when_parse(text, &origin, &unused, why);

	if (!err)
		*ret_text = text;
	return err;
}

/* A time has "@" only at its begin. */
static bool is_url(const char *text)
{
	return strstr(text, "://") || (*text && strchr(text + 1, '@'));
}

/* A Prometheus is a source of samples, as a file of -r is. */
static int take_url(const char *text, struct top_options *options, struct why *why)
{
	size_t len = strlen(text);

	/* The URL is not repeated where it may have a password. */
	if (strpbrk(text, "?#@"))
		return why_set(why, -EINVAL, "--from URL: give the server's address only, as "
			       "http://HOST:PORT; user and password go into --http-config FILE");
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return why_set(why, -EINVAL, "\"%s\": the URL must begin with http:// or "
					     "https://", text);
	if (text[len - 1] == '/')
		return why_set(why, -EINVAL, "\"%s\": give the server's address only, as "
					     "http://HOST:PORT, without a / at its end", text);
	options->url = text;
	return 0;
}

/* A relative time can be resolved only when the history is open. */
static int check_ranges(const char *const ranges[2], struct why *why)
{
	const struct when_origin origin = any_origin();
	uint64_t from, to;
	int err = 0;

	for (int i = 0; i < 2 && err != -EINVAL; i++)
		err = when_parse_range(ranges[i], &origin, &from, &to, why);
	return err == -EINVAL ? err : 0;
}

/* MiB without a unit. */
static int take_past(const char *text, uint64_t *ret_bytes, struct why *why)
{
	char with_unit[32];

	if (text[0] && strspn(text, "0123456789.") == strlen(text)) {
		snprintf(with_unit, sizeof(with_unit), "%sMiB", text);
		text = with_unit;
	}
	return size_parse(text, ret_bytes, why);
}

/* 0: no limit. */
static int take_max_size(const char *text, uint64_t *ret_bytes, struct why *why)
{
	uint64_t bytes;
	int err = size_parse(text, &bytes, why);

	if (!err && bytes && bytes < HISTORY_SIZE_LEAST)
		return why_set(why, -EINVAL, "\"%.40s\": too small for a history: give at least 4M",
			       text);
	if (!err)
		*ret_bytes = bytes;
	return err;
}

/* Takes numbers with units and times, and -g or -p as kvm_stat does. */
static int take(void *ret_options, const struct option_spec *spec, const char *text,
		struct why *why)
{
	struct top_options *options = ret_options;

	switch (spec->offset) {
	case OPT_AT(delay_s):
		options->has_delay = true;
		return seconds_parse(text, DELAY_MAX_S, &options->delay_s, why);
	case OPT_AT(kallsyms):
		return kallsyms_option_take(&options->kallsyms, text, why);
	case OPT_AT(max_age_ns):
		return duration_parse(text, &options->max_age_ns, why);
	case OPT_AT(max_size):
		return take_max_size(text, &options->max_size, why);
	case OPT_AT(past_bytes):
		options->has_past = true;
		return take_past(text, &options->past_bytes, why);
	case OPT_AT(metrics):
		options->has_metrics = true;
		options->metrics_help = strcmp(text, "help") == 0;
		return options->metrics_help ? 0 : metrics_groups_parse(text, &options->metrics,
									why);
	case OPT_AT(max_series):
		options->has_max_series = true;
		return 0;
	case OPT_AT(read):
		options->read_file = text ? text : options->read_file;
		return 0;
	case OPT_AT(at):
		return take_time(text, &options->at, why);
	case OPT_AT(from):
		return is_url(text) ? take_url(text, options, why) :
				      take_time(text, &options->from, why);
	case OPT_AT(to):
		return take_time(text, &options->to, why);
	case OPT_AT(diff):
		return check_ranges(options->diff, why);
	}
	option_take_guest(spec, &options->guest, &options->pid);
	return 0;
}

/* The first option that -r has no use for, because the samples were taken; NULL: none. */
static const char *find_live_only(const struct top_options *options)
{
	const struct {
		bool is_given;
		const char *name;
	} all[] = {
		{ options->write_file, "-w/--write" },
		{ options->tracepoints, "-t/--tracepoints" },
		{ options->debugfs, "-d/--debugfs" },
		{ options->stats, "--stats" },
		{ options->include_past, "-i/--debugfs-include-past" },
		{ options->has_delay && !options->url, "-s/--set-delay" },
		{ options->has_past, "--past" },
		{ options->demo, "--demo" },
		{ options->list_guests, "--list-guests" },
		{ options->list_providers, "--list-providers" },
		{ options->engine, "--engine" },
		{ options->sysroot[0], "--sysroot" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].is_given)
			return all[i].name;
	}
	return NULL;
}

/* What goes with -r. */
static int check_read(const struct top_options *options, struct why *why)
{
	const char *live_only = find_live_only(options);
	bool has_span = options->from || options->to;
	enum mode mode = top_options_mode(options);

	if (live_only)
		return why_set(why, -EINVAL, "%s is for what happens now, %s shows the past: leave "
			       "one out", live_only,
			       options->url ? "--from URL" : "-r/--read");
	if (options->url && options->read_file)
		return why_set(why, -EINVAL, "-r/--read and --from URL exclude each other");
	if (mode == MODE_DIFF && (options->batch || options->log || options->log_file ||
				  options->at || has_span))
		return why_set(why, -EINVAL, "--diff has its own times and format: leave out -1, "
					     "-l, -L, --at, --from and --to");
	if (options->at && (has_span || mode == MODE_LOG))
		return why_set(why, -EINVAL, "--at is one moment, for the screen and -1/--once: "
					     "-l/--log and -L take --from and --to");
	if (has_span && mode == MODE_CURSES)
		return why_set(why, -EINVAL, "--from and --to require -1/--once, -l/--log or "
					     "-L/--log-to-file; the screen takes --at");
	return 0;
}

/* What goes with -w, and what only goes with -r. */
static int check_history(const struct top_options *options, bool logs, struct why *why)
{
	if ((options->host || options->http_config || options->timeout_s) && !options->url)
		return why_set(why, -EINVAL, "--host, --http-config and --timeout require --from "
					     "URL");
	if (options->url && options->to && !options->from)
		return why_set(why, -EINVAL, "--to with --from URL requires --from TIME: a "
					     "Prometheus does not say when it began");
	if (options->url && !options->host && (options->guest || options->pid))
		return why_set(why, -EINVAL, "-g/--guest and -p/--pid choose a guest of one host: "
					     "add --host NAME");
	if (options->timeout_s > TIMEOUT_MAX_S)
		return why_set(why, -EINVAL, "--timeout: at most %d seconds", TIMEOUT_MAX_S);
	if (options->read)
		return check_read(options, why);
	if (options->at || options->from || options->to || options->diff[0])
		return why_set(why, -EINVAL, "--at, --from, --to and --diff require -r/--read or "
					     "--from URL");
	if (!options->write_file && (options->max_age_ns || options->max_size))
		return why_set(why, -EINVAL, "--max-age and --max-size require -w/--write");
	if (options->has_past && (options->batch || logs))
		return why_set(why, -EINVAL, "--past is for the live screen, not for -1, -l "
					     "and -L");
	return 0;
}

/* The first option that an export has no use for; NULL: none. */
static const char *find_not_exported(const struct top_options *options)
{
	const struct {
		bool is_given;
		const char *name;
	} all[] = {
		{ options->fields, "-f/--fields" },
		{ options->guest, "-g/--guest" },
		{ options->pid, "-p/--pid" },
		{ options->tracepoints, "-t/--tracepoints" },
		{ options->debugfs, "-d/--debugfs" },
		{ options->stats, "--stats" },
		{ options->batch, "-1/--once" },
		{ options->log, "-l/--log" },
		{ options->log_file, "-L/--log-to-file" },
		{ options->csv, "-c/--csv" },
		{ options->json, "--json" },
		{ options->skip_zero, "-z/--skip-zero-records" },
		{ options->view, "--view" },
		{ options->by_guest, "-b/--by-guest" },
		{ options->children, "-x/--children" },
		{ options->sort, "-o/--sort" },
		{ options->write_file, "-w/--write" },
		{ options->max_age_ns, "--max-age" },
		{ options->max_size, "--max-size" },
		{ options->url, "--from URL" },
		{ options->host, "--host" },
		{ options->http_config, "--http-config" },
		{ options->timeout_s, "--timeout" },
		{ options->read, "-r/--read" },
		{ options->at, "--at" },
		{ options->from, "--from" },
		{ options->to, "--to" },
		{ options->diff[0], "--diff" },
		{ options->has_past, "--past" },
		{ options->demo, "--demo" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].is_given)
			return all[i].name;
	}
	return NULL;
}

static bool is_prom(const char *path)
{
	size_t len = strlen(path);

	return strcmp(path, "-") == 0 || (len > 5 && strcmp(path + len - 5, ".prom") == 0);
}

/* What goes with --prometheus and --listen. */
static int check_export(const struct top_options *options, struct why *why)
{
	const char *other = find_not_exported(options);

	if (options->prometheus && options->listen)
		return why_set(why, -EINVAL, "--prometheus and --listen exclude each other: run "
					     "kvmtop twice");
	if (other)
		return why_set(why, -EINVAL, "%s is not for --prometheus and --listen, which "
					     "export all guests as they are now: leave it out; "
					     "--metrics chooses metrics", other);
	if (options->prometheus && !is_prom(options->prometheus))
		return why_set(why, -EINVAL, "\"%s\": node_exporter reads only names that end in "
					     ".prom: choose such a name", options->prometheus);
	if (options->web_config && !options->listen)
		return why_set(why, -EINVAL, "--web-config requires --listen");
	return options->listen ? address_check(options->listen, why) : 0;
}

/* Refuses options that make no sense together. */
static int check(const struct top_options *options, struct why *why)
{
	bool logs = options->log || options->log_file;

	if (options->help || options->version || options->metrics_help || options->complete)
		return 0;
	if (options->engine && strcmp(options->engine, "bpf") != 0 &&
	    strcmp(options->engine, "perf") != 0)
		return why_set(why, -EINVAL, "\"%s\": no such engine; there are: bpf, perf",
			       options->engine);
	if (options->prometheus || options->listen)
		return check_export(options, why);
	if (options->web_config || options->has_metrics || options->has_max_series)
		return why_set(why, -EINVAL, "--metrics, --max-series and --web-config require "
					     "--prometheus or --listen");
	if (options->csv && !logs && !options->read)
		return why_set(why, -EINVAL, "-c/--csv requires -l/--log or -L/--log-to-file");
	if (options->batch && logs)
		return why_set(why, -EINVAL,
			       "-1/--once and -l/--log or -L/--log-to-file exclude each other: "
			       "-l -n 1 -s 1 logs one second");
	if (options->skip_zero && top_options_mode(options) == MODE_CURSES)
		return why_set(why, -EINVAL, "-z/--skip-zero-records requires -1/--once, -l/--log "
					     "or -L/--log-to-file");
	if (options->json && !logs && !options->batch && !options->read)
		return why_set(why, -EINVAL,
			       "--json requires -1/--once, -l/--log or -L/--log-to-file");
	if (options->debugfs && options->stats)
		return why_set(why, -EINVAL, "-d/--debugfs and --stats exclude each other: both "
					     "have the same counters");
	if (options->json && options->csv)
		return why_set(why, -EINVAL, "-c/--csv and --json exclude each other");
	return check_history(options, logs, why);
}

static void add_help(const struct option_spec *spec, char *buf, size_t size)
{
	if (spec->offset == OPT_AT(view))
		view_type_names(buf, size);
}

const struct option_table top_option_table = {
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
	struct top_options options = {
		.delay_s = DELAY_DEFAULT_S,
		.sysroot = "",
		.past_bytes = PAST_DEFAULT_BYTES,
		.metrics = METRICS_USUAL,
		.max_series = METRICS_SERIES_MAX,
	};
	char names[128];
	int first, err;

	first = option_table_parse(&top_option_table, argc, argv, &options, why);
	if (first < 0)
		return first;
	if (options.read && !options.read_file)
		options.read_file = first < argc ? argv[first++] : HISTORY_FILE;
	options.words = argv + first;
	options.nr_words = (size_t)(argc - first);
	if (options.nr_words && !options.complete) {
		commands_names(names, sizeof(names));
		return why_set(why, -EINVAL,
			       "unexpected argument \"%s\"; a command is the first word: %s",
			       argv[first], names);
	}
	options.read |= options.url != NULL;
	err = check(&options, why);
	if (options.prometheus && !options.has_delay)
		options.delay_s = FILE_DELAY_S;
	options.tracepoints |= !options.debugfs && !options.stats;
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
	if (options->metrics_help)
		return MODE_METRICS;
	if (options->complete)
		return MODE_COMPLETE;
	if (options->list_providers)
		return MODE_PROVIDERS;
	if (options->list_guests)
		return MODE_GUESTS;
	if (options->fields && strcmp(options->fields, "help") == 0)
		return MODE_FIELDS;
	if (options->prometheus || options->listen)
		return MODE_EXPORT;
	if (options->diff[0])
		return MODE_DIFF;
	if (options->log || options->log_file)
		return MODE_LOG;
	if (options->batch)
		return MODE_BATCH;
	/* A history has samples to print without a choice of an interval. */
	return options->read && (options->csv || options->json) ? MODE_LOG : MODE_CURSES;
}
