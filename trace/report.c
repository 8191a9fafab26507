// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report`: reads the recordings, shows how far it is, prints what was found. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "say.h"
#include "trace/report.h"

#define EVENTS_A_LOOK 65536 /* events between two looks at the clock */
#define BAR_AFTER_NS UINT64_C(1000000000)
#define BAR_EVERY_NS UINT64_C(100000000)
#define BAR_WIDTH 40

/* One recording, read. */
struct recording {
	struct trace *trace;
	struct tally tally;
};

/* ---- the bar */

struct bar {
	uint64_t began, shown; /* shown 0: not yet */
};

static void show_bar(struct bar *bar, const struct trace *trace)
{
	uint64_t now = clock_now_ns(), done, total;
	char line[BAR_WIDTH + 1];
	int width;

	if (now - bar->began < BAR_AFTER_NS || now - bar->shown < BAR_EVERY_NS ||
	    !isatty(STDERR_FILENO))
		return;
	trace_progress(trace, &done, &total);
	done = done < total ? done : total;
	width = total ? (int)((double)done / (double)total * BAR_WIDTH) : 0;
	memset(line, ' ', BAR_WIDTH);
	memset(line, '#', (size_t)width);
	line[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r[%s] %" PRIu64 " of %" PRIu64 " MiB", line, done >> 20, total >> 20);
	fflush(stderr);
	bar->shown = now;
}

static void clear_bar(const struct bar *bar)
{
	if (bar->shown)
		fputs("\r\033[K", stderr);
}

/* ---- reading */

static int read_events(struct recording *recording)
{
	struct bar bar = { .began = clock_now_ns() };
	const struct trace_event *event;
	unsigned int nr = 0;
	int got;

	while ((got = trace_next(recording->trace, &event)) > 0) {
		got = tally_add(&recording->tally, event);
		if (got < 0)
			break;
		if (++nr % EVENTS_A_LOOK == 0)
			show_bar(&bar, recording->trace);
	}
	clear_bar(&bar);
	tally_end(&recording->tally);
	return got;
}

static void close_recording(struct recording *recording)
{
	if (!recording->trace)
		return;
	tally_release(&recording->tally);
	trace_close(recording->trace);
	recording->trace = NULL;
}

static int read_recording(const char *const *paths, size_t nr, const struct report_options *options,
			  struct recording *recording, struct why *why)
{
	int err = trace_open(paths, nr, options->kind, &recording->trace, why);

	if (err)
		return err;
	tally_init(&recording->tally, options->tally_event, recording->trace);
	err = read_events(recording);
	if (err)
		close_recording(recording);
	return err;
}

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
	int err = report_init(&report, &recording->tally, options);

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

static int print_diff(const struct recording *recording, const struct recording *other,
		      const struct report_options *options)
{
	struct report one, two;
	int err = report_init(&one, &recording->tally, options);

	if (err)
		return err;
	err = report_init(&two, &other->tally, options);
	if (!err) {
		err = report_diff(&one, &two, stdout);
		report_release(&two);
	}
	report_release(&one);
	return err;
}

static int print(const struct recording *recording, const struct recording *other,
		 const struct report_options *options, struct why *why)
{
	if (other->trace)
		return print_diff(recording, other, options);
	if (options->acrn)
		return report_acrn(&recording->tally, options->mhz, options->mhz_text, options->csv,
				   stdout, why);
	return print_report(recording, options, why);
}

static int report(const char *const *paths, size_t nr, const struct report_options *options)
{
	struct recording recording = { .trace = NULL }, other = { .trace = NULL };
	struct why why = { "" };
	int err = read_recording(paths, nr, options, &recording, &why), status = STATUS_OK;

	if (!err && options->diff)
		err = read_recording(&options->diff, 1, options, &other, &why);
	if (!err)
		err = print(&recording, &other, options, &why);
	if (recording.trace)
		status = say_problems(&recording);
	if (other.trace && say_problems(&other) != STATUS_OK)
		status = STATUS_FAILURE;
	close_recording(&recording);
	close_recording(&other);
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
