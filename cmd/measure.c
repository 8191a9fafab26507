// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `kvmtop why`, `kvmtop who` and `kvmtop where`: measure for a few seconds, then print what makes
 * guests slow, worst first; who had the CPU while vCPUs waited; or the code that takes the time of
 * exits.
 */
#include <errno.h>
#include <stdio.h>

#include "lib/clock.h"
#include "lib/process.h"
#include "lib/text.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "ui/lines/lines.h"
#include "core/views/query.h"
#include "core/views/view.h"

#define WHERE_INTERVAL_S 1.0 /* the kernel has room for the stacks of some seconds */
#define WHO_INTERVAL_S 0.5
#define LOOK_MS 50

/* Rules use these sources. With these alone, "nothing found" would not mean that all is well. */
#define ASIDES \
	(1U << PROVIDER_HOST | 1U << PROVIDER_COST | 1U << PROVIDER_WHO | PROVIDERS_STATISTICS)

static const struct run_plan plan_why = {
	.source.monitor = {
		.providers = 1U << PROVIDER_EXITS | 1U << PROVIDER_TRACEPOINT | ASIDES,
		.asides = ASIDES,
	},
}, plan_who = {
	.source.monitor = {
		.providers = 1U << PROVIDER_WHO | 1U << PROVIDER_HOST,
		.asides = 1U << PROVIDER_HOST,
	},
}, plan_where = { .source.monitor.providers = 1U << PROVIDER_EXITS };

/* Without times of exits "nothing found" would say little. */
static int begin(struct run *run, struct error *error)
{
	const struct options *options = run->options;
	bool is_why = options->mode == MODE_WHY, is_where = options->mode == MODE_WHERE;
	int err = run_signals(run, options->output, false);

	run->query.type = is_why ? &view_why : is_where ? &view_where :
			  options->interrupts ? &view_interrupts : &view_who;
	run->query.children = options->children || options->folded || options->svg ||
			      (!is_where && (options->json || options->csv));
	run->query.sort = options->sort ? options->column : query_default_sort(&run->query);
	run->query.stack_hz = (uint32_t)options->hertz;
	run->query.has_guest_code = options->guest_code;
	run->query.by_argument = options->arguments;
	run->query.has_halts = options->halts;
	if (!err && options->fields)
		err = pattern_new(options->fields, &run->parts.filter, error);
	run->query.filter = run->parts.filter;
	if (!err)
		err = run_open(run, is_why ? &plan_why : is_where ? &plan_where : &plan_who, error);
	if (!err && is_why && monitor_no_exits(run->monitor))
		err = error_set(error, -EIO, "%s", monitor_no_exits(run->monitor));
	if (!err && options->interrupts && monitor_notice(run->monitor, 0))
		err = error_set(error, -EIO, "%s", monitor_notice(run->monitor, 0));
	return err;
}

/*
 * A vCPU's waits are measured from a look on that finds its thread, and are lost after its end. The
 * kernel tells of a new VM and of a new vCPU, not of the thread that runs it.
 */
static int count(struct run *run, struct error *error)
{
	const struct options *options = run->options;
	double steps = options->mode == MODE_WHO   ? options->duration_s / WHO_INTERVAL_S :
		       options->mode == MODE_WHERE ? options->duration_s / WHERE_INTERVAL_S + 1 :
						     1;
	int err;

	run->look_ms = options->mode == MODE_WHERE ? 0 : LOOK_MS;
	err = run_seconds(run, steps > 1 ? (unsigned long)steps : 1, error);
	if (err || !options->guest_code)
		return err;
	run_wait_open(run); /* for names that are being read: until then their counts wait */
	return run_sample(run, error);
}

static void say_nothing(const struct run *run)
{
	size_t nr = guests_count(monitor_facts(run->monitor)->guests);

	if (run->options->mode == MODE_WHERE)
		say("no code of an exit was seen: measure for longer, or without -f");
	else if (run->query.guest != GUEST_ALL)
		printf("Nothing found in %.1f s.\n", (double)run->elapsed_ns / 1e9);
	else
		printf("Nothing found in %.1f s: %zu guest%s.\n", (double)run->elapsed_ns / 1e9,
		       nr, nr == 1 ? "" : "s");
}

static int print(struct run *run, struct error *error)
{
	unsigned int mode = run->options->mode;

	run_lines_plain(run);
	run->lines.config.room = lines_room();
	run->query.since_ns = mode == MODE_WHERE ? 0 : run->elapsed_ns;
	view_build(&run->view, &run->query, monitor_facts(run->monitor));
	run_note(run, view_remark(&run->view));
	if (run->view.nr_rows || run->lines.config.format != LINES_TABLE || mode == MODE_WHO)
		return run_write(run, &run->view, clock_real_ns(), run->elapsed_ns, error);
	if (!run->view.lacks)
		say_nothing(run);
	return 0;
}

static int measure(struct options *options)
{
	struct run run = RUN_INIT(options);
	struct error error = { "" };
	int err = begin(&run, &error), status = STATUS_OK;

	if (!err)
		err = count(&run, &error);
	if (!err)
		err = print(&run, &error);
	err = run_lines_close(&run, err, &error);
	if (err && err != -EPIPE)
		status = say_failure(err, &error);
	else if (options->mode == MODE_WHY && run.view.nr_rows)
		status = STATUS_FOUND;
	run_close(&run);
	return status;
}

static int understand_where(struct options *options, struct error *error)
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

const struct command why_command = {
	.name = "why",
	.help = "find what makes guests slow, and the remedy",
	.usage = "Usage: kvmtop why [OPTION]... [SECONDS]\n"
		 "Counts for SECONDS (default: 5), and prints what makes guests slow, worst\n"
		 "first, with evidence and remedy.\n",
	.footer = "Exit status: 0 nothing found, 1 failure, 2 wrong usage, 3 something found.\n"
		  "More: man kvmtop-why\n",
	.command = { .works = MODE_WHY },
	.understand = options_take_seconds,
	.run = measure,
};

const struct command who_command = {
	.name = "who",
	.help = "show who had the CPU while vCPUs waited for one",
	.usage = "Usage: kvmtop who [OPTION]... [SECONDS]\n"
		 "Measures for SECONDS (default: 5) how long vCPUs wait for a CPU, and prints\n"
		 "what had it meanwhile: other vCPUs, threads of VMMs and of the kernel,\n"
		 "processes, interrupts.\n",
	.footer = "Exit status: 0 done, 1 failure, 2 wrong usage.\n"
		  "More: man kvmtop-who\n",
	.command = { .works = MODE_WHO },
	.understand = options_take_seconds,
	.run = measure,
};

const struct command where_command = {
	.name = "where",
	.help = "find the code that takes the time of exits",
	.usage = "Usage: kvmtop where [OPTION]... [SECONDS]\n"
		 "Samples for SECONDS (default: 5), and prints the functions of KVM and of the\n"
		 "VMM that take the time of exits. Halts and sleep: --halts, or -f names them.\n",
	.footer = "Exit status: 0 done, 1 failure, 2 wrong usage. More: man kvmtop-where\n",
	.command = { .works = MODE_WHERE },
	.understand = understand_where,
	.run = measure,
};
