// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop timeline`: the picture, drawn source by source. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/file.h"
#include "lib/process.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "trace/recording/trace.h"
#include "trace/timeline/timeline.h"

#define PERF_BEFORE_NS 50000000 /* perf is most often started so long before KVM's first event */
#define PROGRESS_EVENTS 65536
#define CHECK_EVENTS 64 /* whether they can be written */
#define OUT_BYTES (1 << 18)

struct timeline_run {
	const struct options *options;
	struct whole_file file;
	struct timeline_out out; /* the file is opened when there is something to draw */
	struct trace *trace;
	struct timeline_kvm *kvm;
	struct timeline_inside inside;
	bool has_kvm; /* there was an event of KVM */
	int64_t last_ns; /* the last event of KVM; the first one is at 0 */
	uint64_t nr_lost, nr_unknown; /* events; losses of an unknown number of events */
	struct progress progress;
	bool has_guests, has_others; /* function calls of guests; sources beside KVM's events */
	bool is_unwritable; /* the output cannot be written; a message was, or will be printed */
	int status;
};

static void fail(struct timeline_run *run, int err, const struct error *error)
{
	run->status = say_failure(err, error);
}

/* Other sources may have something earlier than KVM's events; its time is known once it is read. */
static int wait_for_others(struct timeline_run *run, struct error *error)
{
	const char *folder = getenv("TMPDIR");
	int fd = file_without_name(folder && *folder ? folder : "/var/tmp", error);
	FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;

	if (fd < 0)
		return fd;
	if (!file)
		return -errno;
	setvbuf(file, NULL, _IOFBF, OUT_BYTES);
	out_wait(&run->out, file);
	return 0;
}

/* Opens the output for the first source that could be opened. Returns whether it is open. */
static bool begin_output(struct timeline_run *run)
{
	struct error error = { "" };
	int err;

	if (run->out.file || run->is_unwritable)
		return !run->is_unwritable;
	err = whole_file_open(&run->file, run->options->output, &error);
	run->is_unwritable = err < 0;
	if (err) {
		fail(run, err, &error);
		return false;
	}
	setvbuf(run->file.file, NULL, _IOFBF, OUT_BYTES);
	out_begin(&run->out, run->file.file,
		  strcmp(run->options->format, timeline_chrome.name) == 0 ? &timeline_chrome :
									    &timeline_perfetto);
	err = run->has_others ? wait_for_others(run, &error) : 0;
	run->is_unwritable = err < 0;
	if (err)
		fail(run, err, &error);
	return !err;
}

/* ---- KVM's events ---- */

static int set_clock(struct timeline_run *run, const struct trace_event *first, struct error *error)
{
	const struct trace_info *info = trace_clock_info(run->trace);
	struct timeline_clock *clock = &run->out.clock;

	clock->has_no_tsc = info->clock != TRACE_CLOCK_CYCLES;
	if (clock->has_no_tsc)
		clock->hz = 0;
	else if (!clock->hz) /* not given */
		clock->hz = UINT64_C(1000) * info->tsc_khz;
	if (!clock->has_no_tsc && !clock->hz)
		return error_set(error, -EINVAL, "%s: times are in TSC cycles: give the TSC's "
				 "frequency with --frequency 2.4GHz", info->path);
	timeline_clock_begin(clock, first->time);
	return 0;
}

static int read_kvm(struct timeline_run *run, struct error *error)
{
	const struct trace_event *event;
	uint64_t nr = 0, last = 0;

	while (trace_next(run->trace, &event)) {
		int err = nr ? 0 : set_clock(run, event, error);

		if (err)
			return err;
		timeline_kvm_add(run->kvm, event);
		timeline_inside_add(&run->inside, event);
		last = event->time;
		if (!event->type && event->lost > 0)
			run->nr_lost += (uint64_t)event->lost;
		else if (!event->type)
			run->nr_unknown++;
		if (++nr % PROGRESS_EVENTS == 0)
			progress_show(&run->progress, run->trace);
		if (nr % CHECK_EVENTS == 0 && out_has_failed(&run->out))
			return -EIO;
	}
	timeline_kvm_end(run->kvm);
	run->has_kvm = nr > 0;
	run->last_ns = nr ? timeline_clock_ns(&run->out.clock, last) : 0;
	return 0;
}

