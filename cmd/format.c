// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges the files by their TSC and prints their records. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "cmd/command.h"
#include "cmd/commands.h"
#include "cmd/option.h"
#include "trace/progress.h"
#include "trace/rules/ppc.h"
#include "trace/rules/raw.h"
#include "trace/rules/rules.h"

#define XEN_CPUS 16384 /* more than Xen can have */
#define RECORDS_A_LOOK 65536 /* records between two looks at the clock */

struct options {
	bool help;
	unsigned long mhz;
	const char *kind;
};

#define OPTIONS struct options

static const struct option_spec specs[] = {
	OPT_HEADING("Options"),
	OPT_NUMBER('c', "mhz", "MHZ", mhz, "the TSC's frequency: tsc is in seconds then"),
	OPT_STRING(0, "input-format", "KIND", kind,
		   "kvmtrace, xentrace or acrn, where it is not seen from the file"),
	OPT_HELP,
};

static const struct option_table table = {
	.specs = specs,
	.nr = sizeof(specs) / sizeof(specs[0]),
	.usage = "Usage: kvmtop format [OPTION]... RULES [FILE]...\n"
		 "Prints the records of kvmtrace, xentrace or ACRN files by the rules that\n"
		 "kvmtrace_format, xentrace_format and acrntrace_format.py take. Several files\n"
		 "are merged by their TSC; without one, standard input is read.\n",
};

/* A file and its next record. */
struct source {
	struct raw_file *file;
	bool has_record;
	struct raw_record record;
	uint64_t when; /* the record's TSC, or that of the one before it */
	uint32_t cpu;  /* xentrace: of what follows */
};

struct run {
	struct rules *rules;
	struct source *sources;
	size_t nr_sources;
	uint64_t last_tsc;	 /* of all that was printed */
	uint64_t *xen_last_tsc; /* of a CPU */
	struct rules_values values;
	struct progress progress;
	int status;
};

/* Reads a source's next record. What cannot be read ends it, not the others. */
static void advance(struct run *run, struct source *source)
{
	struct why why = { "" };
	int got;

	if (raw_file_may_wait(source->file))
		fflush(stdout);
	got = raw_file_next(source->file, &source->record, &why);
	source->has_record = got > 0;
	if (got < 0) {
		fflush(stdout); /* what was read comes before what is said about the rest */
		progress_end(&run->progress);
		run->status = say_failure(got, &why);
	}
	if (got > 0 && source->record.has_tsc)
		source->when = source->record.tsc;
}

/* The one whose record comes first; the first of several at once. NULL: all are at their end. */
static struct source *earliest(const struct run *run)
{
	struct source *first = NULL;

	for (size_t i = 0; i < run->nr_sources; i++) {
		struct source *source = &run->sources[i];

		if (source->has_record && (!first || source->when < first->when))
			first = source;
	}
	return first;
}

/* Where xentrace's records belong, and a complaint of the script's that is a line of its output. */
static uint64_t *xen_last_tsc(struct run *run, struct source *source)
{
	struct raw_record *record = &source->record;
	uint64_t *last;

	if (record->event == RAW_CPU_CHANGE)
		source->cpu = (uint32_t)record->words[0];
	record->cpu = source->cpu;
	if (source->cpu >= XEN_CPUS)
		return &run->last_tsc;
	last = &run->xen_last_tsc[source->cpu];
	if (record->has_tsc && record->tsc < *last)
		printf("TSC stepped backward cpu %u !  %llu %llu\n", source->cpu,
		       (unsigned long long)record->tsc, (unsigned long long)*last);
	return last;
}

static void print_record(struct run *run, struct source *source)
{
	struct rules_values *values = &run->values;
	const struct raw_record *record = &source->record;
	uint64_t *last = &run->last_tsc;

	values->kind = raw_file_layout(source->file)->kind;
	if (values->kind == RAW_XENTRACE)
		last = xen_last_tsc(run, source);
	values->record = record;
	values->reltsc = 0;
	values->reltsc_is_negative = false;
	if (record->has_tsc && *last > 0) {
		values->reltsc_is_negative = record->tsc < *last;
		values->reltsc = values->reltsc_is_negative ? *last - record->tsc :
							      record->tsc - *last;
	}
	if (record->has_tsc)
		*last = record->tsc;
	if (ppc_is_instruction(values))
		ppc_print(values, stdout);
	else
		rules_print(run->rules, values, stdout);
}

