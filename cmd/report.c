// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report`: reads the recordings, and shows or prints what was found. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/output.h"
#include "lib/say.h"
#include "cmd/command.h"
#include "cmd/report.h"
#include "cmd/report_acrn.h"

#define LARGE_BYTES (256 << 10)

/* Of one host or of several, the order of their events, and the time that passed, may be wrong. */
static void say_clocks(const struct recording *recording)
{
	const struct trace_info *one, *other;

	if (trace_has_two_clocks(recording->trace, &one, &other))
		fprintf(stderr, "kvmtop: %s is on the clock \"%s\", %s on \"%s\": the two may be "
			"apart; read them separately\n", one->path, one->clock_name, other->path,
			other->clock_name);
}

int report_problems(const struct recording *recording)
{
	const struct trace_problem *problem;
	struct error why = { "" };
	int status = STATUS_OK;

	say_clocks(recording);
	for (size_t i = 0; (problem = trace_problem(recording->trace, i)); i++) {
		fprintf(stderr, "kvmtop: %s: at byte %" PRIu64 ": %s\n", problem->path,
			problem->offset, problem->text);
		status = STATUS_FAILURE;
	}
	if (pairing_left_out(&recording->pairing, &why))
		status = say_failure(-EINVAL, &why);
	return status;
}

/* ---- what is asked for */

/* A terminal gets the screen; programs and files get text. */
static bool wants_screen(const struct options *options)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !options->text &&
	       !options->json && !options->csv && !options->other && !options->acrn;
}

/* The table needs the arguments of its event, and no list of long exits; views may show all. */
static int open_recording(const char *const *paths, size_t nr, const struct options *options,
			  struct source **ret_source, struct error *why)
{
	bool is_table = !wants_screen(options) && !options->view;
	uint64_t longer_ns = options->longer_ns ? options->longer_ns : LONG_EXITS_DEFAULT_NS;
	const struct source_config config = {
		.recording = {
			.kind = options->kind,
			.buffer = options->buffer,
			.longer_ns = is_table ? 0 : longer_ns,
			.has_halts = options->halts,
			.mhz = options->mhz,
			.arguments = is_table ? 1U << options->event : PAIRING_ALL_ARGUMENTS,
		},
	};

	return source_open(SOURCE_RECORDING, paths, nr, &config, ret_source, why);
}

static int print(const struct source *source, const struct source *other,
		 const struct options *options, struct error *why)
{
	if (other)
		return report_two(other, source, options, why);
	if (options->acrn)
		return report_acrn(&source_reading(source)->recording, options->mhz,
				   !options->csv ? NULL :
				   options->output ? options->output : "-", stdout, why);
	return report_lines(source, options, why);
}

static int show(struct source *source, const struct source *other,
		const struct options *options, struct error *why)
{
	int err = wants_screen(options) ? report_screen(source, options, why) : -ENOTTY;

	if (!err || err == -ESTALE)
		return err;
	say_notice(why);
	return print(source, other, options, why);
}

/* The output must not overwrite a recording. */
static int check_output(const char *const *paths, size_t nr, const struct options *options,
			struct error *why)
{
	const char *found = output_find_input(options->output, paths, nr);

	if (!found)
		found = output_find_input(options->output, &options->other, 1);
	return found ? error_set(why, -EINVAL, "--output %s: this file is the recording; choose "
				 "another one", options->output) : 0;
}

int report_recordings(const char *const *paths, size_t nr, const struct options *options)
{
	struct source *source = NULL, *other = NULL;
	struct error why = { "" };
	int err = check_output(paths, nr, options, &why), status = STATUS_OK;

	if (!err)
		err = open_recording(paths, nr, options, &source, &why);
	if (!err && options->other)
		err = open_recording(&options->other, 1, options, &other, &why);
	if (!err)
		err = show(source, other, options, &why);
	if (source)
		status = report_problems(&source_reading(source)->recording);
	if (other && report_problems(&source_reading(other)->recording) != STATUS_OK)
		status = STATUS_FAILURE;
	source_close(source);
	source_close(other);
	/* -EPIPE: the reader of standard output is gone. */
	return err && err != -EPIPE ? say_failure(err, &why) : status;
}

/* ---- the command line */

/* The rows that the table of exits has for each WHAT. */
static int find_by(const char *name, unsigned int *ret_groups, struct error *why)
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
	return error_set(why, -EINVAL,
			 "\"%s\": --by must be one of reason, guest, vcpu, tid", name);
}

const struct view_type *report_view(const struct options *options)
{
	return options->view ? options->view : view_type_of(VIEW_TOTALS);
}

int report_understand(struct options *options, struct error *why)
{
	int err = 0;

	options->groups = GROUP_REASON;
	if (options->longer_ns)
		options->view = view_type_by_name("long");
	if (options->by)
		err = find_by(options->by, &options->groups, why);
	if (!err && options->view_name)
		err = view_type_find(options->view_name, &options->view, why);
	if (!err && options->sort)
		err = view_column_find(report_view(options), options->sort, true,
				       &options->column, why);
	return err;
}

static int understand(struct options *options, struct error *why)
{
	if (!options->nr_words)
		return error_set(why, -EINVAL, "no recording is named: give a FILE, or - for "
					     "standard input");
	return report_understand(options, why);
}

static int run(struct options *options)
{
	/*
	 * Large blocks are then mapped, each alone. In the heap a block is copied when it grows,
	 * and its memory stays in use after free() while a block above it exists. Without this call
	 * glibc takes blocks up to the size of the largest freed one from the heap.
	 */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	return report_recordings((const char *const *)options->words, options->nr_words, options);
}

const struct command report_command = {
	.name = "report",
	.help = "count and time the VM exits in recordings",
	.usage = "Usage: kvmtop report [OPTION]... FILE...\n"
		 "Counts and times the VM exits in recordings. Reads trace-cmd's\n"
		 "trace.dat, perf.data, and the files of ACRN's acrntrace and of kvmtrace;\n"
		 "several are one recording. Shows the screen on a terminal, else prints text.\n",
	.footer = "Exit status: 0 done, 1 a file could not be read to its end, 2 wrong usage.\n"
		  "More: man kvmtop-report\n",
	.command = { .works = MODE_REPORT, .offer = OFFER_FILES },
	.understand = understand,
	.run = run,
};