/* Prints what could not be read, and how many events are missing. */
static void print_problems(struct timeline_run *run)
{
	const char *problem;

	if (run->nr_lost || run->nr_unknown)
		fprintf(stderr, "kvmtop: %s: %s%" PRIu64 " events were lost when it was recorded\n",
			run->options->nr_recordings > 1 ? "the recordings" :
							  run->options->recordings[0],
			run->nr_unknown ? "more than " : "", run->nr_lost);
	for (size_t i = 0; (problem = trace_problem(run->trace, i)); i++) {
		say(problem);
		run->status = STATUS_FAILURE;
	}
}

/* How to record on the clock of uftrace. */
static const char *mono_remedy(const struct timeline_run *run)
{
	return trace_file(run->trace, 0)->kind == TRACE_PERF ? "perf record -k mono" :
							       "kvmtop record -C mono";
}

static int take_kvm(struct timeline_run *run, struct error *error)
{
	char remedy[64];
	int err;

	if (!run->options->nr_recordings)
		return 0;
	err = trace_open(run->options->recordings, run->options->nr_recordings, run->options->kind,
			 run->options->buffer, &run->trace, error);
	if (err || !begin_output(run))
		return err;
	trace_want_stacks(run->trace);
	run->kvm = timeline_kvm_new(run->trace, run->has_guests, &run->out);
	run->inside = (struct timeline_inside){ run->trace, &run->out, NULL, 0 };
	progress_begin(&run->progress);
	err = read_kvm(run, error);
	progress_end(&run->progress);
	print_problems(run);
	snprintf(remedy, sizeof(remedy), "record both with %s", mono_remedy(run));
	say_clocks(run->trace, remedy);
	return err;
}

/* ---- function calls ---- */

/* A trace of them, from the word "[GUEST=]TRACE". */
struct calls {
	const char *path, *guest; /* guest NULL: not given */
	size_t guest_len;
	const struct timeline_run *run;
	bool is_host;
	bool has_clock; /* the times are of the clock of the guest `of` */
	struct timeline_guest of;
	bool has_warned; /* a message says that its times may differ from the recording's */
};

/* The offsets of kvm_write_tsc_offset are TSC cycles. */
static bool has_tsc(const struct timeline_run *run)
{
	return run->kvm && !run->out.clock.has_no_tsc;
}

static int64_t guest_offset(const void *state, size_t nr, uint64_t time)
{
	const struct calls *calls = state;
	const struct timeline_run *run = calls->run;
	uint64_t host_time;

	if (run->options->has_offset || !has_tsc(run) || !calls->has_clock ||
	    !timeline_kvm_host_time(run->kvm, calls->of.number, (int32_t)nr, time, &host_time))
		return run->options->offset;
	return (int64_t)(time - host_time);
}

static void warn_no_offset(const struct timeline_run *run, struct calls *calls)
{
	uint64_t time;

	if (calls->has_clock && has_tsc(run) &&
	    timeline_kvm_host_time(run->kvm, calls->of.number, -1, UINT64_MAX, &time))
		return;
	calls->has_warned = true;
	fprintf(stderr,
		"kvmtop: %s: %s; its times are taken for the host's: give with -O how far the "
		"guest's clock is ahead\n", calls->path,
		has_tsc(run) ? "the recording has no kvm_write_tsc_offset event of its guest" :
			       "the recording's times are not in TSC cycles (record with "
			       "kvmtop record -C x86-tsc)");
}

/* nr: how many traces before this one had no guest's name. */
static int find_guest(struct calls *calls, size_t nr, struct error *error)
{
	const struct timeline_run *run = calls->run;
	int err = 0;

	if (!run->kvm || calls->is_host)
		return 0;
	if (calls->guest)
		err = timeline_kvm_guest(run->kvm, calls->guest, calls->guest_len,
					 &calls->of, error);
	calls->has_clock = !err && (calls->guest ||
				    timeline_kvm_guest_at(run->kvm, nr, &calls->of));
	if (err || run->options->has_offset)
		return err;
	if (!calls->guest && calls->has_clock && calls->of.nr_clocks > 1)
		fprintf(stderr, "kvmtop: %s: taken for a trace of %s, one of the recording's %zu "
			"guests: name the right one with GUEST=%s\n", calls->path,
			calls->of.name, calls->of.nr_clocks, calls->path);
	warn_no_offset(run, calls);
	return 0;
}

/* ---- whether two traces are on one clock */

static bool is_mono(const struct timeline_run *run)
{
	return strcmp(trace_clock_info(run->trace)->clock_name, "mono") == 0;
}

