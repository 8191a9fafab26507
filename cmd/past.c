// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a history, a file or a Prometheus; shows its samples, or a span of time as one interval. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/process.h"
#include "lib/text.h"
#include "lib/when.h"
#include "cmd/top.h"
#include "history/past.h"
#include "history/interval.h"
#include "core/monitor.h"

#define KEY_PATIENCE_MS 500 /* how long a key waits for a Prometheus */
#define FOLLOW_S 1.0 /* between two looks for a new sample, or sooner if samples come sooner */
#define CATCH_UP 64 /* samples are printed between two looks for a signal */

struct past_run {
	struct run run; /* the first member; its monitor is the source's, or the span's */
	struct past *past; /* the source's */
	struct interval *interval;
	struct monitor *span; /* plays the interval, or moments of a recording */
	struct when_origin origin; /* the last sample of the file */
	uint64_t from_ns, to_ns;
	bool goes_on; /* the sample follows the one that was printed last */
	bool has_warned;
	unsigned long nr_printed;
	char head[HEAD_SIZE]; /* above the text of -1: which time it is of */
	struct error outage; /* why the samples that come next are late; "": they are not */
};

/* ---- setting up ---- */

static int begin_at_latest(struct run *run, struct error *error)
{
	struct past_run *reader = (struct past_run *)run;
	bool is_recording = run->source->kind == SOURCE_RECORDING;
	int err = is_recording ? source_play_moments(run->source, &reader->span, error) : 0;

	if (err)
		return err;
	run->monitor = is_recording ? reader->span : run->source->monitor;
	reader->past = run->source->past;
	reader->origin.now_ns = past_at(reader->past)->time_ns;
	reader->origin.shown_ns = reader->origin.now_ns;
	return 0;
}

/* Says once that another guest has the name from this moment on. */
static void say_follows(const struct past_run *reader, const struct guest *guest)
{
	char at[WHEN_SIZE];
	struct error news;

	source_name_time(reader->run.source, at, sizeof(at), past_at(reader->past)->time_ns,
			 reader->origin.now_ns);
	error_set(&news, 0, "%s is back as pid %d at %s", guest->name, (int)guest->pid, at);
	say(news.text);
}

/* Call it when the moment's inventory is loaded. */
static int choose_guest(struct past_run *reader, struct error *error)
{
	const struct guests *guests = past_guests(reader->past);
	struct query *query = &reader->run.query;
	int err;

	if (!reader->run.options->guest && !reader->run.options->pid)
		return 0;
	err = guests_advise(guest_choice_then(&reader->run.choice, guests, error), error,
			    "use -p PID");
	if (err || reader->run.choice.id == query->guest)
		return err;
	if (query->guest != GUEST_ALL)
		say_follows(reader, guests_find(guests, reader->run.choice.id));
	query->guest = reader->run.choice.id;
	reader->goes_on = false;
	return 0;
}

static void say_no_exits(struct past_run *reader)
{
	if (reader->run.source->kind == SOURCE_RECORDING) /* it has all its fields from the start */
		return;
	if (monitor_no_exits(reader->run.monitor))
		query_without_times(reader->run.options, &reader->run.query);
	if (monitor_no_exits(reader->run.monitor) && reader->run.query.type->is_timed)
		say(monitor_no_exits(reader->run.monitor));
}

/* The zone where the time does not end with it: " CET". */
static void name_zone(const struct source *source, uint64_t time_ns, char *buf)
{
	buf[0] = '\0';
	if (source->recording.start_ns || when_is_twice(time_ns))
		return;
	buf[0] = ' ';
	when_format_zone(buf + 1, WHEN_SIZE - 1, time_ns);
}

