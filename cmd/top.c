// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop` without a command: the screen, one batch, a log, or a list of fields or providers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/output.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "cmd/command.h"
#include "cmd/top.h"
#include "host/env.h"
#include "history/recorder.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "core/views/view.h"

#define PAST_BYTES ((size_t)4 << 20) /* the screen's memory for its past */

struct top {
	struct run run; /* the first member */
	struct writer writer;
};

/* ---- setting up ---- */

/*
 * Exits are timed for the screen, where the user may choose any view, and for the views that show
 * times. -b without a filter has exits, too: otherwise a guest that runs for less than a second
 * would be missing.
 */
static bool wants_exits(const struct top *top)
{
	const struct options *options = top->run.options;
	const struct query *query = &top->run.query;

	return options->mode == MODE_SCREEN || options->write_file ||
	       query->type->is_timed ||
	       (query->type->needs && !(options->by_guest && query->filter));
}

/* Views of exits show the scheduler's numbers, too. */
static bool wants_host(const struct top *top)
{
	return wants_exits(top) && (top->run.query.type->has_host || top->run.options->write_file ||
				    top->run.options->mode == MODE_SCREEN);
}

/* Whether what who.c of the providers measures is all that the view has. */
static bool is_of_who(const struct top *top)
{
	return top->run.query.type == &view_who || top->run.query.type == &view_interrupts;
}

/* A history of these alone would hide that nothing else can be counted, or not yet. */
static bool keeps_who(const struct top *top)
{
	return top->run.options->keeps & (1U << KEEP_WHO | 1U << KEEP_INTERRUPTS);
}

static unsigned int choose_providers(const struct top *top)
{
	const struct options *options = top->run.options;
	bool has_events = top->run.query.type->has_events || options->write_file ||
			  options->mode == MODE_SCREEN;
	unsigned int providers = wants_exits(top) ? 1U << PROVIDER_EXITS : 0;

	if (options->debugfs && (has_events || top->run.query.type == &view_vcpus))
		providers |= PROVIDERS_STATISTICS;
	if (has_events)
		providers |= 1U << PROVIDER_TRACEPOINT;
	if (wants_host(top))
		providers |= 1U << PROVIDER_HOST | 1U << PROVIDER_COST;
	if (options->mode == MODE_SCREEN || is_of_who(top) || keeps_who(top) ||
	    top->run.query.type == &view_why)
		providers |= 1U << PROVIDER_WHO;
	return providers;
}

static int top_choose(struct run *run, struct error *error)
{
	if (monitor_no_exits(run->monitor))
		query_without_times(run->options, &run->query);
	return run_choose(run, error);
}

/* A list of fields counts nothing, and the screen draws its first frame before it counts. */
static int top_begin(struct top *top, struct error *error)
{
	const struct options *options = top->run.options;
	bool is_screen = options->mode == MODE_SCREEN;
	const struct run_plan plan = {
		.source = {
			.monitor = {
				.providers = choose_providers(top),
				.asides = 1U << PROVIDER_COST |
					  (top->run.query.type == &view_host ?
						   0 : 1U << PROVIDER_HOST) |
					  (is_of_who(top) ? 0 : 1U << PROVIDER_WHO),
				.asked = keeps_who(top) ? 1U << PROVIDER_WHO : 0,
				.waits = is_screen,
				.counts_all = options->write_file || is_screen,
				.keeps = options->keeps,
			},
			.may_lack_events = !options->tracepoints,
			.past_bytes = is_screen ? PAST_BYTES : 0,
		},
		.wants_later = options->mode == MODE_FIELDS || is_screen,
		.choose = top_choose,
	};
	int err = run_signals(&top->run, options->output || options->mode == MODE_WRITE, is_screen);

	return err ? err : run_open(&top->run, &plan, error);
}

/* ---- modes without a screen ---- */

static int take_sample(struct top *top, uint64_t *ret_time_ns, struct error *error)
{
	int err = run_sample(&top->run, error);

	*ret_time_ns = clock_real_ns();
	if (!err)
		writer_take(&top->writer, top->run.monitor, *ret_time_ns);
	return err;
}

