// SPDX-License-Identifier: GPL-2.0-or-later
/* The prompts in the last line, and what their text does. */
#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "lib/units.h"
#include "core/guests/guests.h"
#include "ui/numbers.h"
#include "ui/tui/session.h"

static int take_filter(struct tui *tui, const char *text, struct error *error)
{
	struct pattern *filter = NULL;
	int err = text[0] ? pattern_new(text, &filter, error) : 0;

	if (!err)
		tui_set_filter(tui, filter);
	return err;
}

static int take_search(struct tui *tui, const char *text, struct error *error)
{
	struct pattern *search = NULL;
	int err = text[0] ? pattern_new(text, &search, error) : 0;

	if (err)
		return err;
	pattern_free(tui->search);
	tui->search = search;
	tui_find_next(tui);
	return 0;
}

static int take_delay(struct tui *tui, const char *text, struct error *error)
{
	double delay_s = DELAY_DEFAULT_S;
	int err = text[0] ? seconds_parse(text, DELAY_MIN_S, DELAY_MAX_S, &delay_s, error) : 0;

	if (!err)
		tui_set_delay(tui, delay_s);
	return err;
}

/* ---- the guest ---- */

/* Whether the text is a part of the guest's name or title, or the start of its pid. */
static bool matches_guest(const struct guest *guest, const char *typed)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)guest->pid);
	return strstr(guest->name, typed) || strstr(guest->words.text[WORD_TITLE], typed) ||
	       strncmp(pid, typed, strlen(typed)) == 0;
}

/* How many guests match the text, and the first of these guests. */
static size_t count_matches(const struct guests *guests, const char *typed,
			  const struct guest **ret_first)
{
	const struct guest *guest;
	size_t nr = 0;

	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		if (matches_guest(guest, typed) && nr++ == 0)
			*ret_first = guest;
	}
	return nr;
}

/*
 * The guest with this pid or this whole name, else the only guest that matches the text. NULL: see
 * why.
 */
static const struct guest *find_guest(const struct guests *guests, const char *text,
				      struct error *error)
{
	bool is_number = strspn(text, "0123456789") == strlen(text);
	const struct guest *guest = NULL;
	size_t nr;

	/* A pid has fewer than nine digits, and nine digits fit an int. */
	if (is_number && strlen(text) <= 9)
		guest = guests_by_pid(guests, atoi(text));
	if (guest || guests_advise(guests_by_name(guests, text, &guest, error), error,
				   "type the pid") != -ENOENT)
		return guest;
	nr = count_matches(guests, text, &guest);
	if (nr == 1)
		return guest;
	if (nr)
		error_set(error, -ENOENT, "%zu guests match: b lists all of them", nr);
	else if (is_number)
		error_set(error, -ENOENT, "no guest has a process or thread %s; b lists the "
			  "guests", text);
	return NULL;
}

static int take_guest(struct tui *tui, const char *text, struct error *error)
{
	const struct guests *guests = tui->facts.guests;
	const struct guest *guest;

	if (!text[0] || strcmp(text, "0") == 0) {
		tui_set_guest(tui, GUEST_ALL);
		return 0;
	}
	guest = find_guest(guests, text, error);
	if (!guest)
		return -ENOENT;
	tui_set_guest(tui, guest->id);
	return 0;
}

void tui_prompt_guest(struct tui *tui)
{
	tui_open_prompt(tui, "Guest or pid (Enter: all): ", "", take_guest);
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

/* ---- long exits: the key, and the threshold ---- */

static int take_threshold(struct tui *tui, const char *text, struct error *error)
{
	uint64_t longer_ns = LONG_EXITS_DEFAULT_NS;
	int err = text[0] ? duration_parse(text, &longer_ns, error) : 0;

	if (err)
		return err;
	if (tui_is_recording(tui) && longer_ns < tui->source->recording.longer_ns)
		return error_set(error, -EINVAL,
				 "for shorter ones start kvmtop report with --longer "
				 "and the time");
	tui->query->longer_ns = longer_ns ? longer_ns : 1;
	tui_ask(tui);
	return 0;
}

static void prompt_threshold(struct tui *tui)
{
	char label[96];
	char now[32], preset[32];

	format_duration(now, sizeof(now), tui->query->longer_ns);
	format_duration(preset, sizeof(preset), LONG_EXITS_DEFAULT_NS);
	snprintf(label, sizeof(label), "Longer than (now %s, Enter: %s): ", now, preset);
	tui_open_prompt(tui, label, "", take_threshold);
}

/* Lists the exits of the row's guest, vCPU and exit; halts only if a halt is selected. */
static bool enter_long(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	bool has_exit = row && query->type->groups & GROUP_REASON;

	(void)ret_sought;
	if (row && guests_by_id(facts->guests, row->guest) && row->guest != query->guest)
		query_narrow(query, row->guest);
	if (row && row->vcpu >= 0 && query->guest != GUEST_ALL) {
		query->has_vcpu = true;
		query->vcpu = row->vcpu;
	}
	query->has_halts = has_exit && row->is_idle;
	query->has_reason = has_exit;
	if (has_exit)
		query->reason = row->field;
	query->type = &view_long_exits;
	return true;
}

void tui_show_long(struct tui *tui)
{
	const struct view_type *type = tui->query->type;
	bool has_row = tui->screen.has_cursor && (type->groups || type == &view_hotspots);

	if (type == &view_long_exits)
		prompt_threshold(tui);
	else
		tui_enter_by(tui, has_row ? tui_selected_row(tui) : NULL, enter_long);
}

static bool enter_code(struct query *query, const struct view_row *row, const struct facts *facts,
		       const char **ret_sought)
{
	(void)ret_sought;
	return query_enter_code(query, row, facts);
}

/* Shows the code of the selected exit; without one, of what the query is about. */
void tui_show_code(struct tui *tui)
{
	const struct query *query = tui->query;
	bool has_exit = query->type->groups & GROUP_REASON || query->type == &view_hotspots ||
			query->type == &view_long_exits;

	if (has_exit && tui->screen.has_cursor)
		tui_enter_by(tui, tui_selected_row(tui), enter_code);
	else
		tui_show_view(tui, &view_where);
}

/* ---- typing ---- */

void tui_type_prompt(struct tui *tui, const struct terminal_event *event)
{
	struct prompt *prompt = &tui->screen.prompt;
	struct error error = { "" };
	char text[PROMPT_BYTES];

	switch (prompt_type(prompt, event->is_key, event->code)) {
	case PROMPT_GOES_ON:
		return;
	case PROMPT_LEFT:
		tui_close_prompt(tui);
		return;
	case PROMPT_DONE:
		break;
	}
	prompt_text(prompt, text, sizeof(text));
	if (tui->prompt_fn(tui, text, &error) == 0)
		tui_close_prompt(tui);
	else
		text_put(prompt->error, sizeof(prompt->error), "%s", error.text);
}