/* "2026-11-21 10:30:00 to 10:31:00 CET, 60.0 s"; "00:30:00 CEST to 04:00:00 CET, ..." */
static void name_span(const struct past_run *reader, uint64_t from_ns, uint64_t to_ns,
		      uint64_t elapsed_ns, char *head)
{
	const struct source *source = reader->run.source;
	char from[WHEN_SIZE], to[WHEN_SIZE], zone[WHEN_SIZE], other[WHEN_SIZE];

	source_name_time(source, from, sizeof(from), from_ns, 0);
	source_name_time(source, to, sizeof(to), to_ns, from_ns);
	name_zone(source, from_ns, other);
	name_zone(source, to_ns, zone);
	snprintf(head, HEAD_SIZE, "%s%s to %s%s, %.1f s", from,
		 strcmp(other, zone) != 0 ? other : "", to, zone, (double)elapsed_ns / 1e9);
}

/* ---- printing ---- */

/* Events are of the whole host, unless a guest was chosen when they were counted. */
static void warn_not_counted(struct past_run *reader)
{
	const struct query *query = &reader->run.query;
	const struct facts *facts = monitor_facts(reader->run.monitor);
	bool is_of_guest = query->guest != GUEST_ALL && !query->type->by_guest;

	if (reader->has_warned || !is_of_guest || query_lacks(query, facts) ||
	    query_is_counted(query, facts))
		return;
	say("the events of this guest alone were not recorded; --view exits has its exits");
	reader->has_warned = true;
}

/* Prints the sample that is played, which was taken at time_ns. */
static int print_sample(struct past_run *reader, uint64_t time_ns, struct error *error)
{
	int err = 0;

	if (reader->goes_on)
		monitor_go_on(reader->run.monitor);
	else
		err = monitor_want(reader->run.monitor, &reader->run.query, error);
	reader->goes_on = false;
	if (!err)
		err = run_sample(&reader->run, error);
	if (!err) {
		source_choose_long(reader->run.source, &reader->run.query, time_ns,
				   monitor_elapsed_ns(reader->run.monitor));
		warn_not_counted(reader);
		if (reader->head[0] && !reader->run.options->csv && !reader->run.options->json)
			printf("%s\n\n", reader->head);
		err = run_print(&reader->run, time_ns, error);
	}
	reader->nr_printed++;
	return err;
}

static int print_chosen(struct past_run *reader, struct error *error)
{
	return print_sample(reader, past_at(reader->past)->time_ns, error);
}

static int none_there(const struct past_run *reader, struct error *error)
{
	char first[WHEN_SIZE], last[WHEN_SIZE];

	if (past_go(reader->past, 0, &(struct error){ "" }) < 0)
		return error_set(error, -ENOENT, "%s: there is no sample in it yet: kvmtop -w "
				 "FILE adds them", reader->run.source->name);
	source_name_time(reader->run.source, first, sizeof(first),
			 past_at(reader->past)->time_ns, 0);
	source_name_time(reader->run.source, last, sizeof(last), reader->origin.now_ns, 0);
	return error_set(error, -ENOENT,
			 "%s: no sample was taken in that time: it has samples from "
			 "%s to %s",
			 reader->run.source->name, first, last);
}

static bool is_in_time(const struct past_run *reader)
{
	uint64_t time_ns = past_at(reader->past)->time_ns;

	return time_ns > reader->from_ns && time_ns <= reader->to_ns;
}

/* The last error counts: the guest may be in a later inventory. */
static int print_all(struct past_run *reader, struct error *error)
{
	unsigned long most = reader->run.options->samples;
	struct error no_guest = { "" };
	uint64_t last_id = 0;
	int err = past_go_first(reader->past, reader->from_ns, reader->to_ns, &last_id, error);

	while (!err && (last_id < UINT64_MAX ? past_at(reader->past)->id <= last_id :
						is_in_time(reader)) &&
	       (!most || reader->nr_printed < most)) {
		bool is_wanted = is_in_time(reader);

		/* As in a live log, a first sample has nothing to be compared with. */
		if (is_wanted && past_at(reader->past)->elapsed_ns &&
		    choose_guest(reader, &no_guest) == 0)
			err = print_chosen(reader, error);
		if (!err)
			err = past_go_on(reader->past, error);
		reader->goes_on = err == 0 && is_wanted;
		err = err < 0 ? err : 0;
	}
	if (err && err != -ENOENT)
		return err;
	if (!reader->nr_printed && no_guest.text[0])
		return error_set(error, -ENOENT, "%s", no_guest.text);
	return reader->nr_printed ? 0 : none_there(reader, error);
}

