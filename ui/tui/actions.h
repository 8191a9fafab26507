/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * actions - what keys do, and why a table is empty.
 */
#ifndef KVMTOP_UI_TUI_ACTIONS_H
#define KVMTOP_UI_TUI_ACTIONS_H

#include "ui/tui/session.h"

/* ---- cursor.c: the selected row ---- */

void tui_put_cursor(struct tui *tui, size_t at);
void tui_move_cursor(struct tui *tui, long by);
/* After each new view: finds the selected row, or selects the sought row. */
void tui_follow_cursor(struct tui *tui);
/* The row to open: the selected row, else the first visible row. NULL: there is no row. */
const struct view_row *tui_selected_row(struct tui *tui);
struct selection tui_selection(const struct tui *tui);
void tui_select(struct tui *tui, const struct selection *selection);
/* Selects the next row that the search finds. */
void tui_find_next(struct tui *tui);

/* ---- way.c: views, and the ways between them ---- */

/* Sorts the view by the column, also when it is shown again. */
void tui_sort(struct tui *tui, size_t column, bool reverse);
/* Sorts the first view, as the caller asked or as the user prefers. */
void tui_begin_order(struct tui *tui);
/* Writes what the screen shows to the user's file of preferences, and says where. */
void tui_keep_preferences(struct tui *tui);
/* Shows another tab for the same guest, and for the same vCPU if the view can show one vCPU. */
void tui_show_view(struct tui *tui, const struct view_type *type);
void tui_step_view(struct tui *tui, int by); /* 1: to the next tab, -1: to the one before */
void tui_show_guests(struct tui *tui);	     /* in the view of guests: returns to the view before */
void tui_enter_row(struct tui *tui);
/*
 * Shows the query that `enter` makes. False: enter is NULL, or leads nowhere. row: the selected
 * row, or NULL.
 */
bool tui_enter_by(struct tui *tui, const struct view_row *row,
		  bool (*enter)(struct query *query, const struct view_row *row,
				const struct facts *facts, const char **ret_sought));
void tui_go_back(struct tui *tui);
/* Shows one guest, or all with GUEST_ANY; always all vCPUs. */
void tui_set_guest(struct tui *tui, uint32_t guest);

/* ---- long.c: the list of long exits ---- */

/* Shows the list, for the selected exit if there is one. In the list: asks for the threshold. */
void tui_show_long(struct tui *tui);
/* Before each view: adds the list to the facts, up to the moment that is shown. */
void tui_look_at_long(struct tui *tui);

/* ---- over_time.c: what the selected row did over time ---- */

/* After each new view: all exits, for the summary. */
void tui_follow_history(struct tui *tui);
/* After each new view: the selected row, where the screen has a picture of it. */
void tui_follow_series(struct tui *tui);
/* Shows the picture in place of the table, or the table again. */
void tui_toggle_heat(struct tui *tui);

/* ---- details.c: tables of what the selected row is made of ---- */

/* Before each picture: builds the tables that the screen has room for. */
void tui_build_details(struct tui *tui);
void tui_release_details(struct tui *tui);

/* ---- worst.c: the worst finding, in a line of its own ---- */

/* Before each new view: the view of findings shows the same. */
void tui_follow_worst(struct tui *tui);
void tui_release_worst(struct tui *tui);

/* ---- prompts.c ---- */

void tui_prompt_filter(struct tui *tui);
void tui_prompt_search(struct tui *tui);
void tui_prompt_guest(struct tui *tui);
void tui_prompt_delay(struct tui *tui);
void tui_type_prompt(struct tui *tui, const struct terminal_event *event);

/* ---- back.c: looks back at moments that are remembered ---- */

void tui_step_time(struct tui *tui, bool is_back); /* to the next moment, or to the one before */
void tui_go_to_first(struct tui *tui); /* the first moment that is remembered */
void tui_toggle_hold(struct tui *tui); /* holds the latest moment, or returns to now */
/* Holds the latest moment if now is shown. False, with a notice: there is none. */
bool tui_hold(struct tui *tui);
void tui_prompt_time(struct tui *tui, bool is_back);
void tui_return_to_now(struct tui *tui);
/* Whether a moment of the past is shown: one that is held, or a file's latest. */
bool tui_plays_moment(const struct tui *tui);
/* For a history file: begins at a time; goes on to samples that were written since. */
void tui_begin_at(struct tui *tui, uint64_t time_ns);
void tui_follow_file(struct tui *tui);
/* Moments came from the server: goes on to them, and does what a key waits for. */
void tui_take_news(struct tui *tui);
/*
 * For a past of several machines: shows one of them ("": all) at the same moment. -errno with a
 * notice: nothing changes; -EAGAIN: the server has not answered yet.
 */
int tui_enter_machine(struct tui *tui, const char *machine);
bool tui_shows_machines(const struct tui *tui); /* all machines of a past with several */
/* What the title says about the moment that is shown. */
void tui_describe_moment(struct tui *tui);

/* ---- compare.c ---- */

/* Marks the moment that is shown; at another moment, shows what changed since the mark. */
void tui_mark(struct tui *tui);
void tui_release_comparison(struct tui *tui);

/* ---- keys.c ---- */

void tui_press(struct tui *tui, const struct terminal_event *event);

/* ---- empty.c ---- */

/* Why there are no rows, in words. */
const char *tui_why_empty(struct tui *tui);

/*
 * The next longer delay, in tenths of a second and within the limits. The longer the delay, the
 * larger the step: from 0.1 s to an hour. delay_shorter() undoes delay_longer().
 */
double delay_longer(double delay_s);
double delay_shorter(double delay_s);

#endif