/* uftrace records times of CLOCK_MONOTONIC, unless it was built to record the TSC. */
static void warn_of_clock(const struct timeline_run *run, struct calls *calls)
{
	const struct trace_info *info = trace_clock_info(run->trace);

	if (info->clock == TRACE_CLOCK_CYCLES || is_mono(run))
		return;
	calls->has_warned = true;
	fprintf(stderr, "kvmtop: %s: uftrace's clock is CLOCK_MONOTONIC, the recording's is "
		"\"%s\": the two may be apart; record with %s\n", calls->path,
		info->clock_name, mono_remedy(run));
}

static void warn_of_distance(const struct timeline_run *run, const struct calls *calls,
			     const struct functions_span *span)
{
	bool is_before = span->last_ns < 0;
	int64_t ns = is_before ? -span->last_ns : span->first_ns - run->last_ns;

	if (!span->has_events || ns <= 0 || calls->has_warned)
		return;
	fprintf(stderr, "kvmtop: %s: all of its calls are %s the recording, by %.6g s: ",
		calls->path, is_before ? "before" : "after", (double)ns / 1e9);
	if (calls->is_host && is_mono(run)) /* uftrace of 2026 may have UTC */
		fprintf(stderr, "are both of one time, and on CLOCK_MONOTONIC?\n");
	else if (calls->is_host)
		fprintf(stderr, "are both on one clock? Record with %s\n", mono_remedy(run));
	else
		fprintf(stderr, "give with -O how far the guest's clock is ahead\n");
}

/* ---- drawing them */

static int draw_functions(struct timeline_run *run, FILE *json, struct calls *calls,
			  struct error *error)
{
	struct stat st;
	const struct functions_config config = {
		.offset = calls->is_host ? NULL : guest_offset,
		.state = calls,
		.has_cut = run->options->trims,
		.from_ns = 0,
		.to_ns = run->last_ns,
		.name = path_base(calls->path),
		.progress = &run->progress,
		.total = fstat(fileno(json), &st) == 0 && S_ISREG(st.st_mode) ?
				 (uint64_t)st.st_size : 0,
	};
	struct functions_span span;
	int err;

	progress_begin(&run->progress);
	err = timeline_functions(json, calls->path, &config, &run->out, &span, error);
	progress_end(&run->progress);
	if (err || !run->has_kvm)
		return err;
	if (calls->is_host)
		warn_of_clock(run, calls);
	warn_of_distance(run, calls, &span);
	return 0;
}

static int open_functions(struct timeline_run *run, struct calls *calls, struct error *error)
{
	struct error end_why = { "" };
	struct uftrace uftrace;
	int err = 0, end_err;

	if (!calls->is_host && run->options->binary)
		err = uftrace_symbols(calls->path, run->options->binary,
				      run->options->binary_name, error);
	if (!err)
		err = uftrace_open(calls->path, &uftrace, error);
	if (err)
		return err;
	if (begin_output(run))
		err = draw_functions(run, uftrace.json, calls, error);
	if (err == -EINVAL && trace_is_recording(calls->path))
		error_set(error, err, "%s: is a recording of the host, not function calls: give it "
			  "with -r", calls->path);
	end_err = uftrace_close(&uftrace, calls->path, err, &end_why);
	if (end_err && err == -EINVAL) { /* the failure is the cause of what is wrong there */
		const struct error bad = *error;

		return error_set(error, end_err, "%s: %s", end_why.text, bad.text);
	}
	if (end_err)
		*error = end_why;
	return end_err ? end_err : err;
}

/* The word is no GUEST=TRACE if there is a file with the whole word as its name. */
static void take_functions(struct timeline_run *run, const char *word, bool is_merged,
			   size_t *nr_unnamed)
{
	const char *equals = strchr(word, '=');
	bool has_guest = equals && equals > word && !path_exists(word);
	struct calls calls = {
		.path = has_guest ? equals + 1 : word,
		.guest = has_guest ? word : NULL,
		.guest_len = has_guest ? (size_t)(equals - word) : 0,
		.run = run,
		.is_host = is_merged && !has_guest,
	};
	struct error error = { "" };
	int err = find_guest(&calls, *nr_unnamed, &error);

	if (!err)
		err = open_functions(run, &calls, &error);
	if (err)
		fail(run, err, &error);
	*nr_unnamed += !is_merged && !has_guest;
}

static void take_all_functions(struct timeline_run *run)
{
	const struct options *options = run->options;
	size_t nr_unnamed = 0;

	for (size_t i = 0; i < options->nr_words && !run->is_unwritable; i++)
		take_functions(run, options->words[i], false, &nr_unnamed);
	for (size_t i = 0; i < options->nr_merged && !run->is_unwritable; i++)
		take_functions(run, options->merged[i], true, &nr_unnamed);
}

/* ---- counters ---- */