/* Says once that the server does not answer, and why; the samples are printed when it does. */
static void wait_for_server(struct past_run *reader, int err, struct error *error)
{
	if (err == -EAGAIN) /* it may only be slow */
		err = past_check(reader->past, error);
	if (err && err != -ENOENT && !reader->outage.text[0]) {
		say(error->text);
		reader->outage = *error;
	}
	error->text[0] = '\0';
}

static void end_outage(struct past_run *reader)
{
	if (reader->outage.text[0])
		fprintf(stderr, "kvmtop: %s answers again: samples since then follow\n",
			reader->run.source->name);
	reader->outage.text[0] = '\0';
}

/* Prints all samples that are new: none is left out. */
static int on_wake(struct run *run, enum woken woken, struct error *error)
{
	struct past_run *reader = (struct past_run *)run;
	unsigned long most = reader->run.options->samples;
	int err = 0;

	for (int i = 0; woken == WOKEN_TICK && !err && i < CATCH_UP; i++) {
		err = past_go_on(reader->past, error);
		if (err < 0) {
			wait_for_server(reader, err, error);
			return 0;
		}
		end_outage(reader);
		reader->goes_on = err == 0;
		err = choose_guest(reader, error);
		if (!err)
			err = print_chosen(reader, error);
		if (!err && most && reader->nr_printed >= most)
			return 1;
	}
	return err;
}

/* Follows a server that goes on to collect: prints samples as they come, as a live log does. */
static int follow(struct past_run *reader, struct error *error)
{
	double interval_s = past_segment(reader->past)->interval_s;
	int err = run_signals(&reader->run, false, false);

	source_be_patient(reader->run.source, KEY_PATIENCE_MS);
	if (!err)
		err = choose_guest(reader, error);
	if (!err)
		err = print_chosen(reader, error);
	if (err || reader->run.options->samples == 1)
		return err;
	return run_loop(&reader->run, interval_s < FOLLOW_S ? interval_s : FOLLOW_S, 0, on_wake,
			error);
}

/*
 * Goes to the sample of one time, which must not be before the first one or after the last. In a
 * gap it is the one before, and a message says so. (The screen shows the nearest one, and its
 * time.)
 */
static int go_to(struct past_run *reader, uint64_t time_ns, struct error *error)
{
	const uint64_t gap_ns = (uint64_t)(past_segment(reader->past)->interval_s * 1e9);
	int err = past_go_to(reader->past, time_ns, error);
	const struct stored *at = past_at(reader->past);
	char text[WHEN_SIZE];

	if (err == -ENOENT ||
	    (!err && (time_ns < at->time_ns - at->elapsed_ns ||
		      time_ns > reader->origin.now_ns + gap_ns)))
		return none_there(reader, error);
	if (!err && time_ns > at->time_ns + gap_ns) {
		source_name_time(reader->run.source, text, sizeof(text), at->time_ns, time_ns);
		fprintf(stderr, "kvmtop: %s: no sample was taken then; this one is of %s\n",
			reader->run.source->name, text);
	}
	return err;
}

/* Prints the sample of one time, or the latest. */
static int print_one(struct past_run *reader, struct error *error)
{
	const struct stored *at;
	int err = 0;

	/* The first sample of a run has no interval: the one after it has, if there is one. */
	if (!past_at(reader->past)->elapsed_ns)
		err = past_step(reader->past, false, error);
	if (!err || err == -ENOENT)
		err = choose_guest(reader, error);
	if (err)
		return err;
	at = past_at(reader->past);
	name_span(reader, at->time_ns - at->elapsed_ns, at->time_ns, at->elapsed_ns, reader->head);
	return print_chosen(reader, error);
}

/* ---- the screen ---- */

