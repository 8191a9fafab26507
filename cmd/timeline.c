// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop timeline`: its options, and the picture, drawn source by source. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/say.h"
#include "base/whole_file.h"
#include "cmd/option.h"
#include "cmd/command.h"
#include "cmd/commands.h"
#include "trace/progress.h"
#include "trace/timeline/functions.h"
#include "trace/timeline/inside.h"
#include "trace/timeline/kvm.h"
#include "trace/timeline/perf_stat.h"
#include "trace/timeline/uftrace.h"

#define MARGIN_NS 60000000000	 /* other sources may begin this long before KVM's first event */
#define PERF_BEFORE_NS 50000000 /* perf is usually started just before */
#define PROGRESS_EVENTS 65536
#define OUT_BYTES (1 << 18)
#define RECORDINGS_MAX 1024 /* ACRN has one for each CPU */

struct options {
	bool help, filter;
	const char *recordings[RECORDINGS_MAX];
	size_t nr_recordings;
	const char *output, *perf, *merge, *binary, *binary_name, *input_format;
	const char *offset_text;
	bool has_offset;
	int64_t offset;
	unsigned long khz;
};

#define OPTIONS struct options

static const struct option_spec specs[] = {
	OPT_HEADING("Options"),
	OPT_STRING('o', "output", "FILE", output, "the picture (default: standard output)"),
	OPT_OTHER('k', "kvm", "FILE", recordings,
		  "a recording: trace.dat, perf.data, ACRN, kvmtrace; may be repeated"),
	OPT_STRING('p', "perf-stat", "FILE", perf, "counters: what perf stat -I -x or -j printed"),
	OPT_OTHER('O', "offset", "N", offset_text,
		  "how far the guest's clock is ahead of the host's; auto: from -k (default)"),
	OPT_COUNT('f', "freq", "KHZ", khz, "the TSC's frequency, for times in TSC cycles"),
	OPT_FLAG('F', "filter", filter, "no function calls before the first event of -k"),
	OPT_STRING('m', "merge", "TRACE", merge, "function calls on the host, in its time"),
	OPT_STRING('b', "binary", "FILE", binary,
		   "the guest's program: write its symbols into GUESTTRACE"),
	OPT_STRING('B', "binaryname", "NAME", binary_name,
		   "that program's name in GUESTTRACE (default: test)"),
	OPT_STRING(0, "input-format", "KIND", input_format,
		   "the kind of -k, if its files do not tell"),
	OPT_HELP,
};

/* A signed number, or an unsigned one beyond 2^63, as the kernel prints a negative one. */
static int take_offset(struct options *options, const char *text, struct why *why)
{
	char *end;

	options->has_offset = strcmp(text, "auto") != 0;
	if (!options->has_offset)
		return 0;
	errno = 0;
	if (*text == '-')
		options->offset = strtoll(text, &end, 10);
	else
		options->offset = (int64_t)strtoull(text, &end, 10);
	if (end == text || *end || errno)
		return why_set(why, -EINVAL, "\"%s\": the offset is neither a number nor \"auto\"",
			       text);
	return 0;
}

static int take(void *ret_options, const struct option_spec *spec, const char *text,
		struct why *why)
{
	struct options *options = ret_options;

	if (spec->offset == OPT_AT(offset_text))
		return take_offset(options, text, why);
	if (spec->offset != OPT_AT(recordings))
		return 0;
	if (options->nr_recordings == RECORDINGS_MAX)
		return why_set(why, -EINVAL, "too many recordings: -k may be given %d times",
			       RECORDINGS_MAX);
	options->recordings[options->nr_recordings++] = text;
	return 0;
}

static const struct option_table table = {
	.specs = specs,
	.nr = ARRAY_SIZE(specs),
	.usage = "Usage: kvmtop timeline [OPTION]... [GUESTTRACE]...\n"
		 "Makes one picture (Chrome's trace format, for ui.perfetto.dev) of KVM's events,\n"
		 "perf's counters, and the function calls that uftrace saw in guests: GUESTTRACE\n"
		 "is its folder, or what uftrace dump --chrome wrote.\n",
	.take = take,
};

