// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop` without a command: the screen, one batch, a log, or a list of fields or providers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/say.h"
#include "cmd/command.h"
#include "cmd/live.h"
#include "cmd/top.h"
#include "cmd/top_options.h"
#include "demo/demo.h"
#include "host/env.h"
#include "host/guest.h"
#include "monitor.h"
#include "providers/provider.h"
#include "ui/lines/lines.h"
#include "ui/tui/tui.h"
#include "views/build.h"

#define BATCH_SECONDS 1.0 /* as kvm_stat's, even with -s */

struct top {
	struct top_options options;
	struct env env;
	struct monitor *monitor;
	struct pattern *filter;
	struct query query;
	struct view view;
	struct lines *lines;
	pid_t demo;
	struct live live;
	bool has_warned;   /* of a filter without a match, if there is one */
	const char *noted; /* the view's note that was printed last */
};

/* ---- setting up ---- */

/* Reads -f, -b, -x, --view and --sort. An error is a usage error. */
static int query_init(struct top *top, struct why *why)
{
	const struct top_options *options = &top->options;
	struct query *query = &top->query;
	char names[128];
	int err;

	query->type = options->by_guest ? view_type_of(ROWS_GUESTS) : view_type_at(0);
	if (options->view)
		query->type = view_type_by_name(options->view);
	if (!query->type) {
		view_type_names(names, sizeof(names));
		return why_set(why, -EINVAL, "\"%s\": no such view; there are: %s", options->view,
			       names);
	}
	if (options->by_guest && query->type->rows != ROWS_GUESTS)
		return why_set(why, -EINVAL, "-b/--by-guest and --view %s exclude each other",
			       options->view);
	query->sort = query->type->sort;
	query->children = options->children;
	if (options->sort) {
		err = view_column_find(query->type, options->sort, false, &query->sort, why);
		if (err)
			return err;
	}
	if (options->fields && top_options_mode(options) != MODE_FIELDS)
		return pattern_new(options->fields, &top->filter, why);
	return 0;
}

/* CSV and batch always have every field, for programs. */
static void query_for_programs(struct query *query)
{
	query->children = true;
	query->zeros = true;
	query->flat = true;
}

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
	const struct guest *guest = NULL;
	int err;

	if (!options->guest && !options->pid)
		return 0;
	err = monitor_find_guests(top->monitor, why);
	if (!err)
		err = guests_choose(monitor_facts(top->monitor)->guests, options->guest,
				    options->pid, &guest, why);
	if (!err)
		top->query.guest = guest->id;
	return err;
}

/*
 * Exits are timed for the screen, where the user may choose any view, and for the views that show
 * times. -b without a filter and without -d has exits, too: without them a guest that lives for a
 * moment is not seen.
 */
static bool wants_exits(const struct top *top)
{
	const struct view_type *type = top->query.type;

	return top_options_mode(&top->options) == MODE_CURSES || type->is_timed ||
	       (type->needs && !(top->options.by_guest && (top->filter || top->options.debugfs)));
}

/* A view of timed exits alone needs no other provider. */
static unsigned int choose_providers(const struct top *top)
{
	const struct top_options *options = &top->options;
	bool is_timed_only = top->query.type->is_timed &&
			     top_options_mode(options) != MODE_CURSES;
	unsigned int providers = wants_exits(top) ? 1U << PROVIDER_EXITS : 0;

	if (options->debugfs && !is_timed_only)
		providers |= 1U << PROVIDER_DEBUGFS;
	if (options->tracepoints && !is_timed_only)
		providers |= 1U << PROVIDER_TRACEPOINT;
	return providers;
}

static int monitor_begin(struct top *top, bool waits, struct why *why)
{
	const struct top_options *options = &top->options;
	struct monitor_config config = {
		.env = &top->env,
		.providers = choose_providers(top),
		.waits = waits,
	};
	int err = monitor_open(&config, &top->monitor, why);

	if (!err && options->demo)
		err = demo_begin(top, why);
	if (!err)
		err = guest_init(top, why);
	if (!err && top->query.type->by_guest) /* the first sample needs the guests' threads open */
		monitor_find_guests(top->monitor, &(struct why){ "" });
	top->query.filter = top->filter;
	if (err || top_options_mode(options) == MODE_FIELDS) /* only the names are needed */
		return err;
	return monitor_want(top->monitor, &top->query, why);
}