/*
 * Goes on with the guest that has the name now, where that begins to count anew. It is printed from
 * the next sample on: this sample has the last counts of the guest before it.
 */
static int follow_guest(struct top *top, struct error *error)
{
	const struct guests *guests = monitor_facts(top->run.monitor)->guests;
	const struct guest *guest = NULL;
	struct error news = { "" };
	uint64_t time_ns;
	int err;

	if (top->run.query.is_by_name && run_begins_anew(&top->run))
		guest = guest_choice_follow(&top->run.choice, guests);
	if (!guest)
		return 0;
	error_set(&news, 0, "%s is back as pid %d: counting anew", guest->name, (int)guest->pid);
	say(news.text);
	top->run.query.guest = guest->id;
	err = monitor_want(top->run.monitor, &top->run.query, error);
	if (err || !monitor_has_new_counts(top->run.monitor))
		return err;
	run_wait_open(&top->run);
	return take_sample(top, &time_ns, error);
}

static int on_wake(struct run *run, enum woken woken, struct error *error)
{
	struct top *top = (struct top *)run;
	uint64_t time_ns;
	int err;

	if (woken == WOKEN_HANGUP && run->lines.lines) {
		/* If that fails, the log that is open goes on: the samples count. */
		run_begin_write(run);
		(void)lines_reopen(run->lines.lines, error);
		run_end_write(run);
		say_notice(error);
		return 0;
	}
	if (woken != WOKEN_TICK)
		return 0;
	err = take_sample(top, &time_ns, error);
	if (!err && run->lines.lines)
		err = run_print(run, time_ns, error);
	return err ? err : follow_guest(top, error);
}

static int close_all(struct top *top, int err, struct error *error)
{
	int close_err;

	err = run_lines_close(&top->run, err == -EPIPE ? 0 : err, error);
	if (err == -EPIPE)
		err = 0;
	close_err = writer_close(&top->writer, err ? &(struct error){ "" } : error);
	return err ? err : close_err;
}

/*
 * Batch is a log of one sample; writing a history alone is a log without lines. The first sample is
 * not printed: there is nothing to compare it with.
 */
static int run_lines(struct top *top)
{
	const struct options *options = top->run.options;
	bool is_batch = options->mode == MODE_ONCE;
	struct error error = { "" };
	uint64_t time_ns;
	int err;

	say(monitor_no_exits(top->run.monitor));
	run_wait_open(&top->run);
	err = writer_open(&top->writer, &top->run, &error);
	run_lines_top(&top->run);
	if (!err && options->mode != MODE_WRITE)
		err = run_lines_open(&top->run, &error);
	if (!err)
		err = take_sample(top, &time_ns, &error);
	if (!err)
		err = run_loop(&top->run, options->interval_s, is_batch ? 1 : options->samples,
			       on_wake, &error);
	err = close_all(top, err, &error);
	return err ? say_failure(err, &error) : STATUS_OK;
}

static int run_screen(struct top *top)
{
	struct error error = { "" };
	int err = writer_open(&top->writer, &top->run, &error);
	const struct tui_config config = {
		.writer = top->writer.recorder,
		.choice = &top->run.choice,
		.delay_s = top->run.options->interval_s,
		.samples = top->run.options->samples,
	};

	if (!err)
		err = run_tui(&top->run, &config, &error);
	err = close_all(top, err, &error);
	return err ? say_failure(err, &error) : STATUS_OK;
}