struct run {
	const struct options *options;
	struct whole_file file;
	struct timeline_out out; /* without a file until there is something to draw */
	struct timeline_clock clock;
	struct trace *trace;
	struct timeline_kvm *kvm;
	struct timeline_inside inside;
	int64_t first_ns; /* KVM's first event */
	uint64_t nr_lost, nr_unknown; /* events; losses of an unknown number of events */
	struct progress progress;
	bool has_guests, has_others; /* function calls; anything but KVM's events */
	bool is_unwritable; /* the output; this was said */
	int status;
};

static void fail(struct run *run, int err, const struct why *why)
{
	run->status = say_failure(err, why);
}

/* Opens the output for the first source that could be opened. Returns whether it is open. */
static bool begin_output(struct run *run)
{
	struct why why = { "" };
	int err;

	if (run->out.file || run->is_unwritable)
		return !run->is_unwritable;
	err = whole_file_open(&run->file, run->options->output, &why);
	run->is_unwritable = err < 0;
	if (err) {
		fail(run, err, &why);
		return false;
	}
	setvbuf(run->file.file, NULL, _IOFBF, OUT_BYTES);
	out_begin(&run->out, run->file.file);
	return true;
}

/* ---- KVM's events ---- */

static int set_clock(struct run *run, const struct trace_event *first, struct why *why)
{
	const struct options *options = run->options;
	const struct trace_info *info = trace_file(run->trace, 0);

	run->clock.khz = 0;
	run->clock.has_no_tsc = info->clock != TRACE_CLOCK_CYCLES;
	if (info->clock == TRACE_CLOCK_CYCLES) {
		run->clock.khz = options->khz ? options->khz : info->tsc_khz;
		if (!run->clock.khz)
			return why_set(why, -EINVAL, "%s: times are in TSC cycles: give the "
				       "TSC's frequency with -f KHZ", info->path);
	}
	run->first_ns = run->has_others ? MARGIN_NS : 0;
	timeline_clock_begin(&run->clock, first->time, (uint64_t)run->first_ns);
	return 0;
}

static void count_loss(struct run *run, const struct trace_event *event)
{
	if (event->lost > 0)
		run->nr_lost += (uint64_t)event->lost;
	else
		run->nr_unknown++;
}

static int read_kvm(struct run *run, struct why *why)
{
	const struct trace_event *event;
	uint64_t nr = 0;
	int got;

	while ((got = trace_next(run->trace, &event)) > 0) {
		int err = nr ? 0 : set_clock(run, event, why);

		if (!err)
			err = timeline_kvm_add(run->kvm, event);
		if (!err)
			err = timeline_inside_add(&run->inside, event);
		if (err)
			return err;
		if (!event->type)
			count_loss(run, event);
		if (++nr % PROGRESS_EVENTS == 0)
			progress_show(&run->progress, run->trace);
		if (ferror(run->out.file))
			return -EIO;
	}
	timeline_kvm_end(run->kvm);
	return got;
}

/* What could not be read, and where; and how many events are missing. */
static void tell_problems(struct run *run)
{
	const struct trace_problem *problem;

	if (run->nr_lost || run->nr_unknown)
		fprintf(stderr, "kvmtop: %s: %s%" PRIu64 " events were lost when it was recorded\n",
			run->options->nr_recordings > 1 ? "the recordings" :
							  run->options->recordings[0],
			run->nr_unknown ? "more than " : "", run->nr_lost);
	for (size_t i = 0; (problem = trace_problem(run->trace, i)); i++) {
		struct why why = { "" };

		why_set(&why, -EINVAL, "%s: %s at offset %" PRIu64, problem->path, problem->text,
			problem->offset);
		fail(run, -EINVAL, &why);
	}
}

static int take_kvm(struct run *run, struct why *why)
{
	enum trace_kind kind = TRACE_ANY;
	int err = 0;

	if (!run->options->nr_recordings)
		return 0;
	if (run->options->input_format)
		err = trace_kind_by_name(run->options->input_format, &kind, why);
	if (!err)
		err = trace_open(run->options->recordings, run->options->nr_recordings, kind,
				 &run->trace, why);
	if (err || !begin_output(run))
		return err;
	run->kvm = timeline_kvm_new(run->trace, &run->clock, run->has_guests, &run->out);
	run->inside = (struct timeline_inside){ run->trace, &run->clock, &run->out, NULL, 0 };
	progress_begin(&run->progress);
	err = run->kvm ? read_kvm(run, why) : -ENOMEM;
	progress_end(&run->progress);
	tell_problems(run);
	return err;
}

