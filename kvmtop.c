// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmtop - which guest, which vCPU, which VM exits, and what they cost.
 *
 * Options, the choice of what to do, the loops of the modes without a screen, and the exit status.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/say.h"
#include "base/stdfd.h"
#include "cmd/command.h"
#include "cmd/leave.h"
#include "cmd/live.h"
#include "cmd/top_options.h"
#include "demo/demo.h"
#include "host/env.h"
#include "monitor.h"
#include "ui/lines/lines.h"
#include "ui/tui/tui.h"
#include "views/build.h"

#define BATCH_SECONDS 1.0 /* kvm_stat's, whatever -s says */

/* What one run of the program holds. */
struct run {
	struct options options;
	struct env env;
	struct monitor *monitor;
	struct pattern *filter;
	struct query query;
	struct view view;
	struct recorder *recorder;
	struct field_set columns;
	pid_t demo;
	struct live live;
	const char *noted; /* what a view said about its rows and was printed */
};

/* ---- setting up ---- */

static int unknown_column(const struct query *query, const char *id, struct why *why)
{
	const struct column *columns = query->type->columns;
	char list[200] = "";
	size_t len = 0;

	for (size_t i = 0; columns[i].id && len < sizeof(list); i++) {
		if (!cell_is_picture(columns[i].type) && !(columns[i].flags & COLUMN_OF_RECORDING))
			len += (size_t)snprintf(list + len, sizeof(list) - len, " %s",
						columns[i].id);
	}
	return why_set(why, -EINVAL, "\"%s\": no such column in view %s; there are:%s", id,
		       query->type->name, list);
}

/* What -f, -b, -x, --view and --sort ask for. Usage errors all. */
static int query_init(struct run *run, struct why *why)
{
	const struct options *options = &run->options;
	struct query *query = &run->query;
	int column;

	query->type = &view_events;
	if (options->by_guest)
		query->type = &view_guests;
	if (options->view)
		query->type = view_type_by_name(options->view);
	if (!query->type)
		return why_set(why, -EINVAL, "\"%s\": no such view; there are: events, guests, "
					     "vcpus, exits, hotspots", options->view);
	query->sort = query->type->sort;
	query->children = options->children;
	if (options->sort) {
		column = view_column_by_id(query->type, options->sort);
		if (column < 0)
			return unknown_column(query, options->sort, why);
		query->sort = (size_t)column;
	}
	if (options->fields && options_mode(options) != MODE_FIELDS)
		return pattern_new(options->fields, &run->filter, why);
	return 0;
}

/* Programs that read our lines get every field, all the time, in the order of the names. */
static void query_for_programs(struct query *query)
{
	query->children = true;
	query->zeros = true;
	query->flat = true;
	query->sort = 0;
}

static int demo_begin(struct run *run, struct why *why)
{
	int err = monitor_find_guests(run->monitor, why);

	if (err || guests_count(monitor_facts(run->monitor)->guests))
		return err;
	err = demo_start(&demo_default, &run->demo, why);
	return err ? err : monitor_find_guests(run->monitor, why);
}

/* The guest that -g or -p names. */
static int guest_init(struct run *run, struct why *why)
{
	const struct guests *guests = monitor_facts(run->monitor)->guests;
	const struct options *options = &run->options;
	const struct guest *guest = NULL;
	char path[64];
	int err;

	if (!options->guest && !options->pid)
		return 0;
	err = monitor_find_guests(run->monitor, why);
	if (!err && options->guest)
		err = guests_by_name(guests, options->guest, &guest, why);
	if (err)
		return err;
	if (options->pid)
		guest = guests_by_pid(guests, options->pid);
	env_path(&run->env, path, sizeof(path), "/proc/%d", (int)options->pid);
	if (!guest && access(path, F_OK) < 0)
		return why_set(why, -ESRCH, "no process %d", (int)options->pid);
	if (!guest)
		return why_set(why, -ESRCH, "process %d is no KVM guest: it holds no VM",
			       (int)options->pid);
	run->query.guest = guest->id;
	return 0;
}

/*
 * Exits are timed for the screen, where any view may be chosen, and for the views that show it;
 * not for -b, which prints what kvm_stat prints.
 */
static bool wants_exits(const struct run *run)
{
	const struct view_type *type = run->query.type;

	return options_mode(&run->options) == MODE_CURSES || type->is_timed ||
	       (type->needs && !run->options.by_guest);
}

/* A view of timed exits alone needs no other provider. */
static bool asks_for(const void *arg, const char *provider)
{
	const struct run *run = arg;
	bool is_timed_only = run->query.type->is_timed &&
			     options_mode(&run->options) != MODE_CURSES;

	if (strcmp(provider, "exits") == 0)
		return wants_exits(run);
	return !is_timed_only && options_has(&run->options, provider);
}

