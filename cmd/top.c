// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop` without a command: the screen, one batch, a log, or a list of fields or providers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/output.h"
#include "lib/say.h"
#include "cmd/command.h"
#include "cmd/complete.h"
#include "cmd/live.h"
#include "cmd/thresholds_file.h"
#include "cmd/providers.h"
#include "cmd/top.h"
#include "cmd/top_export.h"
#include "cmd/top_lines.h"
#include "cmd/top_options.h"
#include "cmd/top_read.h"
#include "cmd/top_write.h"
#include "cmd/demo/demo.h"
#include "host/env.h"
#include "history/past.h"
#include "history/recent.h"
#include "history/recorder.h"
#include "host/guest.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "core/metrics.h"
#include "ui/tui/tui.h"

#define BATCH_SECONDS 1.0 /* as kvm_stat's, even with -s */

struct top {
	struct top_options options;
	struct env env;
	struct monitor *monitor;
	struct query query;
	struct guest_choice choice; /* of -g and -p */
	struct thresholds thresholds;
	struct kallsyms_files kallsyms;
	struct top_lines lines;
	struct top_writer writer;
	pid_t demo;
	struct live live;
	void (*print_field)(const char *name);
};

/* ---- setting up ---- */

static int demo_begin(struct top *top, struct why *why)
{
	int err = monitor_find_guests(top->monitor, why);

	if (err || guests_count(monitor_facts(top->monitor)->guests))
		return err;
	err = demo_start(&demo_default, &top->demo, why);
	return err ? err : monitor_find_guests(top->monitor, why);
}

static int guest_init(struct top *top, struct why *why)
{
	const struct top_options *options = &top->options;
	int err;

	if (!options->guest && !options->pid)
		return 0;
	guest_choice_init(&top->choice, options->guest, options->pid);
	err = monitor_find_guests(top->monitor, why);
	if (!err)
		err = guest_choice_now(&top->choice, monitor_facts(top->monitor)->guests, why);
	top->query.guest = top->choice.id;
	return err;
}

/*
 * Exits are timed for the screen, where the user may choose any view, and for the views that show
 * times. -b without a filter, and without -d or --stats, has exits, too: otherwise a guest that
 * runs for less than a second would be missing.
 */
static bool wants_exits(const struct top *top)
{
	const struct top_options *options = &top->options;
	const struct query *query = &top->query;

	return top_options_mode(options) == MODE_CURSES || options->write_file ||
	       query->type->is_timed ||
	       (query->type->needs &&
		!(options->by_guest &&
		  (query->filter || options->debugfs || options->stats)));
}

/* Views of exits show the scheduler's numbers, too. */
static bool wants_host(const struct top *top)
{
	return wants_exits(top) && (top->query.type->has_host || top->options.write_file ||
				    top_options_mode(&top->options) == MODE_CURSES);
}

static unsigned int choose_providers(const struct top *top)
{
	const struct top_options *options = &top->options;
	bool has_events = top->query.type->has_events || options->write_file ||
			  top_options_mode(options) == MODE_CURSES;
	unsigned int providers = wants_exits(top) ? 1U << PROVIDER_EXITS : 0;

	if (options->debugfs && has_events)
		providers |= 1U << PROVIDER_DEBUGFS | 1U << PROVIDER_STATS;
	if (options->stats && (has_events || top->query.type->has_stats))
		providers |= 1U << PROVIDER_STATS;
	if (options->tracepoints && has_events)
		providers |= 1U << PROVIDER_TRACEPOINT;
	if (wants_host(top))
		providers |= 1U << PROVIDER_HOST;
	return providers;
}

static int monitor_begin(struct top *top, enum mode mode, struct why *why)
{
	const struct top_options *options = &top->options;
	struct monitor_config config = {
		.env = &top->env,
		.list = providers_of(&top->env),
		.providers = choose_providers(top),
		.asides = top->query.type->is_of_host ? 0 : 1U << PROVIDER_HOST,
		.waits = mode == MODE_CURSES,
		.counts_all = options->write_file || (mode == MODE_CURSES && options->past_bytes),
	};
	int err = monitor_open(&config, &top->monitor, why);

	if (!err && options->demo)
		err = demo_begin(top, why);
	if (!err)
		err = guest_init(top, why);
	if (!err && top->query.type->by_guest) /* the first sample needs the guests' threads open */
		monitor_find_guests(top->monitor, &(struct why){ "" });
	/* A list of fields counts nothing, and the screen draws its first frame before. */
	if (err || mode == MODE_FIELDS || mode == MODE_CURSES)
		return err;
	return monitor_want(top->monitor, &top->query, why);
}