/* ---- function calls ---- */

struct guest_clock {
	const struct run *run;
	size_t nr; /* which of the guests */
};

/* The offsets of kvm_write_tsc_offset are TSC cycles. */
static bool has_tsc(const struct run *run)
{
	return run->kvm && !run->clock.has_no_tsc;
}

static int64_t guest_offset(const void *state, size_t nr, uint64_t time)
{
	const struct guest_clock *guest = state;
	uint64_t host_time;

	if (guest->run->options->has_offset || !has_tsc(guest->run) ||
	    !timeline_kvm_host_time(guest->run->kvm, guest->nr, (int32_t)nr, time, &host_time))
		return guest->run->options->offset;
	return (int64_t)(time - host_time);
}

static void tell_no_offset(const struct run *run, size_t nr, const char *path)
{
	uint64_t time;

	if (!run->kvm || run->options->has_offset ||
	    (has_tsc(run) && timeline_kvm_host_time(run->kvm, nr, -1, UINT64_MAX, &time)))
		return;
	fprintf(stderr,
		"kvmtop: %s: %s; its times are taken for the host's: say with -O how far the "
		"guest's clock is ahead\n", path,
		has_tsc(run) ? "the recording has no kvm_write_tsc_offset event" :
			       "the recording's times are not in TSC cycles (record with "
			       "kvmtop record -C x86-tsc)");
}

static int draw_functions(struct run *run, FILE *json, const char *path,
			  const struct functions_config *config, struct why *why)
{
	FILE *in = progress_watch(json);
	int err = in ? timeline_functions(in, path, config, &run->out, why) : -ENOMEM;

	if (in)
		fclose(in);
	return err;
}

static void take_functions(struct run *run, const char *path, const struct guest_clock *guest)
{
	const struct functions_config config = {
		.clock = &run->clock,
		.after_ns = MARGIN_NS,
		.offset = guest ? guest_offset : NULL,
		.state = guest,
		.has_cut = run->options->filter,
		.cut_ns = run->first_ns,
		.name = path_base(path),
	};
	struct uftrace uftrace;
	struct why why = { "" }, end_why = { "" };
	int err = 0, end_err;

	if (guest && run->options->binary)
		err = uftrace_symbols(path, run->options->binary, run->options->binary_name, &why);
	if (!err)
		err = uftrace_open(path, &uftrace, &why);
	if (!err) {
		if (begin_output(run))
			err = draw_functions(run, uftrace.json, path, &config, &why);
		end_err = uftrace_close(&uftrace, path, &end_why);
		if (end_err) { /* that is the cause if its output makes no sense */
			err = end_err;
			why = end_why;
		}
	}
	if (err)
		fail(run, err, &why);
}

/* ---- counters ---- */

static void take_perf(struct run *run, const char *path)
{
	int64_t anchor_ns = run->clock.has_base ? MARGIN_NS - PERF_BEFORE_NS : 0;
	FILE *file = fopen(path, "re"), *in;
	struct why why = { "" };
	int err;

	err = file ? 0 : why_set(&why, -errno, "%s: %s", path, strerror(errno));
	if (!err && begin_output(run)) {
		in = progress_watch(file);
		err = in ? timeline_perf(in, path, &run->clock, anchor_ns, &run->out, &why) :
			   -ENOMEM;
		if (in)
			fclose(in);
	}
	if (file)
		fclose(file);
	if (err)
		fail(run, err, &why);
}

/* ---- all of it ---- */

static void write_end(struct run *run)
{
	const struct trace_info *info = run->trace ? trace_file(run->trace, 0) : NULL;
	struct timeline_args metadata;
	char base[32];

	args_clear(&metadata);
	args_add_text(&metadata, "made-by", "kvmtop " KVMTOP_VERSION,
		      strlen("kvmtop " KVMTOP_VERSION));
	/* As text: a reader's numbers are doubles. */
	snprintf(base, sizeof(base), "%" PRId64, (int64_t)run->clock.base);
	args_add_text(&metadata, "base", base, strlen(base));
	args_add_text(&metadata, "base-unit", run->clock.khz ? "TSC" : "ns",
		      run->clock.khz ? 3 : 2);
	if (run->clock.khz)
		args_add_number(&metadata, "tsc-khz", (int64_t)run->clock.khz);
	if (info && info->clock_name)
		args_add_text(&metadata, "clock", info->clock_name, strlen(info->clock_name));
	if (info && info->release && *info->release)
		args_add_text(&metadata, "release", info->release, strlen(info->release));
	if (run->nr_lost)
		args_add_number(&metadata, "lost-events", (int64_t)run->nr_lost);
	if (run->nr_unknown)
		args_add_number(&metadata, "losses-of-unknown-size", (int64_t)run->nr_unknown);
	out_end(&run->out, &metadata);
}

