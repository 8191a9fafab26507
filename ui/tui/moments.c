// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks back: a second monitor plays the chosen moment for the view, while live providers go on. A
 * history file has no live providers, and needs one monitor only.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/when.h"
#include "history/past.h"
#include "history/recorder.h"
#include "ui/tui/session.h"

#define FLUSH_MS 200 /* the latest sample is stored within a few ms */
#define LIMIT_NS 1000000000 /* a sample so near to a time that is asked for is what was meant */

bool tui_plays_moment(const struct tui *tui)
{
	return tui->back.monitor ||
	       (source_plays_past(tui->source) && past_at(tui->source->past)->id);
}

static int open_monitor(struct tui *tui, struct error *error)
{
	struct past *past = tui->source->past;
	const struct monitor_config config = {
		.counts_all = true,
		.source = tui->facts.source,
		.cost = tui->facts.cost,
		.list = tui_is_recording(tui) ? history_recorded_players : history_players,
		.recording = {
			.recording = &tui->source->past,
			.guests = past_guests(past),
			.fields = source_fields(tui->source),
		},
	};

	if (!source_plays_past(tui->source))
		return monitor_open(&config, &tui->back.monitor, error);
	tui->back.monitor = tui->source->monitor;
	return 0;
}

/* Goes back to the latest moment, if now is shown. False, with a notice: there is none. */
bool tui_hold(struct tui *tui)
{
	struct error error = { "" };
	int err;

	if (tui->back.monitor)
		return true;
	if (tui->source->recorder)
		recorder_flush(tui->source->recorder, FLUSH_MS);
	err = past_go(tui->source->past, UINT64_MAX, &error);
	if (!err)
		err = open_monitor(tui, &error);
	tui->back.has_changed = false;
	if (err)
		tui_say(tui, err == -ENOENT ? "No sample is remembered yet" : error.text);
	return !err;
}

void tui_return_to_now(struct tui *tui)
{
	bool has_changed = tui->back.has_changed;

	if (!tui->back.monitor)
		return;
	if (source_plays_past(tui->source))
		past_go(tui->source->past, UINT64_MAX, &(struct error){ "" });
	else
		monitor_close(tui->back.monitor);
	tui->back.monitor = NULL;
	if (has_changed || source_plays_past(tui->source))
		tui_ask_now(tui);
}

/* A recording as a whole is no moment: t leads to the last moment, T to the first. */
static void enter_recording(struct tui *tui, bool is_back)
{
	if (is_back)
		tui_toggle_hold(tui);
	else
		tui_go_to_first(tui);
}

static void step_back(struct tui *tui)
{
	tui_step_time(tui, true);
}

static void step_forth(struct tui *tui)
{
	tui_step_time(tui, false);
}

/* A visit to some views makes counting begin anew: what was taken then has no rates. */
static bool is_hole(const struct tui *tui)
{
	const struct facts *facts = monitor_facts(tui->back.monitor);
	struct exits exits = exits_choose(facts, false, false);

	return source_has_now(tui->source->kind) && exits.rank &&
	       !facts->stats->elapsed_ns[exits.source];
}

/* Shows the moment, or the next one that is no hole. Returns what stops it. */
static int show_stepped(struct tui *tui, bool is_back, struct error *error)
{
	int err = 0;

	tui_show_moment(tui);
	while (!err && is_hole(tui)) {
		err = past_step(tui->source->past, is_back, error);
		if (!err)
			tui_show_moment(tui);
	}
	return err;
}

void tui_step_time(struct tui *tui, bool is_back)
{
	bool was_back = tui->back.monitor;
	struct error error = { "" };
	int err;

	if (!was_back && tui_is_recording(tui)) {
		enter_recording(tui, is_back);
		return;
	}
	if (!was_back && !is_back) {
		tui_say(tui, "This is now: t goes back");
		return;
	}
	if (!tui_hold(tui))
		return;
	err = past_step(tui->source->past, is_back, &error);
	if (!err)
		err = show_stepped(tui, is_back, &error);
	if (err == -ENOENT && !is_back && tui_is_recording(tui)) {
		tui_say(tui, "This is the last sample; Space shows the entire recording");
		return;
	}
	if (err == -ENOENT && !is_back) {
		tui_return_to_now(tui);
		return;
	}
	if (err)
		tui_say(tui, err == -ENOENT ? "No earlier sample is remembered" : error.text);
	if (err == -EAGAIN)
		tui->again = is_back ? step_back : step_forth;
	if (err)
		tui_show_moment(tui);
}

