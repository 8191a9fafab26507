// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of `kvmtop exits`, and the meaning of their values. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "lib/array.h"
#include "lib/delay.h"
#include "cmd/exits_options.h"
#include "cmd/option.h"

#define DURATION_MAX_S 1e9
#define OPTIONS struct exits_options

static const struct option_spec specs[] = {
	OPT_HEADING("What to count (default: every vCPU thread of every guest)"),
	OPT_PID('p', "pid", "PID", pid, "one guest, its vCPUs taken together", .offer = OFFER_PIDS),
	OPT_STRING('g', "guest", "NAME", guest, "the same, by its name", .offer = OFFER_GUESTS),
	OPT_STRING('v', "vcpu", "VCPU", vcpu, "with -p or -g: this vCPU only, by its number"),
	OPT_FLAG('a', "alltids", all, "with -p or -g: each of its vCPUs on a line of its own"),
	OPT_STRING(0, "diff", "GUEST", diff,
		   "with -p or -g: compare with this guest, by pid or name",
		   .offer = OFFER_GUESTS),
	OPT_PID('t', "tid", "TID", tid, "one vCPU, by its thread"),
	OPT_STRING('T', "tids", "TID,...", tids, "these vCPUs"),
	OPT_STRING(0, "event", "EVENT", event_name,
		   "vmexit (default), userspace, mmio, ioport, msr, cpuid, hypercall, sysreg",
		   .words = EXIT_KINDS),
	OPT_HEADING("One by one, while they happen"),
	OPT_OTHER(0, "longer", "TIME", longer_ns,
		  "each exit that takes longer than TIME (5ms, 200us), without halts",
		  .words = LONG_TIMES),
	OPT_FLAG(0, "halts", halts, "with --longer: halts, too"),
	OPT_FLAG(0, "arguments", arguments,
		 "with --longer: the argument of each (port, MSR ...), too; every exit "
		 "costs more"),
	OPT_OTHER(0, "guest-kallsyms", "NAME=FILE", kallsyms,
		  "name the functions of guest NAME, by a copy of its /proc/kallsyms"),
	OPT_HEADING("How to show it"),
	OPT_STRING('k', "key", "KEY", key,
		   "sort by (default: total): ", /* add_help() adds the ids */
		   .offer = OFFER_COLUMNS),
	OPT_FLAG(0, "json", json, "as a JSON object, in ns"),
	OPT_FLAG(0, "csv", csv, "as CSV, in ns"),
	OPT_HEADING("Other"),
	OPT_SYSROOT,
	OPT_HELP,
};

static void add_help(const struct option_spec *spec, char *buf, size_t size)
{
	if (spec->offset == OPT_AT(key))
		view_column_ids(view_type_by_groups(GROUP_ALL), false, buf, size);
}

static int take(void *ret_options, const struct option_spec *spec, const char *text,
		struct why *why)
{
	struct exits_options *options = ret_options;

	if (spec->offset == OPT_AT(kallsyms))
		return kallsyms_option_take(&options->kallsyms, text, why);
	if (spec->offset != OPT_AT(longer_ns))
		return 0;
	return longer_option_take(text, &options->longer_ns, why);
}

const struct option_table exits_option_table = {
	.specs = specs,
	.nr = ARRAY_SIZE(specs),
	.usage = "Usage: kvmtop exits [OPTION]... [SECONDS | -- COMMAND [ARGUMENT]...]\n"
		 "Counts and times VM exits by thread and reason, for SECONDS, while COMMAND\n"
		 "runs, until Ctrl-C, or until the guest of -p, -g, -t or -T ends, and prints\n"
		 "them. Percentiles are interpolated within a power of two, so at most a factor\n"
		 "of 2 off.\n",
	.footer = "Exit status: 0 done, 1 failure, 2 wrong usage; of COMMAND, if there is one.\n"
		  "More: man kvmtop-exits\n",
	.take = take,
	.add_help = add_help,
};

/* -k goes with the table only, not with --longer. */
static int parse_key(struct exits_options *options, struct why *why)
{
	options->view = options->longer_ns ? view_type_by_name("long") :
					     view_type_by_groups(GROUP_ALL);
	options->sort = options->view->sort;
	if (!options->key)
		return 0;
	return view_column_find(options->view, options->key, false, &options->sort, why);
}