static void draw_all(struct run *run, const char *const *guests, size_t nr)
{
	struct why why = { "" };
	int err = take_kvm(run, &why);

	if (err && !(run->out.file && ferror(run->out.file)))
		fail(run, err, &why);
	for (size_t i = 0; !err && !run->is_unwritable && i < nr; i++) {
		const struct guest_clock guest = { run, i };

		tell_no_offset(run, i, guests[i]);
		take_functions(run, guests[i], &guest);
	}
	if (!err && !run->is_unwritable && run->options->merge)
		take_functions(run, run->options->merge, NULL);
	if (!err && !run->is_unwritable && run->options->perf)
		take_perf(run, run->options->perf);
	if (run->out.file)
		write_end(run);
}

/* If nothing could be drawn, an older picture in the output file stays. */
static void end_output(struct run *run)
{
	struct why why = { "" };
	int err;

	if (!run->out.file)
		return;
	if (run->status != STATUS_OK && run->out.nr_events == 0) {
		whole_file_drop(&run->file);
		return;
	}
	err = whole_file_keep(&run->file);
	if (err) {
		why_set(&why, err, "%s: cannot be written: %s", run->options->output,
			strerror(-err));
		fail(run, -EIO, &why);
	}
}

static int run_timeline(const struct options *options, const char *const *guests, size_t nr)
{
	struct run run = {
		.options = options,
		.clock = { .khz = options->khz },
		.has_guests = nr > 0,
		.has_others = nr || options->merge || options->perf,
	};

	draw_all(&run, guests, nr);
	end_output(&run);
	timeline_kvm_free(run.kvm);
	timeline_inside_release(&run.inside);
	trace_close(run.trace);
	return run.status;
}

/* No input may be overwritten. */
static int check_output(const struct options *options, const char *const *guests, int nr,
			struct why *why)
{
	const char *others[] = { options->perf, options->merge, NULL };
	const char *found = NULL;

	for (size_t i = 0; options->output && i < options->nr_recordings; i++)
		found = is_same_file(options->output, options->recordings[i]) ?
				options->recordings[i] : found;
	for (int i = 0; options->output && i < nr; i++)
		found = is_same_file(options->output, guests[i]) ? guests[i] : found;
	for (size_t i = 0; options->output && i < 2; i++)
		found = others[i] && is_same_file(options->output, others[i]) ? others[i] : found;
	return found ? why_set(why, -EINVAL, "-o %s: this file is an input; choose another one",
			       found) : 0;
}

static int timeline_run(int argc, char **argv)
{
	struct options options = { .binary_name = "test" };
	struct why why = { "" };
	int first = option_table_parse(&table, argc, argv, &options, &why), err = 0;

	if (first < 0)
		return say_usage("timeline", &why);
	if (options.help) {
		option_table_help(&table, stdout);
		return STATUS_OK;
	}
	if (!options.nr_recordings && !options.perf && !options.merge && first == argc)
		err = why_set(&why, -EINVAL,
			      "nothing to draw: give -k FILE, -p FILE or a GUESTTRACE");
	else if (options.filter && !options.nr_recordings)
		err = why_set(&why, -EINVAL,
			      "-F needs -k FILE: it leaves out what is before KVM's first event");
	else if (options.binary && first == argc)
		err = why_set(&why, -EINVAL, "-b needs a GUESTTRACE to write symbols into");
	if (err)
		return say_usage("timeline", &why);
	if (check_output(&options, (const char *const *)argv + first, argc - first, &why) < 0)
		return say_failure(-EINVAL, &why);
	signal(SIGPIPE, SIG_IGN);
	return run_timeline(&options, (const char *const *)argv + first, (size_t)(argc - first));
}

const struct command timeline_command = {
	.name = "timeline",
	.help = "make a picture of recordings for Perfetto",
	.run = timeline_run,
};
