/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session - the state that the loop in tui.c and the keys share: the query, the time of the
 * samples, the picture, and the user's selection.
 */
#ifndef KVMTOP_UI_TUI_SESSION_H
#define KVMTOP_UI_TUI_SESSION_H

#include <stdbool.h>
#include <time.h>

#include "lib/error.h"
#include "core/findings/findings.h"
#include "history/past.h"
#include "history/source.h"
#include "core/monitor.h"
#include "history/interval.h"
#include "ui/screen/picture.h"
#include "ui/screen/terminal.h"
#include "ui/tui/preferences.h"
#include "core/views/query.h"

#define FIRST_DELAY_S 0.25 /* to the first rates after a change */
#define WAYS_MAX 8
#define NAME_SIZE GUEST_NAME_SIZE

struct tui;

struct tui_config {
	const struct source *source; /* outlives the screen */
	struct recorder *writer;   /* stores samples in a history file, too; NULL: none */
	/* Of a history: where to begin. */
	uint64_t at_ns;	       /* the moment; UINT64_MAX: the latest */
	const char *host;      /* the machine, of several; NULL: all */
	struct query *query;	/* to begin with; changed as the user asks */
	const struct guest_choice *choice; /* of the query's guest; NULL: no choice yet */
	double delay_s;		/* 0 for a recording, which has no next sample */
	unsigned long samples;	/* ends after so many intervals; 0: no limit */
	bool no_mouse;		/* the terminal keeps the mouse */
	const struct preferences *preferences; /* NULL: none */
	bool is_sorted;		/* options set the query's order: preferences do not */
	int signals;		/* a signalfd of INT, TERM, HUP and WINCH, which are blocked */
};

/* Owner: session.c. When samples are taken, and for which question. */
struct sampling {
	int timer;
	double delay_s;
	unsigned long nr;	  /* taken so far */
	uint64_t taken_ns;	  /* when the latest was taken */
	bool is_opening;	  /* the providers are not ready yet */
	bool has_fresh_question;  /* the question's first sample follows when they are ready */
	unsigned int due;	  /* samples until the question has rates */
	struct pattern *filter;	  /* typed by the user; NULL: none, or the filter is the caller's */
};

/* Owner: cursor.c. Where the selected row was when it was last in the view, and its name. */
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

/* Owner: way.c. A view that was left with Enter or b: the state that Backspace restores. */
struct way {
	const struct view_type *type;
	uint32_t guest, reason;
	int32_t vcpu;
	bool has_vcpu, has_reason, has_cpu;
	uint32_t cpu;
	bool has_entered_guest;
	uint32_t guest_before;
	struct selection selection;
	char machine[NAME_SIZE];
};

struct ways {
	struct way list[WAYS_MAX];
	size_t nr;
	bool has_entered_guest; /* by Enter; leaving restores: */
	uint32_t guest_before;
};

/* Owner: back.c. A look back at a moment that is remembered, while counting goes on. */
struct back {
	struct monitor *monitor; /* plays the moment; NULL: what is shown is now */
	bool has_changed;	 /* the query changed: live providers do not know it yet */
	uint64_t end_ns;	 /* the latest moment of a history file */
	/* The machine that is shown, of a past of several; "": all. */
	char machine[NAME_SIZE];
};

/* Owner: tui.c. The guest that is looked at, for when it has ended or comes back. */
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

/* Owner: details.c. Tables of what the selected row is made of. */
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

/* Owner: worst.c. The findings of the latest sample, and which of them have been there for long. */
struct worst {
	struct findings findings, followed;
	uint32_t guest; /* the query's guest at the latest sample */
	uint64_t tick;	/* the latest sample's; 0: none was taken */
};

/* What the open prompt is for: takes the text. 0, or -errno with why. */
typedef int (*prompt_fn)(struct tui *tui, const char *text, struct error *why);

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
	char sought[NAME_SIZE];	 /* cursor.c: a row to select when it comes; "": none */
	struct ways ways;
	struct preferences preferences; /* way.c: with the orders of views */
	prompt_fn prompt_fn;	 /* session.c */
	struct pattern *search;	 /* prompts.c */
	char host[NAME_SIZE];	 /* the machine's name */
	struct known_guest guest;
	struct history history;
	struct series series; /* over_time.c: of the selected row, or of all rows */
	struct details details;
	struct worst worst;
	char empty[320];	 /* empty.c */
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
 * Tells the providers what the query needs; the first sample follows when they are ready. A moment
 * of the past answers at once.
 */
void tui_ask(struct tui *tui);
/* The same for live providers, whatever is shown. */
void tui_ask_now(struct tui *tui);
/* Makes the facts of the chosen moment of the past. */
void tui_show_moment(struct tui *tui);
/* In a history: a guest that was chosen by name is the one that bore it at the moment. */
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

#endif