void tui_go_to_first(struct tui *tui)
{
	struct error error = { "" };

	if (!tui_hold(tui))
		return;
	if (past_go(tui->source->past, 0, &error) < 0)
		tui_say(tui, error.text);
	tui_show_moment(tui);
}

void tui_toggle_hold(struct tui *tui)
{
	if (tui->back.monitor)
		tui_return_to_now(tui);
	else if (tui_hold(tui))
		tui_show_moment(tui);
}

/* ---- a history file */

/* Sets the file's latest moment. False: there is no later one than before. */
static bool go_to_end(struct tui *tui)
{
	uint64_t id = past_at(tui->source->past)->id;

	if (past_go(tui->source->past, UINT64_MAX, &(struct error){ "" }) < 0)
		return false;
	tui->back.end_ns = past_at(tui->source->past)->time_ns;
	return past_at(tui->source->past)->id != id;
}

void tui_follow_file(struct tui *tui)
{
	if (!source_plays_past(tui->source) || tui->back.monitor || !go_to_end(tui))
		return;
	tui_choose_then(tui);
	tui_ask_now(tui);
}

void tui_take_news(struct tui *tui)
{
	void (*again)(struct tui *tui) = tui->again;
	uint64_t nr;

	if (read(past_news_fd(tui->source->past), &nr, sizeof(nr)) != sizeof(nr))
		return;
	tui->again = NULL;
	if (again) {
		tui_unsay(tui);
		again(tui);
	} else {
		tui_follow_file(tui);
	}
}

void tui_begin_at(struct tui *tui, uint64_t time_ns)
{
	if (!source_plays_past(tui->source))
		return;
	go_to_end(tui);
	if (time_ns == UINT64_MAX || !tui_hold(tui))
		return;
	past_go_to(tui->source->past, time_ns, &(struct error){ "" });
	tui_show_moment(tui);
}

bool tui_shows_machines(const struct tui *tui)
{
	return tui->source->past && past_has_machines(tui->source->past) && !tui->back.machine[0];
}

int tui_enter_machine(struct tui *tui, const char *machine)
{
	struct past *past = tui->source->past;
	char name[NAME_SIZE]; /* a copy: the inventory changes below */
	struct error error = { "" };
	int err;

	snprintf(name, sizeof(name), "%s", machine);
	if (strcmp(tui->back.machine, name) == 0)
		return 0;
	err = past_enter(past, name, &error);
	if (!err && tui->back.monitor)
		err = past_go_to(past, past_at(past)->time_ns, &error);
	else if (!err)
		err = past_go(past, UINT64_MAX, &error);
	if (err) {
		past_enter(past, tui->back.machine, &(struct error){ "" });
		tui_say(tui, error.text[0] ? error.text : strerror(-err));
		return err;
	}
	memcpy(tui->back.machine, name, sizeof(name));
	return 0;
}

/* ---- jumps */

/* The present, or the end of a recording or a history. */
static uint64_t end_ns(const struct tui *tui)
{
	const struct source_recording *recording = &tui->source->recording;

	if (tui_is_recording(tui))
		return recording->start_ns + recording->span_ns;
	return source_plays_past(tui->source) ? tui->back.end_ns : clock_real_ns();
}

static uint64_t shown_ns(const struct tui *tui, uint64_t now_ns)
{
	return tui->back.monitor || source_plays_past(tui->source) ?
		       past_at(tui->source->past)->time_ns : now_ns;
}