/* ---- modes without a screen ---- */

static int list_providers(const struct top *top)
{
	const struct provider *const *list = providers_of(&top->env);

	for (size_t i = 0; list[i]; i++) {
		struct why why = { "" };
		int err = monitor_try(list[i], &top->env, &why);

		if (err && !why.text[0])
			why_set(&why, 0, "%s", strerror(-err));
		printf("%-12s %s\n%-12s %s%s%s\n", live_providers[i]->name,
		       live_providers[i]->help, "", err ? "not here" : "works here",
		       why.text[0] ? ": " : "", why.text);
	}
	return STATUS_OK;
}

static void print_guest(const struct guest *guest)
{
	printf("%7d %4zu  %s\n", (int)guest->pid, guest->nr_vcpus, guest->name);
}

/* Names the processes that may not be looked into and must be guests, and counts the others. */
static int say_denied(const struct top *top, const struct guests *guests)
{
	size_t nr_likely = 0, nr = 0;
	pid_t pid;

	for (; (pid = guests_denied_at(guests, nr)); nr++) {
		if (!guest_is_likely(&top->env, pid))
			continue;
		fputs(nr_likely++ ? "," : "kvmtop: no right to look into these guests:", stderr);
		fprintf(stderr, " %d (%s)", (int)pid, guest_name_find(&top->env, pid).name);
	}
	if (nr_likely)
		fputs(": root or CAP_SYS_PTRACE is needed\n", stderr);
	if (nr > nr_likely)
		fprintf(stderr, "kvmtop: no right to look into %zu %sprocess%s; none is "
				"named as a VMM\n",
			nr - nr_likely, nr_likely ? "other " : "",
			nr - nr_likely == 1 ? "" : "es");
	return nr_likely ? STATUS_FAILURE : STATUS_OK;
}

/* For people who look for a guest, and for the shell's completion: needs no provider. */
static int list_guests(const struct top *top, void (*print)(const struct guest *guest))
{
	struct guests *guests = guests_new(&top->env);
	const struct guest *guest;
	struct why why = { "" };
	int err = guests ? guests_refresh(guests, clock_now_ns(), &why) : -ENOMEM;
	int status = STATUS_OK;

	for (size_t i = 0; !err && (guest = guests_at(guests, i)); i++)
		print(guest);
	if (!err && print == print_guest)
		status = say_denied(top, guests);
	guests_free(guests);
	return err ? say_failure(err, &why) : status;
}

static int take_sample(struct top *top, uint64_t *ret_time_ns, struct why *why)
{
	int err = live_sample(&top->live, top->monitor, why);

	*ret_time_ns = clock_real_ns();
	return err ? err : top_writer_take(&top->writer, top->monitor, *ret_time_ns);
}

/*
 * Goes on with the guest that bears the name now. It is printed from the next sample on: what the
 * one before did last is in this one.
 */
static int follow_guest(struct top *top, struct why *why)
{
	const struct guests *guests = monitor_facts(top->monitor)->guests;
	const struct guest *guest = guest_choice_follow(&top->choice, guests);
	struct why news = { "" };
	uint64_t time_ns;
	int err;

	if (!guest)
		return 0;
	why_set(&news, 0, "%s is back as pid %d: counting anew", guest->name, (int)guest->pid);
	say(news.text);
	top->query.guest = guest->id;
	err = monitor_want(top->monitor, &top->query, why);
	if (err || !monitor_has_new_question(top->monitor))
		return err;
	live_wait_open(&top->live, top->monitor);
	return take_sample(top, &time_ns, why);
}

static int print_sample(struct top *top, struct why *why)
{
	uint64_t time_ns;
	int err = take_sample(top, &time_ns, why);

	if (err || !top->lines.lines)
		return err;
	live_begin_write(&top->live);
	err = top_lines_print(&top->lines, monitor_facts(top->monitor), time_ns, why);
	live_end_write(&top->live);
	return err == -EINTR ? 0 : err;
}