static int monitor_begin(struct run *run, bool waits, struct why *why)
{
	const struct options *options = &run->options;
	struct monitor_config config = {
		.env = &run->env,
		.asks_for = asks_for,
		.arg = run,
		.waits = waits,
	};
	int err = monitor_open(&config, &run->monitor, why);

	if (!err && options->demo)
		err = demo_begin(run, why);
	if (!err)
		err = guest_init(run, why);
	if (!err && run->query.type->by_guest) /* whose threads the first sample must find open */
		monitor_find_guests(run->monitor, &(struct why){ "" });
	run->query.filter = run->filter;
	if (err || options_mode(options) == MODE_FIELDS) /* which names only */
		return err;
	return monitor_want(run->monitor, &run->query, why);
}

/* ---- modes without a screen ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_fields(const struct run *run)
{
	const struct fields *fields = monitor_facts(run->monitor)->fields;
	uint32_t n = fields_count(fields);
	const char **names = calloc(n + 1, sizeof(*names));

	if (!names)
		return say_failure(-ENOMEM, &(struct why){ "" });
	for (uint32_t i = 0; i < n; i++)
		names[i] = fields_get(fields, i)->name;
	qsort(names, n, sizeof(*names), compare_names);
	for (uint32_t i = 0; i < n; i++)
		printf("  %s\n", names[i]);
	free(names);
	return STATUS_OK;
}

static int list_providers(const struct run *run)
{
	const char *name, *help;
	int err;

	for (size_t i = 0;; i++) {
		struct why why = { "" };

		if (!monitor_provider(&run->env, i, &name, &help, &err, &why))
			return STATUS_OK;
		printf("%-12s %s\n%-12s %s%s\n", name, help, "", err ? "not here: " : "works here",
		       err ? (why.text[0] ? why.text : strerror(-err)) : "");
	}
}

static enum record_format record_format(const struct options *options)
{
	if (options->json)
		return RECORD_JSON;
	if (options->csv)
		return RECORD_CSV;
	return options_mode(options) == MODE_BATCH ? RECORD_BATCH : RECORD_TEXT;
}

/* What rows can be about: events, or the reasons of exits. */
static int choose_columns(struct run *run, const struct facts *facts)
{
	bool is_timed = run->query.type->is_timed;
	int err = 0;

	for (uint32_t i = 0; !err && i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (!field_set_has(facts->wanted, i) ||
		    (is_timed && (field->use != USE_EXIT || field->parent == FIELD_NONE)))
			continue;
		err = field_set_add(&run->columns, i);
	}
	return err;
}

static int recorder_begin(struct run *run, struct why *why)
{
	const struct options *options = &run->options;
	const struct facts *facts = monitor_facts(run->monitor);
	const struct view_type *type = run->query.type;
	/* Guests, vCPUs and arguments come and go; events and reasons do not. */
	bool has_columns = !type->by_guest || type == &view_exits;
	struct recorder_config config = {
		.format = record_format(options),
		.path = options_mode(options) == MODE_LOG ? options->log_file : NULL,
		.skip_zero = options->skip_zero,
		.fields = facts->fields,
		.columns = &run->columns,
		.type = type,
	};
	int err = choose_columns(run, facts);

	if (config.format == RECORD_CSV && !has_columns)
		config.format = RECORD_LOG_ROWS;
	return err ? err : recorder_open(&config, &run->recorder, why);
}

/* Once, and not among the rows, which programs may read. */
static void print_note(struct run *run)
{
	if (run->view.note && run->view.note != run->noted)
		fprintf(stderr, "kvmtop: %s\n", run->view.note);
	run->noted = run->view.note;
}

static int write_record(struct run *run, const struct timespec *when, struct why *why)
{
	int err;

	live_begin_write(&run->live);
	err = recorder_write(run->recorder, &run->view, when, monitor_elapsed_ns(run->monitor),
			     why);
	live_end_write(&run->live);
	return err == -EINTR ? 0 : err;
}

/* Takes a sample and, but for the first, which there is nothing to compare with, prints it. */
static int take_record(struct run *run, bool is_first, struct why *why)
{
	struct timespec when;
	int err = monitor_sample(run->monitor);

	live_warn(&run->live, run->monitor);
	if (!err && !monitor_is_live(run->monitor))
		return why_set(why, -EIO, "there is nothing left to count");
	if (err || is_first)
		return err;
	clock_gettime(CLOCK_REALTIME, &when);
	err = view_build(&run->view, &run->query, monitor_facts(run->monitor));
	if (err)
		return err;
	print_note(run);
	return write_record(run, &when, why);
}

