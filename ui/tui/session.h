/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session - the state that the loop in loop.c and the keys share: the query, the time of the
 * samples, the picture, and the user's selection; and what keys do.
 */
#ifndef KVMTOP_UI_TUI_SESSION_H
#define KVMTOP_UI_TUI_SESSION_H

#include <time.h>

#include "core/findings/findings.h"
#include "history/past.h"
#include "core/monitor.h"
#include "history/interval.h"
#include "ui/screen/picture.h"
#include "ui/screen/terminal.h"
#include "ui/tui/tui.h"
#include "core/views/query.h"

#define FIRST_DELAY_S 0.25 /* to the first rates after a change */
#define TRAIL_MAX 8
#define NAME_SIZE GUEST_NAME_SIZE

/* Owner: session.c. When samples are taken, and for which query. */
struct sampling {
	int timer;
	double delay_s;
	unsigned long nr;	  /* taken so far */
	uint64_t taken_ns;	  /* when the latest was taken */
	bool is_opening;	  /* the providers are not ready yet */
	bool awaits_first;	  /* the first sample for the query follows when they are ready */
	unsigned int due;	  /* samples until the query has rates */
	struct pattern *filter;	  /* typed by the user; NULL: none, or the filter is the caller's */
};

/* Owner: selection.c. Where the selected row was when it was last in the view, and its name. */
struct last_seen {
	size_t at;
	char name[NAME_SIZE];
};

/* The selected row: stays selected while it is not in the view. */
struct selection {
	bool has_cursor;
	struct row_id cursor;
	struct last_seen seen;
};

/* Owner: views.c. A view that was left with Enter or b: the state that Backspace restores. */
struct earlier_view {
	const struct view_type *type;
	struct scope scope;
	bool children;
	bool has_entered_guest;
	uint32_t guest_before;
	struct selection selection;
	char machine[NAME_SIZE];
};

struct trail {
	struct earlier_view list[TRAIL_MAX];
	size_t nr;
	bool has_entered_guest; /* by Enter; leaving restores: */
	uint32_t guest_before;
};

/* Owner: moments.c. A look back at a moment that is remembered, while counting goes on. */
struct back {
	struct monitor *monitor; /* plays the moment; NULL: what is shown is now */
	bool has_changed;	 /* the query changed, and live providers do not have it yet */
	uint64_t end_ns;	 /* the latest moment of a history file */
	/* The machine that is shown, of a past of several; "": all. */
	char machine[NAME_SIZE];
};

/* Owner: describe.c. The guest that is looked at, for when it has ended or comes back. */
struct known_guest {
	struct guest_choice choice;
	char name[NAME_SIZE];
};

/* Owner: over_time.c. All exits in the latest samples, for the summary and for scales. */
struct history {
	struct series exits;
	struct key subject;
	size_t room;   /* how many were asked for */
	uint64_t tick; /* the newest sample's, see stats.latest; 0: begin anew */
	float rates[SCREEN_HISTORY];	   /* the newest last; < 0: none */
	float intervals_s[SCREEN_HISTORY]; /* 0: not known */
};

/* Owner: selection.c. Tables of what the selected row is made of. */
struct details {
	struct view views[VIEW_DETAILS];
	struct query queries[VIEW_DETAILS];
};

/* Owner: compare.c. Two moments, and what changed from one to the other. */
struct comparison {
	uint64_t marked_ns; /* the time of the marked moment; 0: none is marked */
	struct history_span spans[2];
	struct vcpu_key *only[2]; /* what the spans' queries point to */
	struct view view;
	struct query query;
};

/* Owner: describe.c. The findings of the latest sample, and which have been there for long. */
struct worst {
	struct findings findings, followed;
	uint32_t guest; /* the query's guest at the latest sample */
	uint64_t tick;	/* the latest sample's; 0: none was taken */
};

struct tui;

/* What the open prompt is for: takes the text. 0, or -errno with error. */
typedef int (*prompt_fn)(struct tui *tui, const char *text, struct error *error);

struct tui {
	struct tui_config config;
	const struct source *source;
	struct query *query;
	struct facts facts;	/* the view is made of them */
	struct view view;
	struct screen screen;
	struct grid grid;
	struct terminal *terminal;
	struct sampling sampling;
	struct back back;
	struct comparison comparison;
	struct last_seen seen;	 /* of screen.cursor */
	char sought[NAME_SIZE];	 /* selection.c: a row to select when it comes; "": none */
	struct trail trail;
	struct preferences preferences; /* views.c: with the orders of views */
	prompt_fn prompt_fn;	 /* session.c */
	struct pattern *search;	 /* prompts.c */
	char host[NAME_SIZE];	 /* the machine's name */
	struct known_guest guest;
	struct history history;
	struct series series; /* over_time.c: of the selected row, or of all rows */
	struct details details;
	struct worst worst;
	char empty[320];	 /* describe.c */
	/* Does what a key waits to do until moments come. NULL: no key waits. */
	void (*again)(struct tui *tui);
	uint64_t said_ns;	 /* session.c: when the notice was set; 0: there is none */
	bool quit;
};