/* at_ns: what is shown first, UINT64_MAX the latest. */
static int show_screen(struct past_run *reader, uint64_t at_ns, struct error *error)
{
	const struct tui_config config = {
		.at_ns = at_ns,
		.choice = &reader->run.choice,
		.delay_s = past_segment(reader->past)->interval_s,
		.host = reader->run.options->host,
	};
	int err = run_signals(&reader->run, false, true);

	source_be_patient(reader->run.source, KEY_PATIENCE_MS);
	if (!err)
		err = choose_guest(reader, error);
	return err ? err : run_tui(&reader->run, &config, error);
}

static int show_past(struct past_run *reader, struct error *error)
{
	const struct options *options = reader->run.options;
	uint64_t at_ns = UINT64_MAX;
	int err = 0;

	say_no_exits(reader);
	if (options->at)
		err = when_parse(options->at, &reader->origin, &at_ns, error);
	if (!err && options->at && options->mode == MODE_ONCE)
		err = go_to(reader, at_ns, error);
	if (err)
		return err;
	if (options->mode == MODE_FIELDS) {
		list_fields(monitor_facts(reader->run.monitor)->fields, list_field);
		return 0;
	}
	if (options->mode == MODE_ONCE)
		return print_one(reader, error);
	if (options->mode == MODE_SCREEN)
		return show_screen(reader, at_ns, error);
	return reader->run.source->kind == SOURCE_PROMETHEUS && !options->from && !options->to ?
		       follow(reader, error) :
		       print_all(reader, error);
}

static struct lines_span about_interval(const struct interval *interval)
{
	return (struct lines_span){
		.from_ns = interval_first(interval)->time_ns -
			   interval_first(interval)->elapsed_ns,
		.to_ns = interval_last(interval)->time_ns,
		.elapsed_ns = interval_elapsed_ns(interval),
	};
}

static int print_span(struct past_run *reader, struct error *error)
{
	struct lines_span about;
	const struct source *source = reader->run.source;
	struct monitor_config config = { .list = history_players, .source = source->kind };
	int err;

	reader->interval = interval_new(source->store, source_fields(source));
	err = interval_read(reader->interval, reader->from_ns, reader->to_ns, error);
	if (err)
		return err == -ENOENT ? none_there(reader, error) : err;
	err = query_of_span(reader->run.options, interval_guests(reader->interval),
			    &reader->run.query, &reader->run.parts, error);
	if (err)
		return err;
	config.recording = (struct monitor_recording){
		.recording = &reader->interval,
		.guests = interval_guests(reader->interval),
		.fields = interval_fields(reader->interval),
		.long_exits = source_reading(source) ? &source_reading(source)->long_exits : NULL,
	};
	monitor_close(reader->span);
	reader->span = NULL;
	err = monitor_open(&config, &reader->span, error);
	if (err)
		return err;
	reader->run.monitor = reader->span;
	say_no_exits(reader);
	about = about_interval(reader->interval);
	name_span(reader, about.from_ns, about.to_ns, about.elapsed_ns, reader->head);
	return print_sample(reader, interval_last(reader->interval)->time_ns, error);
}

/* ---- two spans side by side ---- */

static int read_span(struct past_run *reader, struct history_span *span, uint64_t from_ns,
		     uint64_t to_ns, struct query_parts *parts, struct lines_span *ret_about,
		     char *head, struct error *error)
{
	const struct source *source = reader->run.source;
	int err;

	span->query = reader->run.query;
	span->query.groups = span_groups(span->query.type);
	err = span_read(span, source->store, source_fields(source), from_ns, to_ns, error);
	if (err)
		return err == -ENOENT && !error->text[0] ? none_there(reader, error) : err;
	*ret_about = about_interval(span->interval);
	name_span(reader, ret_about->from_ns, ret_about->to_ns, ret_about->elapsed_ns, head);
	return query_of_span(reader->run.options, interval_guests(span->interval), &span->query,
			     parts, error);
}

