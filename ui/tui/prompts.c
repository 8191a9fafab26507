// SPDX-License-Identifier: GPL-2.0-or-later
/* The prompts in the last line, and what their text does. */
#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/units.h"
#include "core/guests/guests.h"
#include "ui/tui/actions.h"

static int take_filter(struct tui *tui, const char *text, struct error *why)
{
	struct pattern *filter = NULL;
	int err = text[0] ? pattern_new(text, &filter, why) : 0;

	if (!err)
		tui_set_filter(tui, filter);
	return err;
}

static int take_search(struct tui *tui, const char *text, struct error *why)
{
	struct pattern *search = NULL;
	int err = text[0] ? pattern_new(text, &search, why) : 0;

	if (err)
		return err;
	pattern_free(tui->search);
	tui->search = search;
	tui_find_next(tui);
	return 0;
}

static int take_delay(struct tui *tui, const char *text, struct error *why)
{
	double delay_s = DELAY_DEFAULT_S;
	int err = text[0] ? seconds_parse(text, DELAY_MAX_S, &delay_s, why) : 0;

	if (!err)
		tui_set_delay(tui, delay_s);
	return err;
}

/* ---- the guest ---- */

/* How many guests match the text, and the first of these guests. */
static size_t count_matches(const struct guests *guests, const char *typed,
			  const struct guest **ret_first)
{
	const struct guest *guest;
	size_t nr = 0;

	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		if (screen_matches_guest(guest, typed) && nr++ == 0)
			*ret_first = guest;
	}
	return nr;
}

/*
 * The guest with this pid or this whole name, else the only guest that matches the text. NULL: see
 * why.
 */
static const struct guest *find_guest(const struct guests *guests, const char *text,
				      struct error *why)
{
	bool is_number = strspn(text, "0123456789") == strlen(text);
	const struct guest *guest = NULL;
	size_t nr;

	/* A pid has fewer than nine digits, and nine digits fit an int. */
	if (is_number && strlen(text) <= 9)
		guest = guests_by_pid(guests, atoi(text));
	if (guest || guests_advise(guests_by_name(guests, text, &guest, why), why,
				   "type the pid") != -ENOENT)
		return guest;
	nr = count_matches(guests, text, &guest);
	if (nr == 1)
		return guest;
	if (nr)
		error_set(why, -ENOENT, "%zu guests match: choose one with the arrows", nr);
	else if (is_number)
		error_set(why, -ENOENT, "no guest has a process or thread %s", text);
	return NULL;
}

static int take_guest(struct tui *tui, const char *text, struct error *why)
{
	const struct guests *guests = tui->facts.guests;
	const struct guest *guest = guests_by_id(guests, tui->screen.chosen_guest);

	if (!guest && (!text[0] || strcmp(text, "0") == 0)) {
		tui_set_guest(tui, GUEST_ANY);
		return 0;
	}
	if (!guest)
		guest = find_guest(guests, text, why);
	if (!guest)
		return -ENOENT;
	tui_set_guest(tui, guest->id);
	return 0;
}

/* Moves up and down among the guests that match the text. */
static void choose_guest(struct tui *tui, long by)
{
	const struct guests *guests = tui->facts.guests;
	const struct guest *guest;
	char typed[PROMPT_BYTES];
	long at = -1, nr = 0, chosen = 0;

	prompt_text(&tui->screen.prompt, typed, sizeof(typed));
	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		if (!screen_matches_guest(guest, typed))
			continue;
		if (guest->id == tui->screen.chosen_guest)
			at = nr;
		nr++;
	}
	at = at < 0 ? 0 : at + by;
	at = at >= nr ? nr - 1 : at < 0 ? 0 : at;
	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		if (screen_matches_guest(guest, typed) && chosen++ == at)
			tui->screen.chosen_guest = guest->id;
	}
}

/* Returns whether the key moves among the guests. */
static bool press_choice(struct tui *tui, const struct terminal_event *event)
{
	long page = tui->screen.page_rows > 1 ? (long)tui->screen.page_rows - 1 : 1;

	if (tui->screen.page != PAGE_GUESTS || !event->is_key)
		return false;
	switch (event->code) {
	case KEY_UP:
		choose_guest(tui, -1);
		return true;
	case KEY_DOWN:
		choose_guest(tui, 1);
		return true;
	case KEY_PPAGE:
		choose_guest(tui, -page);
		return true;
	case KEY_NPAGE:
		choose_guest(tui, page);
		return true;
	default:
		return false;
	}
}

void tui_prompt_guest(struct tui *tui)
{
	tui_open_prompt(tui, "Guest or pid (arrows choose, Enter: all): ", "", take_guest);
	tui->screen.page = PAGE_GUESTS;
	tui->screen.chosen_guest = GUEST_ANY;
}

void tui_prompt_delay(struct tui *tui)
{
	char label[64];

	snprintf(label, sizeof(label), "Seconds (now %.1f, Enter: %.1f): ", tui->sampling.delay_s,
		 DELAY_DEFAULT_S);
	tui_open_prompt(tui, label, "", take_delay);
}

void tui_prompt_filter(struct tui *tui)
{
	tui_open_prompt(tui, "Filter (regex): ",
			tui->query->filter ? pattern_text(tui->query->filter) : "", take_filter);
}

void tui_prompt_search(struct tui *tui)
{
	tui_open_prompt(tui, "Search (regex): ", "", take_search);
}

void tui_type_prompt(struct tui *tui, const struct terminal_event *event)
{
	struct prompt *prompt = &tui->screen.prompt;
	struct error why = { "" };
	char text[PROMPT_BYTES];
	size_t len = prompt->len;

	if (press_choice(tui, event))
		return;
	switch (prompt_type(prompt, event->is_key, event->code)) {
	case PROMPT_GOES_ON:
		if (prompt->len != len) /* every edit changes the length */
			tui->screen.chosen_guest = GUEST_ANY;
		return;
	case PROMPT_LEFT:
		tui_close_prompt(tui);
		return;
	case PROMPT_DONE:
		break;
	}
	prompt_text(prompt, text, sizeof(text));
	if (tui->prompt_fn(tui, text, &why) == 0)
		tui_close_prompt(tui);
	else
		snprintf(prompt->error, sizeof(prompt->error), "%.*s",
			 (int)sizeof(prompt->error) - 1, why.text);
}
