// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The screen's loop: a timer takes samples, keys change the query and the screen's state, and a new
 * picture follows. A prompt does not block: samples go on while the user types.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/array.h"
#include "lib/text.h"
#include "lib/timer.h"
#include "history/past.h"
#include "history/recorder.h"
#include "host/machine.h"
#include "ui/screen/picture.h"
#include "ui/tui/session.h"
#include "core/views/query.h"

#define OPENING_MS 10 /* between two checks whether all events are open */

/* ---- sampling and drawing ---- */

static void take_sample(struct tui *tui)
{
	if (monitor_revive(tui->source->monitor))
		tui_ask_now(tui);
	tui_sample(tui);
	/* Played: rates are known at once. */
	tui->sampling.due -= tui->sampling.due > 0;
	if (source_has_now(tui->source->kind))
		tui->screen.nr_cpus = host_cpus(tui->source->env);
	else
		tui->sampling.due = 0;
}

/* The size comes first: how much of the past is shown depends on it. */
static void rebuild(struct tui *tui)
{
	terminal_resize(tui->terminal, &tui->grid);
	tui->facts = *monitor_facts(tui_monitor(tui));
	tui_follow_long(tui);
	tui_follow_worst(tui);
	view_build(&tui->view, tui->query, &tui->facts);
	tui_follow_cursor(tui);
	tui_follow_history(tui);
	tui_follow_series(tui);
}

static void draw(struct tui *tui)
{
	struct screen *screen = &tui->screen;

	screen->query = tui->query;
	screen->facts = &tui->facts;
	screen->engine = monitor_engine(tui->source->monitor);
	screen->filter = tui->query->filter ? pattern_text(tui->query->filter) : NULL;
	screen->delay_s = tui_is_recording(tui) ? tui->source->recording.interval_s :
						  tui->sampling.delay_s;
	screen->empty = tui_why_empty(tui);
	screen->can_go_back = tui->trail.nr > 0;
	screen->has_hosts = tui_shows_machines(tui);
	tui_describe_moment(tui);
	tui_describe(tui);
	tui_build_details(tui);
	screen_paint(screen, &tui->grid);
	terminal_show(tui->terminal, &tui->grid, screen->focus_row, screen->prompt_col);
}

/* ---- the loop ---- */

/* Goes on with the guest that follows the one that is shown, and says so. */
static void follow_guest(struct tui *tui)
{
	struct guest_choice *choice = &tui->guest.choice;
	const struct guest *guest = NULL;
	char text[SHORT_NAME_SIZE + 64], name[SHORT_NAME_SIZE];

	if (tui->query->guest != GUEST_ALL && tui->query->guest == choice->id)
		guest = guest_choice_follow(choice, tui->facts.guests);
	if (!guest)
		return;
	snprintf(text, sizeof(text), "%s is back as pid %d: counting anew",
		 tui_short_name(tui, guest->name, name), (int)guest->pid);
	tui->query->guest = guest->id;
	tui->screen.has_cursor = false;
	tui_ask(tui);
	tui_say(tui, text);
}

static void tick(struct tui *tui)
{
	if (!timer_take(tui->sampling.timer))
		return;
	if (!source_has_now(tui->source->kind)) {
		tui_follow_file(tui);
		return;
	}
	take_sample(tui);
	if (!tui->back.monitor)
		follow_guest(tui);
	tui->sampling.nr++;
	if (tui->config.samples && tui->sampling.nr > tui->config.samples)
		tui->quit = true;
}

/* The first sample for a changed query is taken as soon as everything is open. */
static void look_opening(struct tui *tui)
{
	struct sampling *sampling = &tui->sampling;

	if (!monitor_is_ready(tui->source->monitor))
		return;
	sampling->is_opening = false;
	if (!sampling->awaits_first)
		return;
	sampling->awaits_first = false;
	take_sample(tui);
	tui_set_timer(tui, FIRST_DELAY_S < sampling->delay_s ? FIRST_DELAY_S : sampling->delay_s);
}

/* Ctrl-C closes an open prompt, as in a shell; a signal of kill(1) always ends the program. */
static void take_signals(struct tui *tui)
{
	struct signalfd_siginfo info;

	while (read(tui->config.signals, &info, sizeof(info)) == sizeof(info)) {
		bool is_typed = info.ssi_signo == SIGINT && info.ssi_code == SI_KERNEL;

		if (is_typed && tui->screen.has_prompt)
			tui_close_prompt(tui);
		else if (info.ssi_signo != SIGWINCH)
			tui->quit = true;
	}
}

