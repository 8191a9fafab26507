// SPDX-License-Identifier: GPL-2.0-or-later
/* All of a recording: `kvmtop report FILE` and `kvmtop -r FILE`, as the screen or as lines. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/output.h"
#include "lib/process.h"
#include "lib/text.h"
#include "cmd/command.h"
#include "cmd/top.h"
#include "core/views/fill.h"
#include "core/views/query.h"
#include "core/views/view.h"

#define LARGE_BYTES (256 << 10)

struct report {
	struct run run; /* the first member; without a monitor: no events of KVM */
	const struct source_reading *reading;
	bool is_none; /* nothing in the recording matches -p, -g and --vcpu */
	struct lines_recording about;
};

void say_clocks(const struct trace *trace, const char *remedy)
{
	const struct trace_info *one, *other;

	if (trace_has_two_clocks(trace, &one, &other))
		fprintf(stderr, "kvmtop: %s is on the clock \"%s\", %s on \"%s\": the two may be "
			"apart; %s\n", one->path, one->clock_name, other->path, other->clock_name,
			remedy);
	if (trace_has_wrong_clock(trace, &one, &other))
		fprintf(stderr, "kvmtop: %s: the times of its buffers \"%s\" and \"%s\" are not of "
			"one clock: trace-cmd wrote the main buffer's clock for all (%s); record "
			"each with the same -C\n", one->path, trace_buffer_name(one),
			trace_buffer_name(other), one->clock_name);
}

int report_problems(const struct recording *recording)
{
	const char *problem;
	int status = STATUS_OK;

	say_clocks(recording->trace, "read them separately");
	for (size_t i = 0; (problem = trace_problem(recording->trace, i)); i++) {
		say(problem);
		status = STATUS_FAILURE;
	}
	return status;
}

/* ---- reading ---- */

/* A terminal gets the screen; programs and files get text. */
static bool wants_screen(const struct options *options)
{
	bool has_keys = isatty(STDIN_FILENO) || options_read_stdin(options);

	return has_keys && isatty(STDOUT_FILENO) && !options->text && !options->json &&
	       !options->csv && !options->folded && !options->svg && !options->other &&
	       !options->acrn;
}

/* What is printed as text: the view that was asked for, else the table of exits. */
static const struct view_type *text_type(const struct options *options)
{
	return options->view ? options->view : &view_exits;
}

/* The view that the screen begins with. */
static const struct view_type *screen_type(const struct options *options)
{
	if (options->view)
		return options->view;
	if (options->event >= EXITS_FIRST_ARGUMENT)
		return &view_hotspots;
	if (options->groups & GROUP_VCPU)
		return &view_vcpus;
	return options->groups & GROUP_GUEST ? &view_guests : &view_exits;
}

static int report_choose(struct report *report, const struct view_type *type, struct error *error)
{
	struct run *run = &report->run;

	return query_of_recording(run->options, report->reading->recording.guests, type,
				  &run->query, &run->parts, &report->is_none, error);
}

static int report_begin(struct run *run, struct error *error)
{
	struct report *report = (struct report *)run;

	report->reading = source_reading(run->source);
	return report_choose(report, wants_screen(run->options) ? screen_type(run->options) :
								  text_type(run->options), error);
}

/* The table needs the arguments of its event, and no list of long exits; views may show all. */
static int read_recording(struct report *report, struct error *error)
{
	const struct options *options = report->run.options;
	bool is_table = !wants_screen(options) && text_type(options) == &view_exits;
	uint64_t longer_ns = options->longer_ns ? options->longer_ns : LONG_EXITS_DEFAULT_NS;
	const struct run_plan plan = {
		.source.recording = {
			.longer_ns = is_table ? 0 : longer_ns,
			.arguments = is_table ? 1U << options->event : PAIRING_ALL_ARGUMENTS,
			.has_moments = wants_screen(options),
			.has_code = !is_table,
		},
		.choose = report_begin,
	};

	return run_open(&report->run, &plan, error);
}

/* ---- what is said of the recording ---- */

/* Counts the guests and vCPUs that the query asks for. */
static void count_vcpus(const struct report *report, struct lines_recording *about)
{
	const struct guests *guests = report->reading->recording.guests;

	for (size_t i = 0; !report->is_none && i < guests_count(guests); i++) {
		const struct guest *guest = guests_at(guests, i);
		size_t nr = about->nr_vcpus;

		for (size_t j = 0; j < guest->nr_vcpus; j++) {
			const struct key key = { guest->id, guest->vcpus[j].index, FIELD_NONE };

			about->nr_vcpus += query_has_key(&report->run.query, &key);
		}
		about->nr_guests += about->nr_vcpus > nr;
	}
}

/* Counts the exits of the query that began and have no end. */
static uint64_t all_unfinished(const struct report *report)
{
	const struct recording *recording = &report->reading->recording;
	const struct table *table = &recording->pairing.table;
	uint64_t nr = 0;

	for (size_t i = 0; !report->is_none && i < table->nr_threads; i++) {
		const struct recorded_thread *thread = table->threads[i];
		const struct recorded_vcpu *vcpu = &recording->vcpus[i];
		const struct key key = { vcpu->guest, vcpu->vcpu, FIELD_NONE };

		if (!query_has_key(&report->run.query, &key))
			continue;
		for (size_t j = 0; j < thread->counts.nr; j++)
			nr += count_unfinished(thread->counts.list[j], report->run.query.event);
	}
	return nr;
}

