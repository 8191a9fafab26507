/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * picture - the state that the screen shows: the same state gives the same picture.
 *
 * The event loop in ui/tui changes the state; the painters only read it, and write into it where
 * things are on the screen.
 */
#ifndef KVMTOP_UI_SCREEN_PICTURE_H
#define KVMTOP_UI_SCREEN_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "core/views/query.h"
#include "core/views/view.h"
#include "history/past.h"
#include "history/source.h"
#include "ui/screen/grid.h"

/* ---- prompt.c: a line of input, edited with the keys of a shell */

#define PROMPT_MAX 256
#define PROMPT_BYTES (PROMPT_MAX * 4 + 16) /* for prompt_text() */

struct prompt {
	char label[96]; /* "Filter: " */
	wchar_t text[PROMPT_MAX];
	size_t len, cursor;
	char error[160]; /* what was refused, and why; gone with the next key */
};

enum prompt_result {
	PROMPT_GOES_ON,
	PROMPT_DONE,
	PROMPT_LEFT, /* Esc, ^C, ^G, ^D on an empty line */
};

/* text: what to edit; left out, with an error, if it is too long or has invalid characters. */
void prompt_begin(struct prompt *prompt, const char *label, const char *text);

/* is_key: code is one of curses' KEY_ values; else a character. */
enum prompt_result prompt_type(struct prompt *prompt, bool is_key, wint_t code);

/* The text in the locale's encoding; PROMPT_BYTES suffice for all of it. */
void prompt_text(const struct prompt *prompt, char *buf, size_t size);

/* ---- the picture */

#define SCREEN_HITS 64
#define SCREEN_HISTORY 120 /* rates of exits that the summary can show */

/* What a row of the table is about: finds the row again after sorting has moved it. */
struct row_id {
	uint32_t field, guest;
	int32_t vcpu;
	uint32_t parent; /* with is_rest: the field that the rest belongs to */
	bool is_rest;
	uint8_t rule;
	uint64_t number;
};

enum screen_page {
	PAGE_TABLE,
	PAGE_HELP,
	PAGE_COMPARISON, /* what changed from one moment to another */
};

/* An area of the screen that the mouse can click. */
enum hit_kind { HIT_TAB, HIT_COLUMN, HIT_KEY };

struct hit {
	enum hit_kind kind;
	int row, first_col, last_col;
	size_t index; /* of the view, the column, or the key in screen_keys */
};

/* A table below the table: the exits of a guest, its vCPUs. */
struct screen_detail {
	const struct view *view;
	const struct query *query;
	char title[GUEST_NAME_SIZE + 64]; /* "Exits of db1" */
	const char *empty; /* why there are no rows; NULL: as screen.empty says */
};

#define SCREEN_ROWS 20000 /* of a tree: more take long to make, and nobody reads them */

struct screen {
	/* What is shown: set by the event loop. */
	const struct source_recording *recording; /* NULL: a machine, now */
	const struct view *view;
	const struct query *query;
	const struct facts *facts;
	const char *host, *kvm; /* "alpha", "SVM" */
	const char *engine;	/* what counts events, "bpf"; NULL: not shown */
	int nr_cpus;		/* 0: not known */
	double delay_s;
	char clock[48];	    /* "12:31:07"; of another day with the date */
	char then[128];	    /* "paused at 10:31:07, 45 s ago"; "": what is shown is now */
	bool has_hosts;	    /* the guests of the inventory are hosts */
	const char *filter; /* the regular expression; NULL: none */
	char guest[GUEST_NAME_SIZE + 32]; /* "web1 (pid 41233)"; "" for all */
	/* SCREEN_HISTORY rates of exits, oldest first, < 0: none. NULL: take the facts'. */
	const float *history;
	/* How long each sample's interval was, the latest last; 0: not known. NULL: as delay_s. */
	const float *intervals_s;
	/* What the selected row, or all rows, did over time. NULL: not known. */
	const struct series *series;
	long series_cursor; /* the point that is looked at; -1: the newest */
	/* The time of a run's first sample, before series_cursor, if that is looked at; else 0. */
	uint64_t series_first_ns;
	char series_title[GUEST_NAME_SIZE + 128]; /* "MSR_WRITE of db1" */
	/* What the selected row, or all rows, are made of: for large screens. */
	struct screen_detail details[VIEW_DETAILS];
	size_t nr_details;
	struct screen_detail comparison; /* of PAGE_COMPARISON */
	/* The path from guest to exit: "web1 > vCPU 2 > HLT"; "": none. */
	char crumbs[GUEST_NAME_SIZE + 128];
	const char *hide; /* names of columns to leave out, with blanks between; NULL: none */
	bool is_guest_dead, is_utf8;
	bool has_palette;   /* the terminal has 256 colours */
	char finding[192];  /* the worst finding, or that there is none; "": not known yet */
	char finding_more[48]; /* after it: how many others there are, and the key */
	bool has_finding;   /* there is one, */
	const char *finding_why, *finding_remedy; /* and these are its words */
	const char *empty;  /* why there are no rows */
	char notice[320];   /* shown in the last line for a few seconds; "": the keys are */
	char trouble[320];  /* a lasting problem: shown above the keys, and in the help */
	bool can_go_back;   /* Backspace leads back */