static inline bool tui_is_recording(const struct tui *tui)
{
	return tui->source->kind == SOURCE_RECORDING;
}

/* What is shown: now, or the past. */
struct monitor *tui_monitor(const struct tui *tui);

/* Takes a sample, and stores it. */
void tui_sample(struct tui *tui);
/*
 * Passes the query to the providers; the first sample follows when they are ready. A moment of the
 * past answers at once.
 */
void tui_ask(struct tui *tui);
/* Asks live providers, whatever is shown. */
void tui_ask_now(struct tui *tui);
/* Makes the facts of the chosen moment of the past. */
void tui_show_moment(struct tui *tui);
/* In a history: a guest that was chosen by name is the one that had it at the moment. */
void tui_choose_then(struct tui *tui);

/* Takes the filter over; NULL: no filter. */
void tui_set_filter(struct tui *tui, struct pattern *filter);

/* Shows a notice in the last line, for a few seconds or until the next key. */
void tui_say(struct tui *tui, const char *text);
void tui_unsay(struct tui *tui);

#define SHORT_NAME_SIZE 192
/* Shortens a name for a sentence: the middle is left out. Returns ret_name. */
const char *tui_short_name(const struct tui *tui, const char *name, char *ret_name);

/* The prompt in the last line: fn takes what was typed. */
void tui_open_prompt(struct tui *tui, const char *label, const char *text, prompt_fn fn);
void tui_close_prompt(struct tui *tui);

/* The next sample in first_s seconds, the others after the interval. */
void tui_set_timer(struct tui *tui, double first_s);
void tui_set_delay(struct tui *tui, double delay_s);

/* ---- selection.c: the selected row, and tables of what it is made of ---- */

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

/* Before each picture: builds the tables that the screen has room for. */
void tui_build_details(struct tui *tui);
void tui_release_details(struct tui *tui);

/* ---- views.c: changes between views ---- */

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
/* Shows one guest, or all with GUEST_ALL; always all vCPUs. */
void tui_set_guest(struct tui *tui, uint32_t guest);

/* ---- over_time.c: what the selected row did over time ---- */

/* After each new view: all exits, for the summary. */
void tui_follow_history(struct tui *tui);
/* After each new view: the selected row, where the screen has a picture of it. */
void tui_follow_series(struct tui *tui);
/* Shows the picture instead of the table, or the table again. */
void tui_toggle_heat(struct tui *tui);

/* ---- prompts.c ---- */

/* Shows the list, of the selected guest, vCPU or exit. In the list: asks for the threshold. */
void tui_show_long(struct tui *tui);
void tui_show_code(struct tui *tui);
void tui_prompt_filter(struct tui *tui);
void tui_prompt_search(struct tui *tui);
void tui_prompt_guest(struct tui *tui);
void tui_prompt_delay(struct tui *tui);
void tui_type_prompt(struct tui *tui, const struct terminal_event *event);

/* ---- moments.c: looks back at moments that are remembered ---- */

void tui_step_time(struct tui *tui, bool is_back); /* to the next moment, or to the one before */
void tui_go_to_first(struct tui *tui); /* the first moment that is remembered */
void tui_toggle_hold(struct tui *tui); /* holds the latest moment, or returns to now */
/* Holds the latest moment if now is shown. False, with a notice: there is none. */
bool tui_hold(struct tui *tui);
void tui_prompt_time(struct tui *tui);
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

/* Before each view: adds the list to the facts, up to the moment that is shown. */
void tui_follow_long(struct tui *tui);

/* ---- compare.c ---- */

/* Marks the moment that is shown; at another moment, shows what changed since the mark. */
void tui_mark(struct tui *tui);
void tui_release_comparison(struct tui *tui);

/* ---- describe.c: what the screen says beside the table ---- */

/* Before each picture: the guest, the path from guest to exit, and what does not work. */
void tui_describe(struct tui *tui);
/* Why there are no rows, in words. */
const char *tui_why_empty(struct tui *tui);

/* Before each new view: the view of findings shows the same. */
void tui_follow_worst(struct tui *tui);
void tui_release_worst(struct tui *tui);

/* ---- keys.c ---- */

void tui_press(struct tui *tui, const struct terminal_event *event);

#endif
