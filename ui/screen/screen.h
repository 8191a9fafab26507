/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen - what the live screen shows at a moment, and the function that paints it.
 *
 * Painting is pure: the same state gives the same picture. The event loop in ui/tui/tui.c changes
 * the state.
 */
#ifndef KVMTOP_UI_SCREEN_SCREEN_H
#define KVMTOP_UI_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/screen/grid.h"
#include "ui/screen/prompt.h"
#include "views/query.h"

#define SCREEN_HITS 32

/* What a row of the table is about, wherever sorting moves it. */
struct row_id {
	uint32_t field, guest;
	int32_t vcpu;
	uint32_t parent; /* whose rest it is, with is_rest */
	bool is_rest;
};

enum screen_page {
	PAGE_TABLE,
	PAGE_HELP,
	PAGE_GUESTS, /* the table's place shows the guests to choose from */
};

/* A place that a mouse can click. */
enum hit_kind { HIT_TAB, HIT_COLUMN };

struct hit {
	enum hit_kind kind;
	int row, first_col, last_col;
	size_t index; /* of the view or the column */
};

/* What the title says of a recording. */
struct screen_recording {
	char files[96]; /* "perf.data", "cpu0 and 3 more" */
	uint64_t span_ns, nr_events, nr_lost;
	bool is_more_lost; /* than nr_lost, nobody knows how many */
};

struct screen {
	/* What there is to show; set by the loop. */
	const struct screen_recording *recording; /* NULL: a machine, now */
	const struct view *view;
	const struct query *query;
	const struct facts *facts;
	const char *host, *kvm; /* "alpha", "SVM" */
	const char *engine;	/* what counts events, "bpf"; NULL: nothing to tell */
	int nr_cpus; /* 0: not known */
	double delay_s;
	char clock[16];	    /* "12:31:07" */
	const char *filter; /* the regular expression; NULL: none */
	char guest[96];	    /* "web1 (pid 41233)"; "" for all */
	const float *history; /* rates of exits as in struct stat_sum; NULL: what the facts have */
	char crumbs[192];   /* where drilling down has led: "web1 > vCPU 2 > HLT"; "" nowhere */
	bool is_guest_dead, is_paused, is_utf8;
	const char *empty;  /* why there are no rows */
	char notice[320];   /* what was done just now: in the last line, "" for the keys */
	char trouble[320];  /* what is wrong for longer: above the keys, and in the help */
	bool can_go_back;   /* Backspace has somewhere to go */

	/* What the user is doing. */
	enum screen_page page;
	struct prompt prompt;
	bool has_prompt;
	bool has_cursor;    /* a row is selected */
	struct row_id cursor;
	size_t top;	    /* the first row that is visible */
	uint32_t chosen_guest; /* of PAGE_GUESTS; GUEST_ANY: none */
	size_t guests_top;  /* the first of them that is visible */
	size_t help_top;    /* the first line of the help page that is */

	/* Left by the painter for the loop. */
	size_t page_rows;   /* how many rows of the table, or lines of help, fit */
	bool has_more_help; /* than fits */
	int first_row;	    /* where its first row is on the screen */
	int prompt_col;	    /* the text cursor, in the last line; -1: none */
	char where[64];	    /* which rows are seen, while nothing has painted it */
	struct hit hits[SCREEN_HITS];
	size_t nr_hits;
};

/* Paints it all. Keeps the cursor's row visible by moving top, and help_top where there is help. */
void screen_paint(struct screen *screen, struct grid *grid);

/* Of a row of the view, and back: its index, or the view's number of rows when it is not there. */
struct row_id row_id_of(const struct view_row *row);
bool row_id_equal(const struct row_id *a, const struct row_id *b);
size_t screen_find_row(const struct screen *screen, const struct row_id *id);

enum {
	KEY_LIVE = 1 << 0,	/* time that goes on */
	KEY_TREES = 1 << 1,	/* a view with trees */
	KEY_BACK = 1 << 2,	/* a way back; the help has it always */
	KEY_ELSEWHERE = 1 << 3, /* another view than the one it goes to; so has this */
};

/* Whether what is typed leaves the guest: it is a part of its name, or how its pid begins. */
bool screen_is_meant(const struct guest *guest, const char *typed);

/* The keys, for the help page and the last line; ended by key == NULL. */
struct key_help {
	const char *key;
	const char *brief; /* for the last line; NULL: not there */
	const char *help;
	unsigned int where; /* KEY_*: what it needs */
};
extern const struct key_help screen_keys[];

/* Whether the key does anything in this view. */
bool screen_has_key(const struct screen *screen, const struct key_help *key);

#endif