static int record_loop(struct run *run, double seconds, unsigned long samples, struct why *why)
{
	int timer, err = take_record(run, true, why);

	timer = live_timer(seconds);
	if (!err && timer < 0)
		err = -errno;
	for (unsigned long i = 0; !err && !live_is_interrupted() && (!samples || i < samples);) {
		enum woken woken = live_wait(&run->live, timer);

		if (woken == WOKEN_END)
			break;
		if (woken == WOKEN_HANGUP) {
			err = recorder_reopen(run->recorder, why);
			continue;
		}
		err = take_record(run, false, why);
		i++;
	}
	if (timer >= 0)
		close(timer);
	return err;
}

/* A misspelt filter would look like a quiet host. */
static void warn_no_match(const struct run *run)
{
	const struct facts *facts = monitor_facts(run->monitor);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		if (query_names(&run->query, fields_get(facts->fields, i)))
			return;
	}
	fprintf(stderr, "kvmtop: no event matches \"%s\"; kvmtop -f help lists them\n",
		pattern_text(run->query.filter));
}

/* Batch is a log of one record. */
static int run_records(struct run *run)
{
	const struct options *options = &run->options;
	bool is_batch = options_mode(options) == MODE_BATCH;
	struct why why = { "" };
	int err, close_err;

	if (monitor_no_exits(run->monitor))
		fprintf(stderr, "kvmtop: %s\n", monitor_no_exits(run->monitor));
	if (run->query.filter)
		warn_no_match(run);
	live_wait_open(&run->live, run->monitor);
	err = recorder_begin(run, &why);
	if (!err)
		err = record_loop(run, is_batch ? BATCH_SECONDS : options->delay_s,
				  is_batch ? 1 : options->samples, &why);
	if (err == -EPIPE)
		err = 0;
	close_err = recorder_close(run->recorder, err ? &(struct why){ "" } : &why);
	if (!err && close_err != -EPIPE)
		err = close_err;
	return err ? say_failure(err, &why) : STATUS_OK;
}

static int run_screen(struct run *run)
{
	struct tui_config config = {
		.monitor = run->monitor,
		.env = &run->env,
		.query = &run->query,
		.delay_s = run->options.delay_s,
		.samples = run->options.samples,
		.signals = run->live.signals,
	};
	struct why why = { "" };
	int err = tui_run(&config, &why);

	return err ? say_failure(err, &why) : STATUS_OK;
}

static int run_mode(struct run *run, enum mode mode)
{
	struct why why = { "" };
	int err;

	err = live_init(&run->live, run->options.log_file != NULL, mode == MODE_CURSES);
	if (!err)
		err = monitor_begin(run, mode == MODE_CURSES, &why);
	if (err)
		return say_failure(err, &why);
	switch (mode) {
	case MODE_FIELDS:
		return list_fields(run);
	case MODE_BATCH:
	case MODE_LOG:
		return run_records(run);
	default:
		return run_screen(run);
	}
}

/* Programs that read us want the whole tree; people open what they want to see. */
static void query_for_mode(struct run *run, enum mode mode)
{
	enum record_format format = record_format(&run->options);

	if (mode != MODE_BATCH && mode != MODE_LOG)
		return;
	if (format == RECORD_CSV || (format == RECORD_BATCH && !run->query.type->is_timed))
		query_for_programs(&run->query);
	if (format == RECORD_JSON)
		run->query.zeros = true;
	if (format == RECORD_JSON && mode == MODE_BATCH)
		run->query.children = true;
}

static int run_options(struct run *run)
{
	enum mode mode = options_mode(&run->options);
	struct why why = { "" };

	if (query_init(run, &why) < 0)
		return say_usage("", &why);
	if (mode == MODE_HELP) {
		options_help(stdout);
		puts("\nCommands, each with a --help of its own:");
		commands_help(stdout);
		return STATUS_OK;
	}
	if (mode == MODE_VERSION) {
		puts("kvmtop " KVMTOP_VERSION);
		return STATUS_OK;
	}
	if (env_init(&run->env, run->options.sysroot, &why) < 0)
		return say_failure(-ENOENT, &why);
	run->env.include_past = run->options.include_past;
	run->env.engine = run->options.engine;
	query_for_mode(run, mode);
	return mode == MODE_PROVIDERS ? list_providers(run) : run_mode(run, mode);
}

int main(int argc, char **argv)
{
	struct run run = { .live.signals = -1 };
	const struct command *command = argc > 1 ? command_by_name(argv[1]) : NULL;
	struct why why = { "" };
	int status;

	stdfd_fill();
	setlocale(LC_CTYPE, ""); /* a decimal comma would make other numbers of -s, CSV and JSON */
	if (command)
		leave(say_end(command->run(argc - 1, argv + 1)));
	if (options_parse(argc, argv, &run.options, &why) < 0)
		return say_usage("", &why);
	status = say_end(run_options(&run));
	if (run.demo)
		demo_stop(run.demo);
	leave(status);
}