/* The text instead of a table without rows. */
static const char *why_none(const struct query *query, const struct pairing *pairing)
{
	if (query->type == &view_long_exits && pairing->has_entries)
		return "None of the chosen exits took that long.";
	if (query->type == &view_why && pairing->has_exits[EXITS_VMEXIT])
		return "Nothing found that makes these guests slow.";
	if (query->filter && query->event == EXITS_VMEXIT)
		return "The filter matches nothing in this view.";
	if (query->type == &view_exits && pairing->table.nr_counts[query->event])
		return "The guests, processes, threads and vCPUs that were chosen have none of "
		       "these exits; --by tid shows which there are.";
	if (query->event == EXITS_VMEXIT && !pairing->has_exits[EXITS_VMEXIT])
		return pairing->has_exits[EXITS_USERSPACE] ?
			       "No VM exits (kvm_exit) are recorded; --event userspace shows the "
			       "exits to user space." :
			       "No VM exits (kvm_exit) are recorded: kvmtop record, perf kvm stat "
			       "record and trace-cmd record -e kvm record them.";
	return query->type == &view_exits ? "No exits of this kind are recorded." :
					    "The recording has nothing for this view.";
}

static void describe(struct report *report)
{
	const struct recording *recording = &report->reading->recording;
	const struct pairing *pairing = &recording->pairing;
	enum time_unit unit = report->reading->recording.unit;

	report->about = (struct lines_recording){
		.trace = recording->trace,
		.pairing = pairing,
		.unit = unit,
		.ns_per_unit = recording->ns_per_unit,
		.has_time = pairing->has_entries && recording->ns_per_unit > 0,
		.span = unit == UNIT_CYCLES ? recording_span(recording) : recording->span_ns,
		.none = why_none(&report->run.query, pairing),
	};
	count_vcpus(report, &report->about);
	if (report->about.has_time)
		report->about.nr_unfinished = all_unfinished(report);
}

/* ---- text, CSV and JSON ---- */

/* What compares times with a threshold cannot answer where the clock's unit is not known. */
static int check_clock(const struct source_reading *reading, const struct view_type *type,
		       struct error *error)
{
	const struct trace_info *info = trace_clock_info(reading->recording.trace);

	if (reading->recording.unit == UNIT_NS || !(type == &view_long_exits || type == &view_why))
		return 0;
	return error_set(
		error, -EINVAL,
		info->clock == TRACE_CLOCK_COUNT ?
			"%s: the recording's clock counts events, not time" :
			"%s: times are in TSC cycles: give the TSC's frequency with "
			"--frequency 2.4GHz",
		info->path);
}

/* Whether the view has times, and no note that they include waiting. */
static bool includes_waits(const struct report *report)
{
	const struct view *view = &report->run.view;
	bool is_noted = view->note && strcmp(view->note, TIMES_WITH_WAITS) == 0;

	return report->about.has_time && report->about.has_exits && !is_noted &&
	       !report->reading->recording.pairing.has_switches &&
	       exits_have_end(report->run.query.event) &&
	       (view_has(view, COL_TIME) || view_has(view, COL_TOOK) || view_has(view, COL_IN_KVM));
}

static int report_build(struct report *report, struct error *error)
{
	struct run *run = &report->run;
	struct query *query = &run->query;
	const struct view_type *type = query->type;
	int err = check_clock(report->reading, type, error);

	if (err)
		return err;
	if (type != &view_exits && query->nr_only && query->guest == GUEST_ALL)
		return error_set(error, -EINVAL,
				 "--view %s shows all guests or one: give -p one PID", type->name);
	describe(report);
	run->view.type = type;
	if (type == &view_exits && !run->options->sort) /* as perf's */
		query->sort = (size_t)view_column(type, COL_TOTAL);
	query->reverse = type == &view_long_exits && !run->options->sort; /* the oldest first */
	if (report->is_none || !run->monitor)
		return 0;
	monitor_sample(run->monitor);
	view_build(&run->view, query, monitor_facts(run->monitor));
	report->about.has_exits = run->view.nr_rows > 0;
	report->about.has_waits = includes_waits(report);
	return 0;
}

static int write_view(struct report *report, const struct view *view, struct error *error)
{
	struct run *run = &report->run;

	run_lines_plain(run);
	run->lines.config.side[0].recording = &report->about;
	if (run->options->fields && run->monitor)
		run_remark(run, view_remark(view));
	else
		run_note(run, view_remark(view));
	return run_write(run, view, 0, report->about.unit == UNIT_CYCLES ? 0 : report->about.span,
			 error);
}

static int print_one(struct report *report, struct error *error)
{
	int err = report_build(report, error);

	report->run.lines.config.room = lines_room();
	return err ? err : write_view(report, &report->run.view, error);
}

