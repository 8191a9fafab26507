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
#include "cmd/top_lines.h"
#include "cmd/options.h"
#include "cmd/report.h"
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
#include "ui/tui/tui.h"

#define PAST_BYTES ((size_t)4 << 20) /* the screen's memory for its past */
#define BATCH_SECONDS 1.0 /* as kvm_stat's, even with -s */

struct top {
	const struct options *options;
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
	const struct options *options = top->options;
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
 * times. -b without a filter, and without -d, has exits, too: otherwise a guest that
 * runs for less than a second would be missing.
 */
static bool wants_exits(const struct top *top)
{
	const struct options *options = top->options;
	const struct query *query = &top->query;

	return options->mode == MODE_SCREEN || options->write_file ||
	       query->type->is_timed ||
	       (query->type->needs &&
		!(options->by_guest &&
		  (query->filter || options->debugfs)));
}

/* Views of exits show the scheduler's numbers, too. */
static bool wants_host(const struct top *top)
{
	return wants_exits(top) && (top->query.type->has_host || top->options->write_file ||
				    top->options->mode == MODE_SCREEN);
}

static unsigned int choose_providers(const struct top *top)
{
	const struct options *options = top->options;
	bool has_events = top->query.type->has_events || options->write_file ||
			  options->mode == MODE_SCREEN;
	unsigned int providers = wants_exits(top) ? 1U << PROVIDER_EXITS : 0;

	if (options->debugfs && (has_events || top->query.type->has_stats))
		providers |= 1U << PROVIDER_DEBUGFS | 1U << PROVIDER_STATS;
	if ((options->tracepoints || !options->debugfs) && has_events)
		providers |= 1U << PROVIDER_TRACEPOINT;
	if (wants_host(top))
		providers |= 1U << PROVIDER_HOST;
	return providers;
}

static int monitor_begin(struct top *top, struct why *why)
{
	const struct options *options = top->options;
	unsigned int mode = options->mode;
	struct monitor_config config = {
		.env = &top->env,
		.list = providers_of(&top->env),
		.providers = choose_providers(top),
		.asides = top->query.type->is_of_host ? 0 : 1U << PROVIDER_HOST,
		.waits = mode == MODE_SCREEN,
		.counts_all = options->write_file || mode == MODE_SCREEN,
	};
	int err = monitor_open(&config, &top->monitor, why);

	if (!err && monitor_no_exits(top->monitor))
		top_query_without_times(options, &top->query);
	if (!err && options->demo)
		err = demo_begin(top, why);
	if (!err)
		err = guest_init(top, why);
	if (!err && top->query.type->by_guest) /* the first sample needs the guests' threads open */
		monitor_find_guests(top->monitor, &(struct why){ "" });
	/* A list of fields counts nothing, and the screen draws its first frame before. */
	if (err || mode == MODE_FIELDS || mode == MODE_SCREEN)
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
static int run_lines(struct top *top)
{
	const struct options *options = top->options;
	bool is_batch = options->mode == MODE_ONCE;
	struct why why = { "" };
	int err, close_err;

	say(monitor_no_exits(top->monitor));
	live_wait_open(&top->live, top->monitor);
	err = top_writer_open(&top->writer, options, &top->env, top->monitor,
			      &top->thresholds, &why);
	if (!err && options->mode != MODE_WRITE)
		err = top_lines_open(&top->lines, monitor_facts(top->monitor), &why);
	if (!err)
		say_notice(&why);
	if (!err)
		err = sample_loop(top, is_batch ? BATCH_SECONDS : options->interval_s,
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

	segment_of_machine(&top->env, monitor_engine(top->monitor), top->options->interval_s,
			   &segment);
	memory->recent = recent_new(PAST_BYTES, &segment);
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
		.delay_s = top->options->interval_s,
		.samples = top->options->samples,
		.no_mouse = top->options->no_mouse,
		.signals = top->live.signals,
	};

	return tui_run(&config, why);
}

static int run_screen(struct top *top)
{
	struct memory memory = { 0 };
	struct why why = { "" };
	int err = top_writer_open(&top->writer, top->options, &top->env, top->monitor,
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

static int run_mode(struct top *top)
{
	unsigned int mode = top->options->mode;
	struct why why = { "" };
	int err;

	err = live_init(&top->live, top->options->output || mode == MODE_WRITE,
			mode == MODE_SCREEN);
	if (!err)
		err = monitor_begin(top, &why);
	if (err)
		return say_failure(err, &why);
	switch (mode) {
	case MODE_FIELDS:
		err = top_list_fields(monitor_facts(top->monitor)->fields, top->print_field);
		return err ? say_failure(err, &why) : STATUS_OK;
	case MODE_ONCE:
	case MODE_LOG:
	case MODE_WRITE:
		return run_lines(top);
	default:
		return run_screen(top);
	}
}

static void complete_guest(const struct guest *guest)
{
	printf("%s\tprocess %d\n", guest->name, (int)guest->pid);
}

static void complete_pid(const struct guest *guest)
{
	printf("%d\t%s\n", (int)guest->pid, guest->name);
}

/* Replaces what the shell would change by a dot, which matches any character. */
static void complete_field(const char *name)
{
	for (; *name; name++)
		putchar(*name == '(' || *name == ')' ? '.' : *name);
	putchar('\n');
}

static void complete_event(const char *name)
{
	if (!strchr(name, '('))
		puts(name);
}

/* Names of events: the same as -f help lists. */
static int run_completion(struct top *top, struct options *options)
{
	struct completion completion;

	completion_find(options->words, options->nr_words, &completion);
	completion_print(&completion);
	if (env_init(&top->env, completion.sysroot, &(struct why){ "" }) < 0)
		return STATUS_FAILURE;
	switch (completion.offer) {
	case OFFER_GUESTS:
		return list_guests(top, complete_guest);
	case OFFER_PIDS:
		return list_guests(top, complete_pid);
	case OFFER_FIELDS:
	case OFFER_EVENTS:
		options->mode = MODE_FIELDS;
		top_query_init(options, &top->query, &(struct why){ "" });
		top->print_field = completion.offer == OFFER_FIELDS ? complete_field :
								      complete_event;
		return run_mode(top);
	default:
		return STATUS_OK;
	}
}

/* No input is written to. */
static int check_outputs(const struct options *options, struct why *why)
{
	const char *const inputs[] = { options->read_file, options->thresholds,
				       options->http_config, options->write_file };
	const struct {
		const char *option, *path;
		size_t nr_inputs; /* a log is not written into the history that is written */
	} outputs[] = {
		{ "-w", options->write_file, ARRAY_SIZE(inputs) - 1 },
		{ "--output", options->output, ARRAY_SIZE(inputs) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		if (output_find_input(outputs[i].path, inputs, outputs[i].nr_inputs))
			return why_set(why, -EINVAL, "%s %s: this file is an input; choose another "
				       "one", outputs[i].option, outputs[i].path);
	}
	return 0;
}

static int understand(struct options *options, struct why *why)
{
	char names[128];

	/* Several recordings are read as one. */
	if (options->nr_words && !(options->mode & (MODE_COMPLETE | MODE_VERSION)) &&
	    options->source != FROM_RECORDING) {
		command_names(names, sizeof(names));
		return why_set(why, -EINVAL,
			       "unexpected argument \"%s\"; a command is the first word: %s",
			       options->words[0], names);
	}
	if (options->source != FROM_RECORDING)
		return 0;
	if (options->by_guest && !options->view_name)
		options->view_name = "guests";
	options->text = options->mode != MODE_SCREEN;
	return report_understand(options, why);
}

/* The words are further files of the recording of -r. */
static int read_recording(const struct options *options)
{
	size_t nr = options->nr_words;
	const char **paths = calloc(nr + 1, sizeof(*paths));
	int status;

	if (!paths)
		return say_failure(-ENOMEM, &(struct why){ "" });
	paths[0] = options->read_file;
	memcpy(paths + 1, options->words, nr * sizeof(*paths));
	status = report_recordings(paths, nr + 1, options);
	free(paths);
	return status;
}

static int begin(struct top *top, struct why *why)
{
	const struct options *options = top->options;
	int err = check_outputs(options, why);

	if (!err)
		err = thresholds_load(options->thresholds, options->sysroot, &top->thresholds, why);
	if (!err)
		err = kallsyms_files_read(&options->kallsyms, &top->kallsyms, &top->query, why);
	top->query.thresholds = &top->thresholds;
	return err;
}

static int run_top(struct options *options)
{
	struct top top = {
		.options = options,
		.lines = { .options = options, .query = &top.query },
		.live.signals = -1,
		.print_field = top_print_field,
	};
	struct why why = { "" };
	int err, status;

	if (options->mode == MODE_VERSION) {
		puts("kvmtop " KVMTOP_VERSION);
		return STATUS_OK;
	}
	if (options->mode == MODE_COMPLETE)
		return run_completion(&top, options);
	if (options->source == FROM_RECORDING)
		return read_recording(options);
	if (top_query_init(options, &top.query, &why) < 0)
		return say_usage("", &why);
	err = begin(&top, &why);
	if (err)
		return say_failure(err, &why);
	if (options->source & FROM_STORE)
		return top_read(options, &top.query);
	if (env_init(&top.env, options->sysroot, &why) < 0)
		return say_failure(-ENOENT, &why);
	top.env.include_past = options->include_past;
	top.env.engine = options->engine;
	if (options->mode == MODE_PROVIDERS)
		return list_providers(&top);
	if (options->mode == MODE_GUESTS)
		return list_guests(&top, print_guest);
	status = run_mode(&top);
	if (top.demo)
		demo_stop(top.demo);
	return status;
}

const struct command top_command = {
	.name = "",
	.usage = "Usage: kvmtop [OPTION]...\n"
		 "       kvmtop COMMAND [OPTION]...\n"
		 "Shows what KVM guests on this host make the kernel do: which exits and events,\n"
		 "how often, how long, in which guest.\n",
	.footer = "More options: kvmtop help. Keys: press h. Manual: man kvmtop\n"
		  "Exit status: 0 done, 1 failure, 2 wrong usage.\n",
	.command = { .works = MODES_TOP },
	.understand = understand,
	.run = run_top,
};
