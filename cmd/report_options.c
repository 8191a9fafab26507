// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of `kvmtop report`. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "lib/array.h"
#include "cmd/option.h"
#include "cmd/report.h"

#define OPTIONS struct report_options

static const struct option_spec specs[] = {
	OPT_HEADING("What to report (default: vmexit)"),
	OPT_STRING(0, "event", "EVENT", event_name,
		   "vmexit, userspace, mmio, ioport, msr, cpuid, hypercall, sysreg",
		   .words = EXIT_KINDS),
	OPT_STRING(0, "by", "WHAT", by, "a row for each reason (default), guest, vcpu, tid",
		   .words = "reason guest vcpu tid"),
	OPT_NUMBER(0, "vcpu", "N", vcpu, "only vCPUs of this number"),
	OPT_STRING('p', "pid", "PID,...", pids, "only these processes or threads"),
	OPT_STRING('g', "guest", "NAME", guest, "only this guest"),
	OPT_STRING('k', "key", "COLUMN", key,
		   "sort by (default: total): ", /* add_help() adds the ids */
		   .offer = OFFER_COLUMNS),
	OPT_STRING(0, "view", "NAME", view_name,
		   "instead, a view of the screen: ", /* add_help() adds the names */
		   .offer = OFFER_VIEWS),
	OPT_FILE(0, "thresholds", "FILE", thresholds,
		   "thresholds of --view why; see kvmtop why --help"),
	OPT_OTHER(0, "longer", "TIME", longer_ns,
		  "instead, each exit that took longer than TIME (5ms, 200us), without halts",
		  .words = LONG_TIMES),
	OPT_FLAG(0, "halts", halts, "with --longer: halts, too"),
	OPT_OTHER(0, "guest-kallsyms", "NAME=FILE", kallsyms,
		  "name the functions of guest NAME, by a copy of its /proc/kallsyms"),
	OPT_FILE(0, "diff", "OTHER", diff,
		 "compare with another recording, the biggest change first"),
	OPT_HEADING("How to read it"),
	OPT_OTHER('f', "frequency", "MHZ", mhz_text,
		  "frequency of the TSC, where times are in cycles"),
	OPT_OTHER('s', "set-delay", "SECONDS", interval_s,
		  "interval of the screen's samples (default: 1, a short FILE: less)"),
	OPT_STRING(0, "input-format", "KIND", input_format,
		   "trace.dat, perf.data, acrn, kvmtrace (default: recognized)",
		   .words = "trace.dat perf.data acrn kvmtrace"),
	OPT_STRING('B', "buffer", "NAME", buffer,
		   "only this buffer of a trace.dat with several; top: the main one"),
	OPT_HEADING("How to show it (default: on a terminal the screen, else text)"),
	OPT_FLAG(0, "text", text, "text on a terminal, too"),
	OPT_FLAG(0, "no-mouse", no_mouse,
		 "leave the mouse to the terminal, which selects and copies text"),
	OPT_FILE(0, "csv", "FILE", csv,
		   "also write the rows to FILE; -: only the rows, to standard output"),
	OPT_FLAG(0, "json", json, "a JSON object instead of text"),
	OPT_FLAG(0, "acrn", acrn, "as ACRN's vm_exit analysis does; appends to --csv's FILE"),
	OPT_HEADING("Other"),
	OPT_HELP,
};

static int take_number(const char *name, const char *text, double *ret_number, struct why *why)
{
	char *end;

	*ret_number = strtod(text, &end);
	if (end == text || *end || !isfinite(*ret_number) || *ret_number <= 0)
		return why_set(why, -EINVAL, "\"%s\": %s must be a number above 0", text, name);
	return 0;
}

static int take(void *ret_options, const struct option_spec *spec, const char *text,
		struct why *why)
{
	struct report_options *options = ret_options;

	if (spec->offset == OPT_AT(vcpu) && options->vcpu > INT32_MAX)
		return why_set(why, -EINVAL, "\"%s\": no vCPU has such a high number", text);
	if (spec->offset == OPT_AT(vcpu))
		options->has_vcpu = true;
	if (spec->offset == OPT_AT(kallsyms))
		return kallsyms_option_take(&options->kallsyms, text, why);
	if (spec->offset == OPT_AT(longer_ns))
		return longer_option_take(text, &options->longer_ns, why);
	if (spec->offset == OPT_AT(interval_s))
		return take_number("SECONDS", text, &options->interval_s, why);
	if (spec->offset != OPT_AT(mhz_text))
		return 0;
	options->mhz_text = text;
	return take_number("MHZ", text, &options->mhz, why);
}

