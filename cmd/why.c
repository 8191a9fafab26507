// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `kvmtop why` and `kvmtop who`: count for a few seconds, then print what makes guests slow, worst
 * first; or who had the CPU while vCPUs waited.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/process.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "ui/lines/lines.h"
#include "core/views/query.h"
#include "core/views/view.h"

#define WHO_INTERVAL_S 0.5
#define LOOK_MS 50

/* Rules use these sources. With these alone, "nothing found" would not mean that all is well. */
#define ASIDES \
	(1U << PROVIDER_HOST | 1U << PROVIDER_COST | 1U << PROVIDER_WHO | PROVIDERS_STATISTICS)

static bool is_who(const struct run *run)
{
	return run->options->mode == MODE_WHO;
}

/* Without times of exits "nothing found" would say little. */
static int why_begin(struct run *run, struct error *error)
{
	const struct run_plan why = {
		.source.monitor = {
			.providers = 1U << PROVIDER_EXITS | 1U << PROVIDER_TRACEPOINT | ASIDES,
			.asides = ASIDES,
		},
	}, who = {
		.source.monitor = {
			.providers = 1U << PROVIDER_WHO | 1U << PROVIDER_HOST,
			.asides = 1U << PROVIDER_HOST,
		},
	};
	int err = run_signals(run, run->options->output, false);

	run->query.type = &view_why;
	if (is_who(run))
		run->query.type = run->options->interrupts ? &view_interrupts : &view_who;
	run->query.sort = view_default_sort(run->query.type);
	run->query.children = run->options->children || run->options->json || run->options->csv;
	if (!err)
		err = run_open(run, is_who(run) ? &who : &why, error);
	if (!err && !is_who(run) && monitor_no_exits(run->monitor))
		err = error_set(error, -EIO, "%s", monitor_no_exits(run->monitor));
	if (!err && run->options->interrupts && monitor_notice(run->monitor, 0))
		err = error_set(error, -EIO, "%s", monitor_notice(run->monitor, 0));
	return err;
}

/*
 * A vCPU's waits are measured from a look on that finds its thread, and are lost after its end. The
 * kernel tells of a new VM and of a new vCPU, not of the thread that runs it.
 */
static int why_count(struct run *run, struct error *error)
{
	double steps = is_who(run) ? run->options->duration_s / WHO_INTERVAL_S : 1;

	run->look_ms = LOOK_MS;
	return run_seconds(run, steps > 1 ? (unsigned long)steps : 1, error);
}

static void say_nothing_found(const struct run *run)
{
	size_t nr = guests_count(monitor_facts(run->monitor)->guests);

	if (run->query.guest != GUEST_ALL)
		printf("Nothing found in %.1f s.\n", (double)run->elapsed_ns / 1e9);
	else
		printf("Nothing found in %.1f s: %zu guest%s.\n", (double)run->elapsed_ns / 1e9,
		       nr, nr == 1 ? "" : "s");
}

static int why_print(struct run *run, struct error *error)
{
	run_lines_plain(run);
	run->lines.config.room = lines_room();
	run->query.since_ns = run->elapsed_ns;
	view_build(&run->view, &run->query, monitor_facts(run->monitor));
	run_note(run, view_remark(&run->view));
	if (!run->view.nr_rows && run->lines.config.format == LINES_TABLE && !is_who(run)) {
		if (!run->view.lacks)
			say_nothing_found(run);
		return 0;
	}
	return run_write(run, &run->view, clock_real_ns(), run->elapsed_ns, error);
}

/* The exit status; *ret_is_found: there are rows. */
static int count_and_print(struct options *options, bool *ret_is_found)
{
	struct run run = RUN_INIT(options);
	struct error error = { "" };
	int err = why_begin(&run, &error);

	if (!err)
		err = why_count(&run, &error);
	if (!err)
		err = why_print(&run, &error);
	err = run_lines_close(&run, err, &error);
	*ret_is_found = run.view.nr_rows;
	run_close(&run);
	return err && err != -EPIPE ? say_failure(err, &error) : STATUS_OK;
}

static int run_why(struct options *options)
{
	bool is_found = false;
	int status = count_and_print(options, &is_found);

	return status == STATUS_OK && is_found ? STATUS_FOUND : status;
}

static int run_who(struct options *options)
{
	bool is_found;

	return count_and_print(options, &is_found);
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
	.run = run_why,
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
	.run = run_who,
};
