// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the records of files, merged by their TSC, by rules. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/process.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "trace/recording/trace.h"
#include "trace/rules/rules.h"

#define RECORDS_A_LOOK 65536 /* records between two looks at the clock */

struct format_run {
	const struct options *options;
	struct rules *rules;
	struct trace *trace;
	size_t nr_problems;	/* how many were printed */
	uint64_t last_tsc;	/* of the latest record that was printed */
	struct progress progress;
	int status;
};

/* Prints a problem; the output before it is flushed first. */
static void print_problems(struct format_run *run)
{
	const char *problem;

	while ((problem = trace_problem(run->trace, run->nr_problems))) {
		fflush(stdout);
		progress_end(&run->progress);
		say(problem);
		run->status = STATUS_FAILURE;
		run->nr_problems++;
	}
}

static void print_record(struct format_run *run, const struct rules_record *record)
{
	struct rules_values values = { .record = record,
				       .mhz = (uint64_t)llround(run->options->mhz) };
	uint64_t last = run->last_tsc;

	if (record->has_tsc && last > 0) {
		values.reltsc_is_negative = record->tsc < last;
		values.reltsc = values.reltsc_is_negative ? last - record->tsc : record->tsc - last;
	}
	if (record->has_tsc)
		run->last_tsc = record->tsc;
	rules_print(run->rules, &values, stdout);
}

/* Shows progress only if the output goes to a file: else both would be on the terminal. */
static void show_progress(struct format_run *run)
{
	struct stat out;

	if (fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode))
		progress_show(&run->progress, run->trace);
}

static void print_all(struct format_run *run)
{
	const struct trace_event *event;
	struct rules_record record;

	progress_begin(&run->progress);
	print_problems(run);
	/* main() says that standard output has failed. */
	for (size_t nr = 1; !ferror(stdout); nr++) {
		if (trace_may_wait(run->trace))
			fflush(stdout);
		if (!trace_next(run->trace, &event))
			break;
		print_problems(run);
		rules_record_set(&record, run->trace, event);
		print_record(run, &record);
		if (nr % RECORDS_A_LOOK == 0)
			show_progress(run);
	}
	print_problems(run);
	progress_end(&run->progress);
}

static int understand(struct options *options, struct error *error)
{
	return options->nr_words ? 0 :
				   error_set(error, -EINVAL,
					     "format needs a file of rules: name one");
}

static int format_run(struct options *options)
{
	static const char *const standard_input[] = { "-" };
	const char *const *paths = (const char *const *)options->words + 1;
	size_t nr = options->nr_words - 1;
	struct format_run run = { .status = STATUS_OK, .options = options };
	struct error error = { "" };
	int err = rules_read(options->words[0], &run.rules, &error);

	if (err) {
		run.status = say_failure(err, &error);
	} else {
		run.trace = trace_open_records(nr ? paths : standard_input, nr ? nr : 1,
					       options->kind);
		print_all(&run);
	}
	trace_close(run.trace);
	rules_free(run.rules);
	return run.status;
}

const struct command format_command = {
	.name = "format",
	.help = "print kvmtrace or ACRN records by rules",
	.usage = "Usage: kvmtop format [OPTION]... RULES [FILE]...\n"
		 "Prints the records of kvmtrace or ACRN files by the rules that kvmtrace_format\n"
		 "and acrntrace_format.py take. Several files are merged by their TSC; without\n"
		 "one, standard input is read.\n",
	.footer = "More: man kvmtop-format\n",
	.command = { .works = MODE_FORMAT, .offer = OFFER_FILES },
	.understand = understand,
	.run = format_run,
};