static int write_spans(struct past_run *reader, struct history_span spans[2],
		       const struct lines_span abouts[2], struct error *error)
{
	struct run *run = &reader->run;
	int err = spans_diff(spans, &run->view, error);

	if (err)
		return err;
	if (run->query.filter && !run->view.nr_rows)
		fprintf(stderr, "kvmtop: no exit in these spans matches \"%s\"\n",
			pattern_text(run->query.filter));
	run_lines_plain(run);
	run->lines.config.side[0].span = &abouts[1];
	run->lines.config.side[1].span = &abouts[0];
	run_note(run, view_remark(&run->view));
	return run_write(run, &run->view, 0, abouts[1].elapsed_ns, error);
}

/* From the span of --diff to the one of --from and --to. */
static int print_diff(struct past_run *reader, struct error *error)
{
	struct history_span spans[2] = { { .interval = NULL }, { .interval = NULL } };
	struct query_parts parts[2] = { { .only = NULL }, { .only = NULL } };
	struct lines_span abouts[2];
	uint64_t from_ns[2] = { 0, reader->from_ns }, to_ns[2] = { 0, reader->to_ns };
	int err = when_parse_range(reader->run.options->other, &reader->origin, &from_ns[0],
				   &to_ns[0], error);

	for (int i = 0; i < 2 && !err; i++)
		err = read_span(reader, &spans[i], from_ns[i], to_ns[i], &parts[i], &abouts[i],
				reader->run.lines.heads[i], error);
	if (!err)
		err = write_spans(reader, spans, abouts, error);
	for (int i = 0; i < 2; i++) {
		span_release(&spans[i]);
		query_parts_release(&parts[i]);
	}
	return err;
}

static int show_or_print(struct past_run *reader, struct error *error)
{
	const struct options *options = reader->run.options;
	const struct run_plan plan = {
		.source = {
			/* The user may look at more than the view, as on a live screen. */
			.monitor.counts_all = options->mode == MODE_SCREEN,
			.recording = {
				.longer_ns = LONG_EXITS_DEFAULT_NS,
				.arguments = PAIRING_ALL_ARGUMENTS,
				.has_moments = true,
			},
		},
		.wants_later = true,
		.choose = begin_at_latest,
	};
	int err = run_open(&reader->run, &plan, error);

	if (!err)
		err = when_parse_span(options->from, options->to, &reader->origin,
				      &reader->from_ns, &reader->to_ns, error);
	if (err)
		return err;
	if (options->mode == MODE_DIFF)
		return print_diff(reader, error);
	if (options->mode == MODE_ONCE && (options->from || options->to))
		return print_span(reader, error);
	return show_past(reader, error);
}

/*
 * A file that could not be read to its end is a failure, although what could be read was shown. A
 * server that does not answer may do so later. The monitor's notices were printed with the lines.
 */
static int file_status(const struct past_run *reader)
{
	const struct source *source = reader->run.source;
	const struct source_reading *reading = source ? source_reading(source) : NULL;
	const char *failure = source ? source_failure(source) : NULL;
	unsigned int mode = reader->run.options->mode;

	if (failure && (mode == MODE_SCREEN || mode == MODE_FIELDS))
		say(failure);
	if (reading)
		return report_problems(&reading->recording);
	return failure ? STATUS_FAILURE : STATUS_OK;
}

int past_run(const struct options *options)
{
	struct past_run reader = { .run = RUN_INIT(options) };
	struct error error = { "" };
	int err, status;

	if (query_of_options(options, &reader.run.query, &reader.run.parts, &error) < 0)
		return say_usage("", &error);
	guest_choice_init(&reader.run.choice, options->guest, options->pid);
	err = show_or_print(&reader, &error);
	err = run_lines_close(&reader.run, err, &error);
	if (err == -ERANGE) /* a usage error: the times that were given */
		status = say_usage("", &error);
	else
		status = err && err != -EPIPE ? say_failure(err, &error) : file_status(&reader);
	monitor_close(reader.span);
	interval_free(reader.interval);
	run_close(&reader.run);
	return status;
}