static int print_both(struct report *report, struct report *other, struct error *error)
{
	struct report *const sides[2] = { other, report };
	struct view_side compared[2];
	struct view both = { .nr_rows = 0 };
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		sides[i]->run.query.joins_names = true;
		err = report_build(sides[i], error);
		compared[i] = (struct view_side){
			.path = sides[i]->run.source->name,
			.view = &sides[i]->run.view,
			.span = sides[i]->about.span,
			.unit = sides[i]->about.unit,
		};
		snprintf(report->run.lines.heads[i], HEAD_SIZE, "%s", compared[i].path);
	}
	report->run.lines.config.side[1].recording = &other->about;
	if (!err)
		err = view_diff(compared, &both, error);
	if (!err)
		err = write_view(report, &both, error);
	view_release(&both);
	return err;
}

static int print_acrn(const struct report *report, struct error *error)
{
	const struct options *options = report->run.options;
	const char *csv = options->output ? options->output : "-";

	return report_acrn(&report->reading->recording, options->mhz, options->mhz_text,
			   options->csv ? csv : NULL, stdout, error);
}

/* ---- the screen ---- */

/* Why the screen, which shows nanoseconds, cannot show the recording. */
static int why_no_time(const struct recording *recording, struct error *error)
{
	if (trace_clock_info(recording->trace)->clock == TRACE_CLOCK_COUNT)
		return error_set(error, -EINVAL, "the recording's clock counts events, not time: "
				 "only text can show it");
	return error_set(error, -EINVAL, "times are in TSC cycles: for the screen, give the TSC's "
				     "frequency with --frequency 2.4GHz");
}

/* On an error text is printed instead, after a warning with error unless error is empty. */
static int report_show(struct report *report, struct error *error)
{
	struct run *run = &report->run;
	int err;

	if (report->reading->recording.unit == UNIT_CYCLES)
		return why_no_time(&report->reading->recording, error);
	/*
	 * The screen cannot show a choice of several guests; the text says when there are no events
	 * of KVM.
	 */
	if (!run->monitor || report->is_none ||
	    (run->query.nr_only && run->query.guest == GUEST_ALL))
		return -ENOENT;
	/* The query has the guest and the vCPU; --by chose the view, and --event the filter. */
	run->query.nr_only = 0;
	run->query.groups = 0;
	run->query.event = EXITS_VMEXIT;
	err = run_signals(run, false, true);
	/* A terminal that cannot show a screen gets text, without a warning. */
	return err ? err : run_tui(run, &(struct tui_config){ .at_ns = 0 }, &(struct error){ "" });
}

static int show_or_print(struct report *report, struct report *other, struct error *error)
{
	int err;

	if (wants_screen(report->run.options)) {
		err = report_show(report, error);
		if (!err)
			return 0;
		say_notice(error);
		err = report_choose(report, text_type(report->run.options), error);
		if (!err && report->run.monitor)
			err = monitor_want(report->run.monitor, &report->run.query, error);
		if (err)
			return err;
	}
	if (other)
		return print_both(report, other, error);
	return report->run.options->acrn ? print_acrn(report, error) : print_one(report, error);
}

/* ---- one or two recordings ---- */

int report_run(const struct options *options)
{
	/* The other one of --diff is a single file. */
	struct options others = *options;
	struct report report = { .run = RUN_INIT(options) }, other = { .run = RUN_INIT(&others) };
	struct report *const sides[] = { &report, &other };
	struct error error = { "" };
	int err, status = STATUS_OK;

	others.read_file = options->other;
	others.nr_words = 0;
	err = read_recording(&report, &error);
	if (!err && options->other)
		err = read_recording(&other, &error);
	if (!err)
		err = show_or_print(&report, options->other ? &other : NULL, &error);
	err = run_lines_close(&report.run, err, &error);
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		if (sides[i]->reading &&
		    report_problems(&sides[i]->reading->recording) != STATUS_OK)
			status = STATUS_FAILURE;
		run_close(&sides[i]->run);
	}
	/* -EPIPE: the reader of standard output is gone. */
	return err && err != -EPIPE ? say_failure(err, &error) : status;
}

/* ---- the command line ---- */

int report_understand(struct options *options, struct error *error)
{
	struct pattern *filter = NULL;
	int err = options->fields ? pattern_new(options->fields, &filter, error) : 0;

	pattern_free(filter); /* a wrong one is said before anything is read */
	if (err)
		return err;
	if (options->view_name)
		err = view_type_find(options->view_name, &options->view, error);
	if (!err && options->sort)
		err = view_column_find(text_type(options), options->sort, true,
				       &options->column, error);
	return err;
}

static int understand(struct options *options, struct error *error)
{
	if (!options->nr_words)
		return error_set(error, -EINVAL, "no recording is named: give a FILE, or - for "
					     "standard input");
	return report_understand(options, error);
}

static int run(struct options *options)
{
	/*
	 * Large blocks are then mapped, each alone. In the heap a block is copied when it grows,
	 * and its memory stays in use after free() while a block above it exists. Without this call
	 * glibc takes blocks up to the size of the largest freed one from the heap.
	 */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	return report_run(options);
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