/* ---- modes without a screen ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_fields(const struct top *top)
{
	const struct fields *fields = monitor_facts(top->monitor)->fields;
	uint32_t n = fields_count(fields);
	const char **names = calloc(n + 1, sizeof(*names));
	size_t nr = 0;

	if (!names)
		return say_failure(-ENOMEM, &(struct why){ "" });
	for (uint32_t i = 0; i < n; i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use != USE_TIME && field->use != USE_CPU) /* no view shows these */
			names[nr++] = field->listed;
	}
	qsort(names, nr, sizeof(*names), compare_names);
	for (size_t i = 0; i < nr; i++) {
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			printf("  %s\n", names[i]);
	}
	free(names);
	return STATUS_OK;
}

static int list_providers(const struct top *top)
{
	const char *name, *help;
	int err;

	for (size_t i = 0;; i++) {
		struct why why = { "" };

		if (!monitor_provider(&top->env, i, &name, &help, &err, &why))
			return STATUS_OK;
		printf("%-12s %s\n%-12s %s%s\n", name, help, "", err ? "not here: " : "works here",
		       err ? (why.text[0] ? why.text : strerror(-err)) : "");
	}
}

/* For people who look for a guest, and for the shell's completion: needs no provider. */
static int list_guests(const struct top *top)
{
	struct guests *guests = guests_new(&top->env);
	const struct guest *guest;
	struct why why = { "" };
	int err = guests ? guests_refresh(guests, clock_now_ns(), &why) : -ENOMEM;

	for (size_t i = 0; !err && (guest = guests_at(guests, i)); i++)
		printf("%7d %4zu  %s\n", (int)guest->pid, guest->nr_vcpus, guest->name);
	guests_free(guests);
	return err ? say_failure(err, &why) : STATUS_OK;
}

/* Events, and guests with -b, have the formats of kvm_stat. */
static enum lines_format format_of(const struct top *top)
{
	bool is_log = top_options_mode(&top->options) == MODE_LOG;
	bool has_events = top->query.type->rows == ROWS_EVENTS;

	if (top->options.json)
		return LINES_JSON;
	if (top->options.csv)
		return has_events ? LINES_CSV : LINES_LOG_ROWS;
	if (has_events || top->options.by_guest)
		return is_log ? LINES_TEXT : LINES_BATCH;
	return is_log ? LINES_LOG_TABLE : LINES_TABLE;
}

static int lines_begin(struct top *top, struct why *why)
{
	const struct top_options *options = &top->options;
	const struct facts *facts = monitor_facts(top->monitor);
	struct lines_config config = {
		.format = format_of(top),
		.path = top_options_mode(options) == MODE_LOG ? options->log_file : NULL,
		.skip_zero = options->skip_zero,
		.fields = facts->fields,
		.columns = facts->wanted,
		.type = top->query.type,
	};

	return lines_open(&config, &top->lines, why);
}

/* Prints the note once, to standard error: programs may read the rows. */
static void print_note(struct top *top)
{
	if (top->view.note && top->view.note != top->noted)
		fprintf(stderr, "kvmtop: %s\n", top->view.note);
	top->noted = top->view.note;
}

/* Warns once: a misspelt filter would look like a quiet host. */
static void warn_no_match(struct top *top)
{
	const struct view_type *type = top->query.type;

	if (!top->has_warned)
		fprintf(stderr,
			"kvmtop: no %s matches \"%s\"; kvmtop%s%s -f help lists the names\n",
			type->noun, pattern_text(top->query.filter),
			type == view_type_at(0) ? "" : " --view ",
			type == view_type_at(0) ? "" : type->name);
	top->has_warned = true;
}

static int write_lines(struct top *top, const struct timespec *when, struct why *why)
{
	int err;

	live_begin_write(&top->live);
	err = lines_write(top->lines, &top->view, when, monitor_elapsed_ns(top->monitor),
			     why);
	live_end_write(&top->live);
	return err == -EINTR ? 0 : err;
}

static int print_sample(struct top *top, struct why *why)
{
	struct timespec when;
	int err = live_sample(&top->live, top->monitor, why);

	if (err)
		return err;
	clock_gettime(CLOCK_REALTIME, &when);
	err = view_build(&top->view, &top->query, monitor_facts(top->monitor));
	if (err)
		return err;
	if (top_options_mode(&top->options) == MODE_LOG)
		view_drop_repeated(&top->view);
	if (top->query.filter &&
	    !query_selects_any(&top->query, monitor_facts(top->monitor)->fields))
		warn_no_match(top);
	else
		print_note(top);
	return write_lines(top, &when, why);
}