/* Each key acts on the table as the key before left it; the loop rebuilds it after the last one. */
static void take_keys(struct tui *tui)
{
	struct terminal_event event;

	for (bool is_first = true; !tui->quit && terminal_event(tui->terminal, &event);
	     is_first = false) {
		if (!is_first)
			rebuild(tui);
		tui_unsay(tui); /* the notice belongs to the key before */
		tui->again = NULL;
		tui_press(tui, &event);
		if (tui->sampling.is_opening)
			look_opening(tui);
	}
}

/* How many ms to sleep without an event; -1: no limit. */
static int idle_ms(const struct tui *tui)
{
	if (tui->sampling.is_opening)
		return OPENING_MS;
	/* A notice disappears even if the interval is long. */
	return tui->said_ns ? 1000 : -1;
}

static void loop(struct tui *tui)
{
	while (!tui->quit) {
		struct pollfd fds[] = {
			{ .fd = tui->config.signals, .events = POLLIN },
			{ .fd = tui->sampling.timer, .events = POLLIN },
			{ .fd = tui->source->past ? past_news_fd(tui->source->past) : -1,
			  .events = POLLIN },
		};
		unsigned int woken = terminal_wait(tui->terminal, fds, ARRAY_SIZE(fds),
						   idle_ms(tui));

		if (fds[0].revents)
			take_signals(tui);
		if (fds[1].revents)
			tick(tui);
		if (fds[2].revents)
			tui_take_news(tui);
		if (woken & TERMINAL_KEYS)
			take_keys(tui);
		if (woken & TERMINAL_GONE)
			return;
		if (tui->sampling.is_opening)
			look_opening(tui);
		if (tui->quit)
			return;
		rebuild(tui);
		draw(tui);
	}
}

static void describe_source(struct tui *tui)
{
	struct screen *screen = &tui->screen;

	screen->is_utf8 = terminal_is_utf8();
	screen->has_palette = terminal_has_palette(tui->terminal);
	screen->recording = tui_is_recording(tui) ? &tui->source->recording : NULL;
	if (!source_has_now(tui->source->kind))
		return;
	host_name(tui->source->env, tui->host, sizeof(tui->host));
	screen->host = tui->host;
	screen->kvm = tui->source->env->arch->name;
	screen->nr_cpus = host_cpus(tui->source->env);
}

static void release(struct tui *tui)
{
	close(tui->sampling.timer);
	terminal_close(tui->terminal);
	grid_release(&tui->grid);
	view_release(&tui->view);
	tui_release_details(tui);
	tui_release_comparison(tui);
	tui_release_worst(tui);
	free(tui->series.points);
	free(tui->history.exits.points);
	pattern_free(tui->search);
	if (tui->query->filter == tui->sampling.filter)
		tui->query->filter = NULL;
	pattern_free(tui->sampling.filter);
	if (tui->back.monitor != tui->source->monitor)
		monitor_close(tui->back.monitor);
}

int tui_run(const struct tui_config *config, struct error *error)
{
	const bool has_now = source_has_now(config->source->kind);
	struct tui tui = {
		.config = *config,
		.source = config->source,
		.query = config->query,
		.preferences = config->preferences ? *config->preferences :
						     (struct preferences){ .view = NULL },
		.facts = *monitor_facts(config->source->monitor),
		.sampling = {
			.timer = timer_open(),
			.delay_s = config->delay_s,
			.is_opening = true,
			.awaits_first = true,
			.due = 2,
		},
	};
	int err =
		tui.sampling.timer < 0 ?
			error_set(error, tui.sampling.timer, "no timer for the samples: %s",
				  strerror(-tui.sampling.timer)) :
			terminal_open(!config->no_mouse,
				      tui.preferences.is_monochrome ? COLOURS_NONE :
				      tui.preferences.is_dark	    ? COLOURS_DARK : COLOURS_ANY,
				      &tui.terminal, error);

	if (!err) {
		config->query->folds_ended = config->query->marks_shared_names = true;
		config->query->most_rows = SCREEN_ROWS;
		if (error->text[0])
			tui_say(&tui, error->text);
		error->text[0] = '\0';
		tui.screen.view = &tui.view;
		tui.screen.hide = tui.preferences.hide;
		tui_begin_order(&tui);
		if (config->choice)
			tui.guest.choice = *config->choice;
		snprintf(tui.back.machine, sizeof(tui.back.machine), "%s",
			 config->host ? config->host : "");
		describe_source(&tui);
		if (has_now) { /* a frame needs no counts, and loading programs takes longer */
			rebuild(&tui);
			draw(&tui);
		}
		err = monitor_want(config->source->monitor, config->query, error);
	}
	if (!err) {
		tui_begin_at(&tui, config->at_ns);
		if (!has_now) /* a recording and a history have their samples already */
			look_opening(&tui);
		rebuild(&tui);
		draw(&tui);
		loop(&tui);
	}
	release(&tui);
	return err;
}