static int on_wake(void *arg, enum woken woken, struct why *why)
{
	struct top *top = arg;
	int err;

	if (woken == WOKEN_HANGUP && top->lines.lines) {
		/* An older log was renamed, or the log that is open goes on: the samples count. */
		(void)lines_reopen(top->lines.lines, why);
		say_notice(why);
		return 0;
	}
	if (woken != WOKEN_TICK)
		return 0;
	err = print_sample(top, why);
	return err ? err : follow_guest(top, why);
}

/* The first sample is not printed: there is nothing to compare it with. */
static int sample_loop(struct top *top, double interval_s, unsigned long samples, struct why *why)
{
	uint64_t time_ns;
	int err = take_sample(top, &time_ns, why);

	return err ? err : live_loop(&top->live, interval_s, samples, on_wake, top, why);
}

static int close_all(struct top *top, struct why *why)
{
	int err = top_lines_close(&top->lines, why), write_err;

	if (err == -EPIPE)
		err = 0;
	write_err = top_writer_close(&top->writer, err ? &(struct why){ "" } : why);
	return err ? err : write_err;
}

/* Batch is a log of one sample; writing a history alone is a log without lines. */
static int run_lines(struct top *top, enum mode mode)
{
	const struct top_options *options = &top->options;
	bool is_batch = mode == MODE_BATCH;
	struct why why = { "" };
	int err, close_err;

	say(monitor_no_exits(top->monitor));
	live_wait_open(&top->live, top->monitor);
	err = top_writer_open(&top->writer, options, &top->env, top->monitor,
			      &top->thresholds, &why);
	if (!err && mode != MODE_WRITE)
		err = top_lines_open(&top->lines, monitor_facts(top->monitor), &why);
	if (!err)
		say_notice(&why);
	if (!err)
		err = sample_loop(top, is_batch ? BATCH_SECONDS : options->delay_s,
				  is_batch ? 1 : options->samples, &why);
	if (err == -EPIPE)
		err = 0;
	close_err = close_all(top, err ? &(struct why){ "" } : &why);
	if (!err)
		err = close_err;
	return err ? say_failure(err, &why) : STATUS_OK;
}

/* What the screen remembers of earlier samples. */
struct memory {
	struct recent *recent;
	struct recorder *recorder;
	struct past *past;
};

static int memory_begin(struct memory *memory, const struct top *top)
{
	struct segment segment;
	struct sink sink;
	int err;

	if (!top->options.past_bytes)
		return 0;
	segment_of_machine(&top->env, monitor_engine(top->monitor), top->options.delay_s,
			   &segment);
	memory->recent = recent_new((size_t)top->options.past_bytes, &segment);
	if (!memory->recent)
		return -ENOMEM;
	sink = recent_sink(memory->recent);
	err = recorder_start(&sink, &memory->recorder);
	return err ? err : past_new(recent_store(memory->recent), monitor_fields(top->monitor),
				    &memory->past);
}

static void memory_end(struct memory *memory)
{
	past_free(memory->past);
	recorder_stop(memory->recorder);
	recent_free(memory->recent);
}

static int run_tui(struct top *top, const struct memory *memory, struct why *why)
{
	const struct tui_config config = {
		.monitor = top->monitor,
		.env = &top->env,
		.past = memory->past,
		.recorder = memory->recorder,
		.writer = top->writer.recorder,
		.fields = monitor_fields(top->monitor),
		.query = &top->query,
		.choice = &top->choice,
		.delay_s = top->options.delay_s,
		.samples = top->options.samples,
		.no_mouse = top->options.no_mouse,
		.signals = top->live.signals,
	};

	return tui_run(&config, why);
}

static int run_screen(struct top *top)
{
	struct memory memory = { 0 };
	struct why why = { "" };
	int err = top_writer_open(&top->writer, &top->options, &top->env, top->monitor,
				  &top->thresholds, &why);
	int close_err;

	if (!err)
		err = memory_begin(&memory, top);
	if (!err)
		err = run_tui(top, &memory, &why);
	memory_end(&memory);
	close_err = top_writer_close(&top->writer, err ? &(struct why){ "" } : &why);
	err = err ? err : close_err;
	return err ? say_failure(err, &why) : STATUS_OK;
}