/* Names of events: the same as -f help lists. */
static int run_completion(struct top *top, struct options *options)
{
	struct completion completion;
	struct error error = { "" };
	struct env env;

	completion_find(options->words, options->nr_words, &completion);
	completion_print(&completion);
	options->sysroot = completion.sysroot;
	if (env_init(&env, options->sysroot, &error) < 0)
		return STATUS_FAILURE;
	switch (completion.offer) {
	case OFFER_GUESTS:
		return list_guests(&env, list_guest_name);
	case OFFER_PIDS:
		return list_guests(&env, list_guest_pid);
	case OFFER_FIELDS:
	case OFFER_EVENTS:
		options->mode = MODE_FIELDS;
		query_of_options(options, &top->run.query, &top->run.parts, &error);
		if (top_begin(top, &error) < 0)
			return STATUS_FAILURE;
		list_fields(monitor_facts(top->run.monitor)->fields,
			    completion.offer == OFFER_FIELDS ? list_field_pattern : list_event);
		return STATUS_OK;
	default:
		return STATUS_OK;
	}
}

/* A recording without --at, --from and --to: a table, or the screen, as of kvmtop report. */
static bool is_whole_recording(const struct options *options)
{
	return options->source == FROM_RECORDING && options->mode & (MODE_SCREEN | MODE_ONCE) &&
	       !options->at && !options->from && !options->to;
}

static int understand(struct options *options, struct error *error)
{
	char names[128];

	/* Several recordings are read as one. */
	if (options->nr_words && !(options->mode & (MODE_COMPLETE | MODE_VERSION)) &&
	    options->source != FROM_RECORDING) {
		if (options->read)
			return error_set(error, -EINVAL, "unexpected argument \"%s\": -r names one "
					 "source; only recordings can be several",
					 options->words[0]);
		command_names(names, sizeof(names));
		return error_set(error, -EINVAL,
				 "unexpected argument \"%s\"; a command is the first word: %s",
				 options->words[0], names);
	}
	if (!is_whole_recording(options))
		return 0;
	options->text = options->mode != MODE_SCREEN;
	return report_understand(options, error);
}

/* Modes without a monitor, or with another one than a machine's. */
static int run_without(const struct options *options)
{
	const struct provider_options chosen = { .engine = options->engine };
	struct env env;
	struct error error = { "" };

	if (options->schema) {
		lines_print_schema(stdout);
		return STATUS_OK;
	}
	if (options->mode == MODE_VERSION) {
		puts("kvmtop " KVMTOP_VERSION);
		return STATUS_OK;
	}
	if (options->source & FROM_PAST)
		return is_whole_recording(options) ? report_run(options) : past_run(options);
	if (env_init(&env, options->sysroot, &error) < 0)
		return say_failure(-ENOENT, &error);
	return options->mode == MODE_PROVIDERS ? list_providers(&env, &chosen) :
						 list_guests(&env, list_guest_line);
}

static int run_top(struct options *options)
{
	bool is_counting = options->source & FROM_NOW &&
			   !(options->mode & (MODE_VERSION | MODE_PROVIDERS | MODE_GUESTS));
	struct top top = { .run = RUN_INIT(options) };
	struct error error = { "" };
	int err, status = STATUS_OK;

	if (options->mode == MODE_COMPLETE)
		return run_completion(&top, options);
	if (!is_counting)
		return run_without(options);
	if (query_of_options(options, &top.run.query, &top.run.parts, &error) < 0)
		return say_usage("", &error);
	err = top_begin(&top, &error);
	if (err)
		status = say_failure(err, &error);
	else if (options->mode == MODE_SCREEN)
		status = run_screen(&top);
	else if (options->mode != MODE_FIELDS)
		status = run_lines(&top);
	else
		list_fields(monitor_facts(top.run.monitor)->fields, list_field);
	run_close(&top.run);
	return status;
}

const struct command top_command = {
	.name = "",
	.usage = "Usage: kvmtop [OPTION]...\n"
		 "       kvmtop COMMAND [OPTION]...\n"
		 "Monitors VM exits and vCPU time of the KVM guests on this host: which guest,\n"
		 "which vCPU, which exits, how often, how long, and for which port or address.\n",
	.footer = "Keys: press h. Manual: man kvmtop\n"
		  "Exit status: 0 done, 1 failure, 2 wrong usage.\n",
	.command = { .works = MODES_TOP },
	.understand = understand,
	.run = run_top,
};
