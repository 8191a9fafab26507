// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop why`: counts for a few seconds, then prints what makes guests slow, worst first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/units.h"
#include "lib/process.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "ui/lines/lines.h"
#include "core/views/query.h"
#include "core/views/view.h"

#define SECONDS_DEFAULT 5.0

/* Rules use these sources. With these alone, "nothing found" would not mean that all is well. */
#define ASIDES (1U << PROVIDER_HOST | 1U << PROVIDER_COST | PROVIDERS_STATISTICS)

/* Findings are about the guest that has the name at the end: only there can the user act. */
static void follow_guest(struct run *run)
{
	const struct guest *guest =
		guest_choice_follow(&run->choice, monitor_facts(run->monitor)->guests);
	struct error news = { "" };

	if (!guest)
		return;
	error_set(&news, 0, "%s is back as pid %d: findings are of this one only", guest->name,
		  (int)guest->pid);
	say(news.text);
	run->query.guest = guest->id;
}

/* Without times of exits "nothing found" would say little. */
static int begin(struct run *run, struct error *error)
{
	const struct run_plan plan = {
		.source.providers = 1U << PROVIDER_EXITS | 1U << PROVIDER_TRACEPOINT | ASIDES,
		.source.asides = ASIDES,
	};
	int err = run_signals(run, run->options->output, false);

	run->query.type = &view_why;
	run->query.sort = view_default_sort(run->query.type);
	if (!err)
		err = run_open(run, &plan, error);
	if (!err && monitor_no_exits(run->monitor))
		err = error_set(error, -EIO, "%s", monitor_no_exits(run->monitor));
	return err;
}

static int on_wake(struct run *run, enum woken woken, struct error *error)
{
	(void)woken; /* the last sample is taken at the end, also after a signal */
	return run_sample(run, error);
}

static int count(struct run *run, struct error *error)
{
	int err;

	run_wait_open(run);
	err = run_sample(run, error);
	if (!err)
		err = run_loop(run, run->options->duration_s, 1, on_wake, error);
	follow_guest(run);
	return err;
}

static void say_nothing_found(const struct run *run)
{
	size_t nr = guests_count(monitor_facts(run->monitor)->guests);

	if (!nr)
		printf("No guest is running.\n");
	else if (run->query.guest != GUEST_ALL)
		printf("Nothing found in %.1f s.\n", (double)run->elapsed_ns / 1e9);
	else
		printf("Nothing found in %.1f s: %zu guest%s.\n", (double)run->elapsed_ns / 1e9,
		       nr, nr == 1 ? "" : "s");
}

static int print(struct run *run, struct error *error)
{
	run_lines_plain(run);
	run->lines.config.room = lines_room();
	view_build(&run->view, &run->query, monitor_facts(run->monitor));
	run_note(run, run->view.note);
	if (!run->view.nr_rows && run->lines.config.format == LINES_TABLE) {
		say_nothing_found(run);
		return 0;
	}
	return run_write(run, &run->view, clock_real_ns(), run->elapsed_ns, error);
}

static int understand(struct options *options, struct error *error)
{
	options->duration_s = SECONDS_DEFAULT;
	if (options->nr_words > 1)
		return error_set(error, -EINVAL, "unexpected argument \"%s\"", options->words[1]);
	return options->nr_words ? seconds_parse(options->words[0], DELAY_MAX_S,
						 &options->duration_s, error) : 0;
}

static int run_why(struct options *options)
{
	struct run run = RUN_INIT(options);
	struct error error = { "" };
	int err = begin(&run, &error);
	bool is_found;

	if (!err)
		err = count(&run, &error);
	if (!err)
		err = print(&run, &error);
	err = run_lines_close(&run, err, &error);
	is_found = run.view.nr_rows;
	run_close(&run);
	if (err && err != -EPIPE)
		return say_failure(err, &error);
	return is_found ? STATUS_FOUND : STATUS_OK;
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
	.understand = understand,
	.run = run_why,
};
