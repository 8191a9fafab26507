// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop where`: samples for a few seconds, then prints the code that takes the time of exits. */
#include <errno.h>
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "lib/clock.h"
#include "lib/process.h"
#include "lib/text.h"
#include "ui/lines/lines.h"

#define INTERVAL_S 1.0 /* the kernel has room for the stacks of some seconds */

static int where_begin(struct run *run, struct error *error)
{
	const struct run_plan plan = { .source.monitor.providers = 1U << PROVIDER_EXITS };
	const struct options *options = run->options;
	int err = run_signals(run, options->output, false);

	run->query.type = &view_where;
	run->query.children = options->children || options->folded || options->svg;
	run->query.sort = options->sort ? options->column : query_default_sort(&run->query);
	run->query.stack_hz = (uint32_t)options->hertz;
	run->query.has_guest_code = options->guest_code;
	run->query.by_argument = options->arguments;
	run->query.has_halts = options->halts;
	if (!err && options->fields)
		err = pattern_new(options->fields, &run->parts.filter, error);
	run->query.filter = run->parts.filter;
	return err ? err : run_open(run, &plan, error);
}

static int where_count(struct run *run, struct error *error)
{
	int err = run_seconds(run, (unsigned long)(run->options->duration_s / INTERVAL_S) + 1,
			      error);

	if (err || !run->options->guest_code)
		return err;
	run_wait_open(run); /* for names that are being read: until then their counts wait */
	return run_sample(run, error);
}

static void configure_lines(struct run *run)
{
	run_lines_plain(run);
	run->lines.config.room = lines_room();
	run_lines_flames(run);
}

static int where_print(struct run *run, struct error *error)
{
	configure_lines(run);
	view_build(&run->view, &run->query, monitor_facts(run->monitor));
	run_note(run, view_remark(&run->view));
	if (!run->view.nr_rows && run->lines.config.format == LINES_TABLE) {
		if (!run->view.lacks)
			say("no code of an exit was seen: measure for longer, or without -f");
		return 0;
	}
	return run_write(run, &run->view, clock_real_ns(), run->elapsed_ns, error);
}

static int understand(struct options *options, struct error *error)
{
	struct pattern *pattern = NULL;
	int err = 0;

	if (!options->hertz)
		options->hertz = STACKS_HZ;
	if (options->hertz > STACKS_HZ_MAX)
		return error_set(error, -EINVAL, "--hertz %lu: at most %d", options->hertz,
				 STACKS_HZ_MAX);
	if (options->fields)
		err = pattern_new(options->fields, &pattern, error);
	pattern_free(pattern); /* it is made again when it is used */
	if (options->guest_code && !options->children && !options->sort)
		options->sort = "exits";
	if (!err && options->sort)
		err = view_column_find(&view_where, options->sort, false, &options->column, error);
	return err ? err : options_take_seconds(options, error);
}

static int run_where(struct options *options)
{
	struct run run = RUN_INIT(options);
	struct error error = { "" };
	int err = where_begin(&run, &error);

	if (!err)
		err = where_count(&run, &error);
	if (!err)
		err = where_print(&run, &error);
	err = run_lines_close(&run, err, &error);
	run_close(&run);
	return err && err != -EPIPE ? say_failure(err, &error) : STATUS_OK;
}

const struct command where_command = {
	.name = "where",
	.help = "find the code that takes the time of exits",
	.usage = "Usage: kvmtop where [OPTION]... [SECONDS]\n"
		 "Samples for SECONDS (default: 5), and prints the functions of KVM and of the\n"
		 "VMM that take the time of exits. Halts and sleep: --halts, or -f names them.\n",
	.footer = "Exit status: 0 done, 1 failure, 2 wrong usage. More: man kvmtop-where\n",
	.command = { .works = MODE_WHERE },
	.understand = understand,
	.run = run_where,
};
