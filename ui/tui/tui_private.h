/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tui_private - the state that the loop in tui.c shares with what keys do: keys.c, which knows
 * them; cursor.c, way.c and prompts.c, which do what they ask for; and empty.c.
 */
#ifndef KVMTOP_UI_TUI_TUI_PRIVATE_H
#define KVMTOP_UI_TUI_TUI_PRIVATE_H

#include <stdbool.h>
#include <time.h>

#include "ui/screen/screen.h"
#include "ui/screen/terminal.h"
#include "ui/tui/tui.h"

#define FIRST_DELAY_S 0.25 /* after a change: the first rates are wanted soon */

struct tui;

#define WAYS_MAX 8

/* What is selected: kept while its row is not there, for it may come back. */
struct selection {
	bool has_cursor;
	struct row_id cursor;
	size_t at;     /* where its row was when it was seen last */
	char name[64]; /* and what it was called */
};

/* Where Enter or b came from: all that Backspace brings back. */
struct way {
	const struct view_type *type;
	uint32_t guest, reason;
	int32_t vcpu;
	bool has_vcpu, has_reason;
	bool has_entered_guest;
	uint32_t guest_before;
	struct selection selection;
	size_t sort;
	bool reverse;
};

/* What the open prompt is for: takes the text, 0 or -errno with why. */
typedef int (*prompt_fn)(struct tui *tui, const char *text, struct why *why);

struct tui {
	struct tui_config config;
	struct query *query;
	struct terminal *terminal;
	struct grid grid;
	struct screen screen;
	struct view view;
	struct facts facts;     /* what the view is made from */
	struct pattern *filter; /* one that the user typed; the first is the caller's */
	struct pattern *asked_filter; /* the same of the question that was put last */
	struct pattern *search;
	prompt_fn prompt_fn;
	char host[64], guest_name[64];
	bool is_guest_named;
	struct way ways[WAYS_MAX];
	size_t nr_ways;
	bool has_entered_guest; /* by Enter; before that the query's guest was: */
	uint32_t guest_before;
	size_t row_at;          /* as in struct selection, of screen.cursor */
	char row_name[64];
	float history[STATS_HISTORY]; /* rates of exits, oldest first; < 0: none */
	uint32_t history_guest;       /* whose: GUEST_ANY, or one guest's */
	char sought[64];        /* the name of a row to be selected when it comes; "": none */
	char empty[320];
	int timer;
	double delay_s;
	bool is_opening, has_fresh_question;
	unsigned int samples_due; /* until the latest question has rates */
	bool has_put_off;       /* a question was asked while paused; the held sample must do */
	struct field_set put_off; /* what it needs */
	unsigned long samples;
	time_t said_at;
	bool quit;
};

/*
 * Tells the providers what the query needs now. The first sample follows when all of it is open.
 * While paused nothing is told, for that would end what is held: it is put off until it goes on.
 */
void tui_ask(struct tui *tui);

/* A message in the last line, for a few seconds or until the next key. */
void tui_say(struct tui *tui, const char *text);

/* The next sample in first_s seconds, the others after the interval. */
void tui_set_timer(struct tui *tui, double first_s);

void tui_set_delay(struct tui *tui, double delay_s);
void tui_toggle_pause(struct tui *tui);

/* Why there are no rows, in words. */
const char *tui_why_empty(struct tui *tui);

/* ---- the cursor ---- */

void tui_put_cursor(struct tui *tui, size_t at);
void tui_move_cursor(struct tui *tui, long by);
/* After each new view: where the selected row is now, or the row that is sought. */
void tui_follow_cursor(struct tui *tui);
/* The row to open: the selected one, which is the first where none was. NULL: there is none. */
const struct view_row *tui_selected_row(struct tui *tui);
struct selection tui_selection(const struct tui *tui);
void tui_select(struct tui *tui, const struct selection *selection);
/* The next row that the search finds. */
void tui_find_next(struct tui *tui);

/* ---- views, and the ways between them ---- */

/* Another tab: of the same guest, and of the same vCPU where that means anything. */
void tui_show_view(struct tui *tui, const struct view_type *type);
void tui_step_view(struct tui *tui, int by); /* 1: to the next, -1: to the one before */
void tui_show_guests(struct tui *tui);	     /* and, from there, back to where this was asked */
void tui_enter_row(struct tui *tui);
void tui_go_back(struct tui *tui);

/* One guest only, or GUEST_ANY; all of its vCPUs. */
void tui_set_guest(struct tui *tui, uint32_t guest);

/* ---- prompts ---- */

/* filter: the tui's from now on; NULL: none. */
void tui_set_filter(struct tui *tui, struct pattern *filter);
void tui_prompt_filter(struct tui *tui);
void tui_prompt_search(struct tui *tui);
void tui_prompt_guest(struct tui *tui);
void tui_prompt_delay(struct tui *tui);
void tui_type_prompt(struct tui *tui, const struct terminal_event *event);
void tui_close_prompt(struct tui *tui);

void tui_press(struct tui *tui, const struct terminal_event *event);

#endif
