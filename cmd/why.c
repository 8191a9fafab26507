// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop why`: counts for a few seconds, then prints what makes guests slow, worst first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/delay.h"
#include "lib/say.h"
#include "cmd/command.h"
#include "cmd/live.h"
#include "cmd/option.h"
#include "cmd/providers.h"
#include "cmd/options.h"
#include "cmd/thresholds_file.h"
#include "host/env.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "ui/lines/lines.h"
#include "core/views/build.h"

#define SECONDS_USUAL 5.0

/* Rules use these sources; but with these alone, nothing found does not mean that all is well. */
#define ASIDES (1U << PROVIDER_HOST | 1U << PROVIDER_DEBUGFS | 1U << PROVIDER_STATS)

struct why_run {
	const struct options *options;
	struct thresholds thresholds;
	struct env env;
	struct live live;
	struct monitor *monitor;
	struct query query;
	struct guest_choice choice; /* of -g and -p */
	struct view view;
	uint64_t elapsed_ns;
};

static int choose_guest(struct why_run *run, struct why *why)
{
	const struct options *options = run->options;
	int err = monitor_find_guests(run->monitor, why);

	if (err || (!options->guest && !options->pid))
		return err;
	guest_choice_init(&run->choice, options->guest, options->pid);
	err = guest_choice_now(&run->choice, monitor_facts(run->monitor)->guests, why);
	run->query.guest = run->choice.id;
	return err;
}

/* The guest that bears the name at the end is the one that there is something to do about. */
static void follow_guest(struct why_run *run)
{
	const struct guest *guest =
		guest_choice_follow(&run->choice, monitor_facts(run->monitor)->guests);
	struct why news = { "" };

	if (!guest)
		return;
	why_set(&news, 0, "%s is back as pid %d: findings are of this one only", guest->name,
		(int)guest->pid);
	say(news.text);
	run->query.guest = guest->id;
}

/* Without times of exits "nothing found" would say little. */
static int begin(struct why_run *run, struct why *why)
{
	struct monitor_config config = {
		.env = &run->env,
		.providers = 1U << PROVIDER_EXITS | 1U << PROVIDER_TRACEPOINT | ASIDES,
		.asides = ASIDES,
	};
	int err = env_init(&run->env, run->options->sysroot, why);

	if (!err)
		err = thresholds_load(run->options->thresholds, run->env.root, &run->thresholds,
				      why);
	if (!err)
		err = live_init(&run->live, false, false);
	if (!err)
		config.list = providers_of(&run->env);
	if (!err)
		err = monitor_open(&config, &run->monitor, why);
	if (!err)
		err = choose_guest(run, why);
	if (err)
		return err;
	run->query.type = view_type_by_name("why");
	run->query.sort = run->query.type->sort;
	run->query.thresholds = &run->thresholds;
	err = monitor_want(run->monitor, &run->query, why);
	if (!err && monitor_no_exits(run->monitor))
		err = why_set(why, -EIO, "%s", monitor_no_exits(run->monitor));
	return err;
}

static int take_sample(void *arg, enum woken woken, struct why *why)
{
	struct why_run *run = arg;

	(void)woken; /* the last sample is taken at the end, also after a signal */
	return live_sample(&run->live, run->monitor, why);
}

static int count(struct why_run *run, struct why *why)
{
	int err;

	live_wait_open(&run->live, run->monitor);
	err = take_sample(run, WOKEN_TICK, why);
	if (!err)
		err = live_loop(&run->live, run->options->duration_s, 1, take_sample, run, why);
	run->elapsed_ns = monitor_elapsed_ns(run->monitor);
	follow_guest(run);
	return err;
}

static void say_nothing_found(const struct why_run *run)
{
	size_t nr = guests_count(monitor_facts(run->monitor)->guests);

	if (!nr)
		printf("No guest is running.\n");
	else if (run->query.guest != GUEST_ANY)
		printf("Nothing found in %.1f s.\n", (double)run->elapsed_ns / 1e9);
	else
		printf("Nothing found in %.1f s: %zu guest%s.\n", (double)run->elapsed_ns / 1e9,
		       nr, nr == 1 ? "" : "s");
}

static int print(struct why_run *run, struct why *why)
{
	struct lines_config config = {
		.format = LINES_TABLE,
		.room = lines_room(),
		.path = run->options->output,
		.overwrites = true,
	};
	int err = view_build(&run->view, &run->query, monitor_facts(run->monitor));

	if (err)
		return err;
	say(run->view.note);
	if (run->options->json || run->options->csv) {
		config.format = run->options->json ? LINES_JSON : LINES_ROWS;
	} else if (!run->view.nr_rows) {
		say_nothing_found(run);
		return 0;
	}
	live_begin_write(&run->live);
	err = lines_write_once(&config, &run->view, clock_real_ns(), run->elapsed_ns, why);
	live_end_write(&run->live);
	return err == -EPIPE || err == -EINTR ? 0 : err;
}

static int understand(struct options *options, struct why *why)
{
	options->duration_s = SECONDS_USUAL;
	if (options->nr_words > 1)
		return why_set(why, -EINVAL, "unexpected argument \"%s\"", options->words[1]);
	return options->nr_words ? seconds_parse(options->words[0], DELAY_MAX_S,
						 &options->duration_s, why) : 0;
}

static int run_why(struct options *options)
{
	struct why_run run = { .options = options, .live.signals = -1 };
	struct why why = { "" };
	int err;

	err = begin(&run, &why);
	if (!err)
		err = count(&run, &why);
	if (!err)
		err = print(&run, &why);
	if (err)
		return say_failure(err, &why);
	return run.view.nr_rows ? STATUS_FOUND : STATUS_OK;
}

const struct command why_command = {
	.name = "why",
	.help = "say what makes guests slow, and what to do",
	.usage = "Usage: kvmtop why [OPTION]... [SECONDS]\n"
		 "Counts for SECONDS (default: 5), and prints what makes guests slow, worst\n"
		 "first: the evidence, and what to do.\n",
	.footer = "Exit status: 0 nothing found, 1 failure, 2 wrong usage, 3 something found.\n"
		  "More: man kvmtop-why\n",
	.command = { .works = MODE_WHY },
	.understand = understand,
	.run = run_why,
};