static int open_sources(struct run *run, const char *const *paths, size_t nr,
			const enum raw_kind *kind)
{
	int err = 0;

	run->sources = calloc(nr, sizeof(*run->sources));
	run->xen_last_tsc = calloc(XEN_CPUS, sizeof(*run->xen_last_tsc));
	if (!run->sources || !run->xen_last_tsc)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++) {
		struct why why = { "" };

		err = raw_file_open(paths[i], kind, &run->sources[i].file, &why);
		if (err && err != -ENOMEM) {
			run->status = say_failure(err, &why);
			err = 0;
			continue;
		}
		run->nr_sources = i + 1;
	}
	return err;
}

/* Some of several may be empty, but not all that are there. */
static void check_empty(struct run *run)
{
	const struct raw_file *empty = NULL;
	struct why why = { "" };

	for (size_t i = 0; i < run->nr_sources; i++) {
		const struct raw_file *file = run->sources[i].file;

		if (file && !raw_file_is_empty(file))
			return;
		empty = empty ? empty : file;
	}
	if (empty)
		run->status = say_failure(why_set(&why, -EINVAL, "%s: the file is empty",
						  raw_file_path(empty)), &why);
}

static void run_release(struct run *run, size_t nr)
{
	for (size_t i = 0; run->sources && i < nr; i++)
		raw_file_free(run->sources[i].file);
	free(run->sources);
	free(run->xen_last_tsc);
	rules_free(run->rules);
}

/* Only where what is printed goes to a file: else it, or a pager, is on the same terminal. */
static void show_progress(struct run *run)
{
	uint64_t all_done = 0, all = 0, done, total;
	struct stat out;

	if (!progress_is_due(&run->progress) || fstat(STDOUT_FILENO, &out) < 0 ||
	    !S_ISREG(out.st_mode))
		return;
	for (size_t i = 0; i < run->nr_sources; i++) {
		if (!run->sources[i].file)
			continue;
		raw_file_progress(run->sources[i].file, &done, &total);
		all_done += total ? done : 0;
		all += total;
	}
	if (all)
		progress_draw(&run->progress, all_done, all);
}

static void print_all(struct run *run)
{
	struct source *source;

	for (size_t nr = 1; (source = earliest(run)) && !ferror(stdout); nr++) {
		print_record(run, source);
		advance(run, source);
		if (nr % RECORDS_A_LOOK == 0)
			show_progress(run);
	}
	progress_end(&run->progress);
}

static int format(const struct options *options, const char *rules, const char *const *paths,
		  size_t nr, const enum raw_kind *kind)
{
	struct run run = { .values = { .mhz = options->mhz } };
	struct why why = { "" };
	int err = rules_read(rules, &run.rules, &why);

	if (!err)
		err = open_sources(&run, paths, nr, kind);
	if (err)
		run.status = say_failure(err, &why);
	else if (!kind)
		check_empty(&run);
	progress_begin(&run.progress);
	for (size_t i = 0; !err && i < run.nr_sources; i++) {
		if (run.sources[i].file)
			advance(&run, &run.sources[i]);
	}
	if (!err)
		print_all(&run);
	run_release(&run, nr);
	return run.status;
}

static int format_run(int argc, char **argv)
{
	static const char *const standard_input[] = { "-" };
	struct options options = { 0 };
	struct why why = { "" };
	enum raw_kind kind = RAW_KVMTRACE;
	int first = option_table_parse(&table, argc, argv, &options, &why);

	if (first < 0)
		return say_usage("format", &why);
	if (options.help) {
		option_table_help(&table, stdout);
		return STATUS_OK;
	}
	if (options.kind && raw_kind_by_name(options.kind, &kind) < 0) {
		why_set(&why, -EINVAL, "\"%s\": no such kind; there are kvmtrace, xentrace, acrn",
			options.kind);
		return say_usage("format", &why);
	}
	if (first == argc) {
		why_set(&why, -EINVAL, "format needs a file of rules");
		return say_usage("format", &why);
	}
	signal(SIGPIPE, SIG_IGN);
	if (first + 1 == argc)
		return format(&options, argv[first], standard_input, 1,
			      options.kind ? &kind : NULL);
	return format(&options, argv[first], (const char *const *)argv + first + 1,
		      (size_t)(argc - first - 1), options.kind ? &kind : NULL);
}

const struct command format_command = {
	.name = "format",
	.help = "print kvmtrace, xentrace or ACRN records by rules",
	.run = format_run,
};