/* Reads one tid of "1,2,3". Returns the end of the number; NULL: not a tid. */
static const char *parse_tid(const char *text, pid_t *ret_tid)
{
	char *end;
	long number;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || number < 1 || number > INT_MAX || (*end && *end != ','))
		return NULL;
	*ret_tid = (pid_t)number;
	return end;
}

static int parse_tids(struct exits_options *options, struct why *why)
{
	const char *at = options->tids;

	if (options->tid)
		options->only[options->nr_only++] = options->tid;
	while (at) {
		if (options->nr_only == EXITS_TIDS)
			return why_set(why, -EINVAL, "-T takes at most %d threads", EXITS_TIDS);
		at = parse_tid(at, &options->only[options->nr_only]);
		if (!at)
			return why_set(why, -EINVAL, "\"%s\": not a list of threads, as in 123,124",
				       options->tids);
		options->nr_only++;
		at = *at ? at + 1 : NULL;
	}
	return 0;
}

static int parse_vcpu(struct exits_options *options, struct why *why)
{
	const char *text = options->vcpu;
	char *end;
	long number;

	if (!text)
		return 0;
	number = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || number > INT_MAX)
		return why_set(why, -EINVAL, "\"%s\": not the number of a vCPU", text);
	options->has_vcpu = true;
	options->vcpu_index = (int32_t)number;
	return 0;
}

/* Refuses options that make no sense together. */
static int check(const struct exits_options *options, struct why *why)
{
	if ((options->vcpu || options->all) && !options->pid && !options->guest)
		return why_set(why, -EINVAL, "%s needs a guest: add -p PID or -g NAME",
			       options->vcpu ? "-v" : "-a");
	if (options->diff && !options->pid && !options->guest)
		return why_set(why, -EINVAL, "--diff needs a guest to begin with: add -p PID or "
					     "-g NAME");
	if (options->diff && (options->vcpu || options->all || options->key))
		return why_set(why, -EINVAL, "--diff compares all of two guests: leave out %s",
			       options->vcpu ? "-v" : options->all ? "-a" : "-k");
	if (options->vcpu && options->all)
		return why_set(why, -EINVAL, "-v and -a exclude each other");
	if ((options->pid != 0) + (options->guest != NULL) + (options->tid != 0) +
	    (options->tids != NULL) > 1)
		return why_set(why, -EINVAL, "-p, -g, -t and -T exclude each other");
	if ((options->halts || options->arguments || options->kallsyms.nr) && !options->longer_ns)
		return why_set(why, -EINVAL, "--%s needs --longer TIME",
			       options->halts ? "halts" :
			       options->arguments ? "arguments" : "guest-kallsyms");
	if (options->longer_ns && (options->key || options->event_name || options->diff))
		return why_set(why, -EINVAL, "--%s and --longer exclude each other",
			       options->key ? "key" : options->diff ? "diff" : "event");
	if (options->json && options->csv)
		return why_set(why, -EINVAL, "--csv and --json exclude each other");
	return 0;
}

static int understand(struct exits_options *options, struct why *why)
{
	int err = check(options, why);

	if (!err)
		err = parse_key(options, why);
	if (!err && options->event_name)
		err = exit_kind_by_name(options->event_name, &options->event, why);
	if (!err)
		err = parse_tids(options, why);
	return err ? err : parse_vcpu(options, why);
}

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return end > text && !*end;
}

/* "-- COMMAND"; but "-- 0.5" is a time. The words from first on are not options. */
static bool has_command(int argc, char **argv, int first)
{
	return first < argc && strcmp(argv[first - 1], "--") == 0 &&
	       (argc - first > 1 || !is_number(argv[first]));
}

int exits_options_parse(int argc, char **argv, struct exits_options *ret_options, struct why *why)
{
	struct exits_options options = { .sysroot = "" };
	int first = option_table_parse(&exits_option_table, argc, argv, &options, why), err = 0;

	if (first < 0)
		return first;
	if (has_command(argc, argv, first)) {
		options.command = argv + first;
		first = argc;
	}
	if (!options.help && first < argc)
		err = seconds_parse(argv[first++], DURATION_MAX_S, &options.duration_s, why);
	if (!err && !options.help && first < argc)
		err = why_set(why, -EINVAL, "unexpected argument \"%s\"", argv[first]);
	if (!err && !options.help)
		err = understand(&options, why);
	if (!err)
		*ret_options = options;
	return err;
}