static void take_perf(struct timeline_run *run, const char *path)
{
	int64_t anchor_ns = run->out.clock.has_base ? -PERF_BEFORE_NS : 0;
	FILE *file = fopen(path, "re");
	struct error error = { "" };
	int err = file ? 0 : error_set(&error, -errno, "%s: %s", path, strerror(errno));

	if (!err && begin_output(run))
		err = timeline_perf(file, path, anchor_ns, &run->out, &error);
	if (file)
		fclose(file);
	if (err)
		fail(run, err, &error);
}

/* ---- all of it ---- */

static void write_end(struct timeline_run *run)
{
	const struct trace_info *info = run->trace ? trace_file(run->trace, 0) : NULL;
	struct error error = { "" };
	struct timeline_args metadata;
	char base[32];
	int err = out_settle(&run->out);

	if (err) {
		run->is_unwritable = true;
		error_set(&error, err, "what is drawn cannot be kept in a file: %s; set TMPDIR",
			  strerror(-err));
		fail(run, err, &error);
	}
	args_clear(&metadata);
	args_add_text(&metadata, "made-by", "kvmtop " KVMTOP_VERSION,
		      strlen("kvmtop " KVMTOP_VERSION));
	/* As text: a reader's numbers are doubles. */
	snprintf(base, sizeof(base), "%" PRId64, (int64_t)run->out.clock.base);
	args_add_text(&metadata, "base", base, strlen(base));
	args_add_text(&metadata, "base-unit", run->out.clock.hz ? "TSC" : "ns",
		      run->out.clock.hz ? 3 : 2);
	if (run->out.clock.hz) {
		snprintf(base, sizeof(base), "%.12g", (double)run->out.clock.hz / 1000);
		args_add_decimal(&metadata, "tsc-khz", base);
	}
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

static void draw_all(struct timeline_run *run)
{
	struct error error = { "" };
	int err = take_kvm(run, &error);

	if (err && !(run->out.file && out_has_failed(&run->out)))
		fail(run, err, &error);
	if (!err)
		take_all_functions(run);
	if (!err && !run->is_unwritable && run->options->perf)
		take_perf(run, run->options->perf);
	if (run->out.file)
		write_end(run);
}

/* If nothing could be drawn, an older picture in the output file stays. */
static void end_output(struct timeline_run *run)
{
	struct error error = { "" };
	int err;

	if (!run->out.file)
		return;
	if (run->is_unwritable || (run->status != STATUS_OK && run->out.nr_events == 0)) {
		whole_file_drop(&run->file);
		return;
	}
	err = whole_file_keep(&run->file);
	if (err) {
		error_set(&error, err, "%s: cannot be written: %s", run->options->output,
			  strerror(-err));
		fail(run, -EIO, &error);
	}
}

static int run_timeline(struct options *options)
{
	struct timeline_run run = {
		.options = options,
		.out.clock = { .hz = (uint64_t)llround(options->mhz * 1e6) },
		.has_guests = options->nr_words || options->nr_merged,
		.has_others = options->nr_words || options->nr_merged || options->perf,
	};

	draw_all(&run);
	end_output(&run);
	timeline_kvm_free(run.kvm);
	timeline_inside_release(&run.inside);
	trace_close(run.trace);
	return run.status;
}

static int understand(struct options *options, struct error *error)
{
	if (!options->nr_recordings && !options->perf && !options->nr_merged && !options->nr_words)
		return error_set(error, -EINVAL,
				 "nothing to draw: give -r FILE, --perf-stat FILE or a GUESTTRACE");
	if (options->binary && !options->nr_words)
		return error_set(error, -EINVAL,
				 "--binary needs a GUESTTRACE to write symbols into");
	if (!options->binary_name)
		options->binary_name = "test";
	if (!options->format)
		options->format = timeline_chrome.name;
	return 0;
}

const struct command timeline_command = {
	.name = "timeline",
	.help = "draw recordings as a picture for Perfetto",
	.usage = "Usage: kvmtop timeline [OPTION]... [GUESTTRACE]...\n"
		 "Makes one picture (a trace of Chrome's or Perfetto's, for ui.perfetto.dev) of\n"
		 "KVM's events, perf's counters, and the function calls that uftrace saw in\n"
		 "guests: GUESTTRACE is its folder, or what uftrace dump --chrome wrote.\n"
		 "GUEST=GUESTTRACE names the guest.\n",
	.footer = "More: man kvmtop-timeline\n",
	.command = { .works = MODE_TIMELINE, .offer = OFFER_FILES },
	.understand = understand,
	.run = run_timeline,
};