static int run_mode(struct top *top, enum mode mode)
{
	struct why why = { "" };
	int err;

	err = live_init(&top->live, top->options.log_file || mode == MODE_WRITE,
			mode == MODE_CURSES);
	if (!err)
		err = monitor_begin(top, mode, &why);
	if (err)
		return say_failure(err, &why);
	switch (mode) {
	case MODE_FIELDS:
		err = top_list_fields(monitor_facts(top->monitor)->fields, top->print_field);
		return err ? say_failure(err, &why) : STATUS_OK;
	case MODE_BATCH:
	case MODE_LOG:
	case MODE_WRITE:
		return run_lines(top, mode);
	default:
		return run_screen(top);
	}
}

/* Names of events: the same as -f help lists. */
static int run_completion(struct top *top)
{
	struct completion completion;

	completion_find(top->options.words, top->options.nr_words, &completion);
	completion_print(&completion);
	if (env_init(&top->env, completion.sysroot, &(struct why){ "" }) < 0)
		return STATUS_FAILURE;
	switch (completion.offer) {
	case OFFER_GUESTS:
		return list_guests(top, completion_print_guest);
	case OFFER_PIDS:
		return list_guests(top, completion_print_pid);
	case OFFER_FIELDS:
	case OFFER_EVENTS:
		top->options.complete = false;
		top->options.fields = "help";
		top->print_field = completion.offer == OFFER_FIELDS ? completion_print_field :
								      completion_print_event;
		return run_mode(top, MODE_FIELDS);
	default:
		return STATUS_OK;
	}
}

/* No input is written to. */
static int check_outputs(const struct top_options *options, struct why *why)
{
	const char *const inputs[] = { options->read_file, options->thresholds,
				       options->http_config, options->web_config,
				       options->write_file };
	const struct {
		const char *option, *path;
		size_t nr_inputs; /* a log is not written into the history that is written */
	} outputs[] = {
		{ "-w", options->write_file, ARRAY_SIZE(inputs) - 1 },
		{ "-L", options->log_file, ARRAY_SIZE(inputs) },
		{ "--prometheus", options->prometheus, ARRAY_SIZE(inputs) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		if (output_find_input(outputs[i].path, inputs, outputs[i].nr_inputs))
			return why_set(why, -EINVAL, "%s %s: this file is an input; choose another "
				       "one", outputs[i].option, outputs[i].path);
	}
	return 0;
}

static int run_options(struct top *top)
{
	enum mode mode = top_options_mode(&top->options);
	struct why why = { "" };
	int err;

	if (mode == MODE_CURSES && top->options.write_file &&
	    !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		mode = MODE_WRITE;
	if (mode == MODE_HELP) {
		option_table_help(&top_option_table, stdout);
		puts("\nCommands, each with a --help of its own:");
		commands_help(stdout);
		return STATUS_OK;
	}
	if (mode == MODE_VERSION) {
		puts("kvmtop " KVMTOP_VERSION);
		return STATUS_OK;
	}
	if (mode == MODE_METRICS) {
		metrics_print_help(stdout);
		return STATUS_OK;
	}
	if (top_query_init(&top->options, &top->query, &why) < 0)
		return say_usage("", &why);
	if (mode == MODE_COMPLETE)
		return run_completion(top);
	err = check_outputs(&top->options, &why);
	if (err)
		return say_failure(err, &why);
	err = thresholds_load(top->options.thresholds, top->options.sysroot, &top->thresholds,
			      &why);
	if (!err)
		err = kallsyms_files_read(&top->options.kallsyms, &top->kallsyms, &top->query,
					  &why);
	if (err)
		return say_failure(err, &why);
	top->query.thresholds = &top->thresholds;
	if (top->options.read)
		return top_read(&top->options, &top->query);
	if (env_init(&top->env, top->options.sysroot, &why) < 0)
		return say_failure(-ENOENT, &why);
	top->env.include_past = top->options.include_past;
	top->env.engine = top->options.engine;
	if (mode == MODE_EXPORT)
		return top_export(&top->options, &top->env, &top->thresholds);
	if (mode == MODE_PROVIDERS)
		return list_providers(top);
	return mode == MODE_GUESTS ? list_guests(top, print_guest) : run_mode(top, mode);
}

int top_run(int argc, char **argv)
{
	struct top top = {
		.lines = { .options = &top.options, .query = &top.query },
		.live.signals = -1,
		.print_field = top_print_field,
	};
	struct why why = { "" };
	int status;

	if (top_options_parse(argc, argv, &top.options, &why) < 0)
		return say_usage("", &why);
	status = run_options(&top);
	if (top.demo)
		demo_stop(top.demo);
	return status;
}
