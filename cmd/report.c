// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report`: reads the recordings, and shows or prints what was found. */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "lib/output.h"
#include "lib/say.h"
#include "cmd/command.h"
#include "cmd/commands.h"
#include "cmd/report.h"
#include "cmd/report_acrn.h"

/* Of one host or of several, the order of their events, and the time that passed, may be wrong. */
static void say_clocks(const struct recording *recording)
{
	const struct trace_info *one, *other;

	if (trace_has_two_clocks(recording->trace, &one, &other))
		fprintf(stderr, "kvmtop: %s is on the clock \"%s\", %s on \"%s\": the two may be "
			"apart; read them separately\n", one->path, one->clock_name, other->path,
			other->clock_name);
}

/* Prints what could not be read: STATUS_FAILURE if there was anything, else STATUS_OK. */
static int say_problems(const struct recording *recording)
{
	const struct trace_problem *problem;
	struct why why = { "" };
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
static bool wants_screen(const struct report_options *options)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !options->text &&
	       !options->json && !options->csv && !options->diff && !options->acrn;
}

/* The table needs the arguments of its event, and no list of long exits; views may show all. */
static int read_recording(const char *const *paths, size_t nr, const struct report_options *options,
			  struct recording *recording, struct why *why)
{
	bool is_table = !wants_screen(options) && !options->view;
	uint64_t longer_ns = options->longer_ns ? options->longer_ns : LONG_EXITS_DEFAULT_NS;
	const struct recording_choice choice = {
		.kind = options->kind,
		.buffer = options->buffer,
		.longer_ns = is_table ? 0 : longer_ns,
		.has_halts = options->halts,
		.mhz = options->mhz,
		.arguments = is_table ? 1U << options->event : PAIRING_ALL_ARGUMENTS,
	};

	return recording_read(paths, nr, &choice, recording, why);
}

static int print(const struct recording *recording, const struct recording *other,
		 const struct report_options *options, struct why *why)
{
	if (other->trace)
		return report_two(other, recording, options, why);
	if (options->acrn)
		return report_acrn(recording, options->mhz, options->mhz_text, options->csv,
				   stdout, why);
	return report_lines(recording, options, why);
}

static int show(struct recording *recording, const struct recording *other,
		const struct report_options *options, struct why *why)
{
	int err = wants_screen(options) ? report_screen(recording, options, why) : -ENOTTY;

	if (!err || err == -ESTALE)
		return err;
	say_notice(why);
	return print(recording, other, options, why);
}

/* The output must not overwrite a recording. */
static int check_output(const char *const *paths, size_t nr, const struct report_options *options,
			struct why *why)
{
	const char *found = output_find_input(options->csv, paths, nr);

	if (!found)
		found = output_find_input(options->csv, &options->diff, 1);
	return found ? why_set(why, -EINVAL, "--csv %s: this file is the recording; choose "
			       "another one", options->csv) : 0;
}

static int report(const char *const *paths, size_t nr, const struct report_options *options)
{
	struct recording recording = { .trace = NULL }, other = { .trace = NULL };
	struct why why = { "" };
	int err = check_output(paths, nr, options, &why), status = STATUS_OK;

	if (!err)
		err = read_recording(paths, nr, options, &recording, &why);
	if (!err && options->diff)
		err = read_recording(&options->diff, 1, options, &other, &why);
	if (!err)
		err = show(&recording, &other, options, &why);
	if (recording.trace)
		status = say_problems(&recording);
	if (other.trace && say_problems(&other) != STATUS_OK)
		status = STATUS_FAILURE;
	recording_release(&recording);
	recording_release(&other);
	/* -EPIPE: the reader of standard output is gone. */
	return err && err != -EPIPE ? say_failure(err, &why) : status;
}

static int run(int argc, char **argv)
{
	struct report_options options;
	struct why why = { "" };
	int first = 0;

	if (report_options_parse(argc, argv, &options, &first, &why) < 0)
		return say_usage("report", &why);
	if (options.help) {
		option_table_help(&report_option_table, stdout);
		return STATUS_OK;
	}
	return report((const char *const *)argv + first, (size_t)(argc - first), &options);
}

const struct command report_command = {
	.name = "report",
	.help = "count the exits in a recording, and how long they took",
	.options = &report_option_table,
	.run = run,
};