/* A time before the first sample leads to that one, which must not look as if it were meant. */
static void say_limit(struct tui *tui, uint64_t to_ns)
{
	uint64_t at_ns = past_at(tui->source->past)->time_ns;
	char text[128], at[WHEN_SIZE];

	if (tui_is_recording(tui) || to_ns >= at_ns || at_ns - to_ns < LIMIT_NS)
		return;
	when_format(at, sizeof(at), at_ns, clock_real_ns());
	snprintf(text, sizeof(text), "Nothing is remembered before this sample, of %s", at);
	tui_say(tui, text);
}

static int jump(struct tui *tui, const char *text, struct error *error)
{
	uint64_t now_ns = end_ns(tui), to_ns;
	struct when_origin origin = { now_ns, shown_ns(tui, now_ns) };
	int err;

	if (!text[0])
		return 0;
	if (tui_is_recording(tui) && !tui->back.monitor && text[0] == '+')
		origin.shown_ns = tui->source->recording.start_ns; /* forward into the recording */
	err = when_parse(text, &origin, &to_ns, error);
	if (err)
		return err;
	if (!tui_hold(tui))
		return 0;
	err = past_go_to(tui->source->past, to_ns, error);
	tui_show_moment(tui);
	if (!err)
		say_limit(tui, to_ns);
	return err;
}

void tui_prompt_time(struct tui *tui)
{
	tui_open_prompt(tui, tui_is_recording(tui) ?
			"Time (0:00:02.5), back by (250ms) or forward (+30s): " :
			"Time (03:12), back by (5m) or forward (+5m): ", "", jump);
}

/* The screen's memory has no long exits: the live list is shown up to the moment. */
void tui_follow_long(struct tui *tui)
{
	const struct source_recording *recording = &tui->source->recording;

	tui->query->until_ns = 0;
	if (!tui->back.monitor)
		return;
	tui->query->until_ns = past_at(tui->source->past)->time_ns;
	if (tui_is_recording(tui))
		tui->query->until_ns -= recording->start_ns;
	tui->facts.long_exits = monitor_facts(tui->source->monitor)->long_exits;
}

/* ---- the title */

/* As many digits as tell the moments apart, and as the interval has. */
static int digits_of(double step_s)
{
	int digits = 0;

	while (digits < 9 && (step_s < 0.999 || fabs(step_s - round(step_s)) > 0.001)) {
		step_s *= 10;
		digits++;
	}
	return digits;
}

/* A recording has no time of day. */
static void describe_recorded(struct tui *tui)
{
	const struct source_recording *recording = &tui->source->recording;
	struct screen *screen = &tui->screen;

	screen->then[0] = '\0';
	if (!tui->back.monitor)
		return;
	snprintf(screen->clock, sizeof(screen->clock), "%.*f s", digits_of(recording->interval_s),
		 (double)(past_at(tui->source->past)->time_ns - recording->start_ns) / 1e9);
	snprintf(screen->then, sizeof(screen->then), "at %s from the start", screen->clock);
}

void tui_describe_moment(struct tui *tui)
{
	struct screen *screen = &tui->screen;
	uint64_t now_ns = clock_real_ns();
	char ago[WHEN_SIZE], at[WHEN_SIZE];

	if (tui_is_recording(tui)) {
		describe_recorded(tui);
		return;
	}
	if (source_plays_past(tui->source)) {
		screen->host = past_segment(tui->source->past)->host;
		screen->kvm = past_segment(tui->source->past)->arch;
		screen->nr_cpus = past_segment(tui->source->past)->nr_cpus;
		screen->engine = past_segment(tui->source->past)->engine;
	}
	when_format(screen->clock, sizeof(screen->clock), shown_ns(tui, now_ns), now_ns);
	screen->then[0] = '\0';
	if (!tui->back.monitor)
		return;
	when_format(at, sizeof(at), shown_ns(tui, now_ns), now_ns);
	when_format_ago(ago, sizeof(ago), shown_ns(tui, now_ns), now_ns);
	snprintf(screen->then, sizeof(screen->then), "paused at %s, %s", at, ago);
}
