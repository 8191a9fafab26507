// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report`: reads the recordings, and shows or prints what was found. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/say.h"
#include "base/whole_file.h"
#include "trace/recorded/recording.h"
#include "trace/report/report.h"

/* What could not be read: STATUS_OK, or STATUS_FAILURE if anything. */
static int say_problems(const struct recording *recording)
{
	const struct trace_problem *problem;
	int status = STATUS_OK;

	for (size_t i = 0; (problem = trace_problem(recording->trace, i)); i++) {
		fprintf(stderr, "kvmtop: %s: at byte %" PRIu64 ": %s\n", problem->path,
			problem->offset, problem->text);
		status = STATUS_FAILURE;
	}
	return status;
}

/* ---- printing */

/* 0: not a terminal. */
static int terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

static int write_csv(const struct report *report, const char *path, struct why *why)
{
	FILE *file;
	bool is_bad;

	if (strcmp(path, "-") == 0) {
		report_csv(report, stdout);
		return 0;
	}
	file = fopen(path, "we");
	if (!file)
		return why_set(why, -errno, "%s: %s", path, strerror(errno));
	report_csv(report, file);
	is_bad = ferror(file);
	if (fclose(file) != 0 || is_bad)
		return why_set(why, -EIO, "%s: cannot be written: %s", path, strerror(errno));
	return 0;
}

static int print_report(const struct recording *recording, const struct report_options *options,
			struct why *why)
{
	bool is_csv_only = options->csv && strcmp(options->csv, "-") == 0;
	struct report report;
	int err = report_init(&report, recording, options);

	if (err)
		return err;
	if (options->json)
		err = report_json(&report, stdout);
	else if (!is_csv_only)
		report_text(&report, terminal_width(), stdout);
	if (!err && options->csv)
		err = write_csv(&report, options->csv, why);
	report_release(&report);
	return err;
}

/* From the other, which is named with --diff, to this one: from a good guest to a bad one. */
static int print_diff(const struct recording *recording, const struct recording *other,
		      const struct report_options *options, struct why *why)
{
	struct report one, two;
	int err = report_init(&one, other, options);

	if (err)
		return err;
	err = report_init(&two, recording, options);
	if (!err) {
		err = report_diff(&one, &two, stdout, why);
		report_release(&two);
	}
	report_release(&one);
	return err;
}

static int print(const struct recording *recording, const struct recording *other,
		 const struct report_options *options, struct why *why)
{
	if (other->trace)
		return print_diff(recording, other, options, why);
	if (options->acrn)
		return report_acrn(recording, options->mhz, options->mhz_text,
				   options->csv, stdout, why);
	return print_report(recording, options, why);
}

/* ---- what is asked for */

/* People who look at it want to look around; programs and files get text. */
static bool wants_screen(const struct report_options *options)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !options->text &&
	       !options->json && !options->csv && !options->diff && !options->acrn;
}

static int read_recording(const char *const *paths, size_t nr, const struct report_options *options,
			  struct recording *recording, struct why *why)
{
	return recording_read(paths, nr, options->kind, recording, why);
}

static int show(const struct recording *recording, const struct recording *other,
		const struct report_options *options, struct why *why)
{
	if (wants_screen(options) && report_screen(recording, options, why) == 0)
		return 0;
	if (why->text[0])
		fprintf(stderr, "kvmtop: %s\n", why->text);
	why->text[0] = '\0';
	return print(recording, other, options, why);
}

/* A recording is not to be written over. */
static int check_output(const char *const *paths, size_t nr, const struct report_options *options,
			struct why *why)
{
	for (size_t i = 0; options->csv && i < nr; i++) {
		if (is_same_file(options->csv, paths[i]))
			return why_set(why, -EINVAL, "--csv %s: that is the recording itself",
				       options->csv);
	}
	return 0;
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
	return say_end(err ? say_failure(err, &why) : status);
}

static int run(int argc, char **argv)
{
	struct report_options options;
	struct why why = { "" };
	int first = 0;

	if (report_options_parse(argc, argv, &options, &first, &why) < 0)
		return say_usage("report", &why);
	if (options.help) {
		report_options_help(stdout);
		return say_end(STATUS_OK);
	}
	return report((const char *const *)argv + first, (size_t)(argc - first), &options);
}

const struct command report_command = {
	.name = "report",
	.help = "exits in a recording: how many, how long they took",
	.run = run,
};