	/* The state of the input. */
	enum screen_page page;
	struct prompt prompt;
	bool has_prompt;
	bool shows_heat;    /* PAGE_TABLE: what the row did over time, instead of the table */
	bool has_cursor;    /* a row is selected */
	struct row_id cursor;
	size_t top;	    /* the first row that is visible */
	size_t page_top;    /* the first visible line of the help, row of the comparison */

	/* Set by the painters, for each other and for the event loop. */
	bool has_marks;	    /* a wide screen: counts have thousands marks, everywhere */
	size_t page_rows;   /* how many rows of the table, or lines of help, fit */
	bool page_has_more; /* that page has more lines than fit */
	int first_row;	    /* the screen's line of the first visible row */
	int prompt_col;	    /* the text cursor, in the last line; -1: none */
	int focus_row;	    /* else the line that is looked at: the selected row's, if any */
	char where[64];	    /* "1-20 of 45", until a painter has shown it; "": nothing to show */
	struct hit hits[SCREEN_HITS];
	size_t nr_hits;
};

/* Paints; moves top and page_top so that the selected row is visible. */
void screen_paint(struct screen *screen, struct grid *grid);

/* Whether the picture has room for what the selected row did over time. */
bool screen_shows_series(const struct screen *screen, const struct grid *grid);

/*
 * Whether the screen has room for tables of what the selected row is made of, and the view has no
 * durations of its own there.
 */
bool screen_has_details(const struct screen *screen, const struct grid *grid);

struct row_id row_id_of(const struct view *view, size_t at);
bool row_id_equal(const struct row_id *a, const struct row_id *b);
/* The index of the row; the view's number of rows when the row is not there. */
size_t screen_find_row(const struct screen *screen, const struct row_id *id);

/* Remembers an area that can be clicked. */
void screen_add_hit(struct screen *screen, struct hit hit);

/* Whether the view has the column, for people. */
bool screen_has_column(const struct screen *screen, size_t column);

/* Whether every row has the same text in the column, because of the guest or exit chosen. */
bool screen_is_same_column(const struct screen *screen, size_t column);


/* The text of a cell, which may be in buf. A child's name is its label: "HLT" below kvm_exit. */
const char *screen_text_of(const struct screen *screen, const struct view_row *row, size_t column,
			   char *buf, size_t size);
#define SCREEN_TEXT_SIZE 512

/*
 * The scale of a history of so many intervals: "0-500k/s 96s"; only "0-500k/s" if both do not fit
 * into width columns.
 */
void screen_scale(const struct screen *screen, double end, int nr, int width, char *buf,
		  size_t size);

/* How long a history is: "1.5s", "96s", "19min". */
void format_span(char *buf, size_t size, double span_s);

enum {
	KEY_LIVE = 1 << 0,   /* now: not in a recording */
	KEY_RECORDED = 1 << 8, /* a recording */
	KEY_TREES = 1 << 1,  /* a view with trees */
	KEY_CODE = 1 << 10,  /* a view of code */
	/* For the last line only: the help always lists the key, if it has a text: */
	KEY_BACK = 1 << 2,   /* Backspace leads back */
	KEY_GUESTS = 1 << 3, /* any view but the view of guests */
	KEY_EXITS = 1 << 9,  /* listed in the last line of the views of exits only */
	KEY_HEAT = 1 << 5,   /* the heat map, */
	KEY_TABLE = 1 << 6,  /* or the table is shown */
	/* The tabs: the help page shows their numbers and their names. */
	KEY_VIEWS = 1 << 4,
};

/* The keys, for the help page and the last line; ended by key == NULL. */
struct key_help {
	const char *key;
	const char *brief; /* for the last line; NULL: not there */
	const char *help;  /* NULL: none; with KEY_VIEWS, see help.c */
	unsigned int needs; /* KEY_* */
	char types;	    /* the character that a click on brief stands for */
};
extern const struct key_help screen_keys[];

/* Whether the key does anything in this view. */
bool screen_has_key(const struct screen *screen, const struct key_help *key);

#endif