/* Says that an older log was renamed. */
static int say_moved(int err, struct why *why)
{
	if (!err && why->text[0])
		fprintf(stderr, "kvmtop: %s\n", why->text);
	if (!err)
		why->text[0] = '\0';
	return err;
}

static int on_wake(void *arg, enum woken woken, struct why *why)
{
	struct top *top = arg;

	if (woken == WOKEN_HANGUP)
		return say_moved(lines_reopen(top->lines, why), why);
	return woken == WOKEN_TICK ? print_sample(top, why) : 0;
}

/* The first sample is not printed: there is nothing to compare it with. */
static int sample_loop(struct top *top, double interval_s, unsigned long samples, struct why *why)
{
	int err = live_sample(&top->live, top->monitor, why);

	return err ? err : live_loop(&top->live, interval_s, samples, on_wake, top, why);
}

/* Batch is a log of one sample. */
static int run_lines(struct top *top)
{
	const struct top_options *options = &top->options;
	bool is_batch = top_options_mode(options) == MODE_BATCH;
	struct why why = { "" };
	int err, close_err;

	if (monitor_no_exits(top->monitor))
		fprintf(stderr, "kvmtop: %s\n", monitor_no_exits(top->monitor));
	live_wait_open(&top->live, top->monitor);
	err = say_moved(lines_begin(top, &why), &why);
	if (!err)
		err = sample_loop(top, is_batch ? BATCH_SECONDS : options->delay_s,
				  is_batch ? 1 : options->samples, &why);
	if (err == -EPIPE)
		err = 0;
	close_err = lines_close(top->lines, err ? &(struct why){ "" } : &why);
	if (!err && close_err != -EPIPE)
		err = close_err;
	return err ? say_failure(err, &why) : STATUS_OK;
}

static int run_screen(struct top *top)
{
	struct tui_config config = {
		.monitor = top->monitor,
		.env = &top->env,
		.query = &top->query,
		.delay_s = top->options.delay_s,
		.samples = top->options.samples,
		.signals = top->live.signals,
	};
	struct why why = { "" };
	int err = tui_run(&config, &why);

	return err ? say_failure(err, &why) : STATUS_OK;
}

static int run_mode(struct top *top, enum mode mode)
{
	struct why why = { "" };
	int err;

	err = live_init(&top->live, top->options.log_file != NULL, mode == MODE_CURSES);
	if (!err)
		err = monitor_begin(top, mode == MODE_CURSES, &why);
	if (err)
		return say_failure(err, &why);
	switch (mode) {
	case MODE_FIELDS:
		return list_fields(top);
	case MODE_BATCH:
	case MODE_LOG:
		return run_lines(top);
	default:
		return run_screen(top);
	}
}

/* Programs get the whole tree; people open the rows that they want to see. */
static void query_for_mode(struct top *top, enum mode mode)
{
	enum lines_format format = format_of(top);

	if (mode != MODE_BATCH && mode != MODE_LOG)
		return;
	if (top->options.csv || format == LINES_BATCH)
		query_for_programs(&top->query);
	if (format == LINES_BATCH && !top->options.sort)
		top->query.sort = 0; /* by name, as kvm_stat */
	if (format == LINES_JSON)
		top->query.zeros = true;
	if (format == LINES_JSON && mode == MODE_BATCH)
		top->query.children = true;
}

static int run_options(struct top *top)
{
	enum mode mode = top_options_mode(&top->options);
	struct why why = { "" };

	if (query_init(top, &why) < 0)
		return say_usage("", &why);
	if (mode == MODE_HELP) {
		top_options_help(stdout);
		puts("\nCommands, each with a --help of its own:");
		commands_help(stdout);
		return STATUS_OK;
	}
	if (mode == MODE_VERSION) {
		puts("kvmtop " KVMTOP_VERSION);
		return STATUS_OK;
	}
	if (env_init(&top->env, top->options.sysroot, &why) < 0)
		return say_failure(-ENOENT, &why);
	top->env.include_past = top->options.include_past;
	top->env.engine = top->options.engine;
	query_for_mode(top, mode);
	if (mode == MODE_PROVIDERS)
		return list_providers(top);
	return mode == MODE_GUESTS ? list_guests(top) : run_mode(top, mode);
}

int top_run(int argc, char **argv)
{
	struct top top = { .live.signals = -1 };
	struct why why = { "" };
	int status;

	if (top_options_parse(argc, argv, &top.options, &why) < 0)
		return say_usage("", &why);
	status = run_options(&top);
	if (top.demo)
		demo_stop(top.demo);
	return status;
}
