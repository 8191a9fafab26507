// SPDX-License-Identifier: GPL-2.0-or-later
/* Passes the query to the monitor, sets the timer, shows notices, opens prompts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/text.h"
#include "lib/timer.h"
#include "history/past.h"
#include "history/recorder.h"
#include "ui/numbers.h"
#include "ui/tui/session.h"

#define SHORT_NAME_WIDTH 32

void tui_say(struct tui *tui, const char *text)
{
	text_put(tui->screen.notice, sizeof(tui->screen.notice), "%s", text);
	tui->said_ns = clock_now_ns();
}

const char *tui_short_name(const struct tui *tui, const char *name, char *ret_name)
{
	format_middle(ret_name, SHORT_NAME_SIZE, name, SHORT_NAME_WIDTH, tui->screen.is_utf8);
	return ret_name;
}

void tui_unsay(struct tui *tui)
{
	tui->screen.notice[0] = '\0';
	tui->said_ns = 0;
}

void tui_set_timer(struct tui *tui, double first_s)
{
	timer_set(tui->sampling.timer, first_s, tui->sampling.delay_s);
}

void tui_open_prompt(struct tui *tui, const char *label, const char *text, prompt_fn fn)
{
	prompt_begin(&tui->screen.prompt, label, text);
	tui->screen.has_prompt = true;
	tui->prompt_fn = fn;
}

void tui_close_prompt(struct tui *tui)
{
	tui->screen.has_prompt = false;
	tui->screen.page = PAGE_TABLE;
}

struct monitor *tui_monitor(const struct tui *tui)
{
	return tui->back.monitor ? tui->back.monitor : tui->source->monitor;
}

static void keep_sample(const struct tui *tui, struct recorder *recorder)
{
	if (recorder)
		recorder_take(recorder, monitor_facts(tui->source->monitor), clock_real_ns());
}

void tui_sample(struct tui *tui)
{
	monitor_sample(tui->source->monitor);
	tui->sampling.taken_ns = clock_now_ns();
	keep_sample(tui, tui->source->recorder);
	keep_sample(tui, tui->config.writer);
}

/* What was counted since the latest sample would be missing in the pictures over time. */
static void keep_what_was_counted(struct tui *tui)
{
	const struct sampling *sampling = &tui->sampling;
	uint64_t least_ns = (uint64_t)(FIRST_DELAY_S * 1e9);

	if (sampling->taken_ns && !sampling->is_opening && tui->source->recorder &&
	    clock_now_ns() - sampling->taken_ns >= least_ns &&
	    monitor_begins_anew(tui->source->monitor, tui->query))
		tui_sample(tui);
}

void tui_ask_now(struct tui *tui)
{
	struct sampling *sampling = &tui->sampling;
	struct error error = { "" };

	keep_what_was_counted(tui);
	if (monitor_want(tui->source->monitor, tui->query, &error) < 0)
		tui_say(tui, error.text);
	if (!monitor_has_new_counts(tui->source->monitor))
		return;
	sampling->is_opening = true;
	sampling->awaits_first = true;
	sampling->due = 2;
}

void tui_choose_then(struct tui *tui)
{
	struct guest_choice *choice = &tui->guest.choice;

	if (!source_plays_past(tui->source) || !choice->word[0] || choice->newest ||
	    choice->id != tui->query->guest)
		return;
	if (guest_choice_then(choice, past_guests(tui->source->past), &(struct error){ "" }) == 0)
		tui->query->guest = choice->id;
}

void tui_show_moment(struct tui *tui)
{
	struct error error = { "" };
	int err = 0;

	tui_choose_then(tui);
	err = monitor_want(tui->back.monitor, tui->query, &error);
	if (!err)
		monitor_sample(tui->back.monitor);
	if (err)
		tui_say(tui, error.text[0] ? error.text : strerror(-err));
}

void tui_ask(struct tui *tui)
{
	if (!tui->back.monitor) {
		tui_ask_now(tui);
		return;
	}
	tui->back.has_changed = true;
	tui_show_moment(tui);
}

void tui_set_filter(struct tui *tui, struct pattern *filter)
{
	pattern_free(tui->sampling.filter);
	tui->sampling.filter = filter;
	tui->query->filter = filter;
	tui_ask(tui);
}

void tui_set_delay(struct tui *tui, double delay_s)
{
	tui->sampling.delay_s = delay_s;
	tui_set_timer(tui, tui->sampling.delay_s);
}