static void add_help(const struct option_spec *spec, char *buf, size_t size)
{
	if (spec->offset == OPT_AT(key))
		view_column_ids(view_type_by_groups(GROUP_ALL), true, buf, size);
	if (spec->offset == OPT_AT(view_name))
		view_type_names(buf, size);
}

const struct option_table report_option_table = {
	.specs = specs,
	.nr = ARRAY_SIZE(specs),
	.usage = "Usage: kvmtop report [OPTION]... FILE...\n"
		 "Counts the exits in recordings and how long they took. Reads trace-cmd's\n"
		 "trace.dat, perf.data, and the files of ACRN's acrntrace and of kvmtrace;\n"
		 "several are one recording.\n",
	.footer = "Exit status: 0 done, 1 a file could not be read to its end, 2 wrong usage.\n"
		  "More: man kvmtop-report\n",
	.offer = OFFER_FILES,
	.take = take,
	.add_help = add_help,
};

/* The rows that the table of exits has for each WHAT. */
static int find_by(const char *name, unsigned int *ret_groups, struct why *why)
{
	static const struct {
		const char *name;
		unsigned int groups;
	} all[] = {
		{ "reason", GROUP_REASON },
		{ "guest", GROUP_GUEST },
		{ "vcpu", GROUP_GUEST | GROUP_VCPU },
		{ "tid", GROUP_GUEST | GROUP_VCPU },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (strcmp(all[i].name, name) == 0) {
			*ret_groups = all[i].groups;
			return 0;
		}
	}
	return why_set(why, -EINVAL, "\"%s\": --by must be one of reason, guest, vcpu, tid", name);
}

const struct view_type *report_view(const struct report_options *options)
{
	return options->view ? options->view : view_type_by_groups(GROUP_ALL);
}

/* -k names a column of the view that is printed. */
static int check_key(const struct report_options *options, struct why *why)
{
	size_t column;

	return view_column_find(report_view(options), options->key, true, &column, why);
}

static int check_pids(const char *list, struct why *why)
{
	const char *at = list;
	size_t len;

	do {
		len = strspn(at, "0123456789");
		at += len;
	} while (len && *at++ == ',');
	if (len && !at[-1])
		return 0;
	return why_set(why, -EINVAL, "\"%s\": not a list of pids, as in 123,124", list);
}

static int check(struct report_options *options, struct why *why)
{
	int err = 0;

	options->groups = GROUP_REASON;
	if (options->longer_ns && (options->view_name || options->diff || options->acrn ||
				   options->by || options->event_name))
		return why_set(why, -EINVAL,
			       "--longer excludes --view, --diff, --acrn, --by and --event");
	if (options->halts && !options->longer_ns)
		return why_set(why, -EINVAL, "--halts needs --longer TIME");
	if (options->longer_ns)
		options->view = view_type_by_name("long");
	if (options->event_name)
		err = exit_kind_by_name(options->event_name, &options->event, why);
	if (!err && options->by)
		err = find_by(options->by, &options->groups, why);
	if (!err && options->view_name)
		err = view_type_find(options->view_name, &options->view, why);
	if (!err && options->key)
		err = check_key(options, why);
	if (!err && options->pids)
		err = check_pids(options->pids, why);
	if (!err && options->input_format)
		err = trace_kind_by_name(options->input_format, &options->kind, why);
	if (err)
		return err;
	if (options->acrn && (options->json || options->diff || options->by || options->event_name))
		return why_set(why, -EINVAL,
			       "--acrn excludes --json, --diff, --by and --event");
	if (options->acrn && !options->mhz_text)
		return why_set(why, -EINVAL, "--acrn needs -f MHZ, the frequency of the TSC");
	if (options->diff && options->view)
		return why_set(why, -EINVAL, "--diff and --view exclude each other");
	if (options->json && options->csv && strcmp(options->csv, "-") == 0)
		return why_set(why, -EINVAL, "--json and --csv - both write to standard output: "
					     "give --csv a file");
	if (options->view && (options->by || options->acrn))
		return why_set(why, -EINVAL, "--view excludes --by and --acrn");
	return 0;
}

int report_options_parse(int argc, char **argv, struct report_options *ret_options,
			 int *ret_first, struct why *why)
{
	struct report_options options = { .json = false };
	int first = option_table_parse(&report_option_table, argc, argv, &options, why), err;

	if (first < 0)
		return first;
	if (first == argc && !options.help)
		return why_set(why, -EINVAL, "no recording is named: give a FILE, or - for "
					     "standard input");
	err = check(&options, why);
	if (err)
		return err;
	*ret_options = options;
	*ret_first = first;
	return 0;
}
