/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tui - the screen's loop: takes samples, reads keys, paints.
 */
#ifndef KVMTOP_UI_TUI_TUI_H
#define KVMTOP_UI_TUI_TUI_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"
#include "core/views/query.h"
#include "history/source.h"

struct tui_config {
	const struct source *source; /* outlives the screen */
	struct recorder *writer;   /* stores samples in a history file, too; NULL: none */
	/* In a history, where to begin: */
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

/*
 * Draws the first frame, passes the query to the monitor, runs until q, a signal or the end of the
 * terminal, and restores the terminal. 0, or -errno with error: not a terminal, TERM unknown,
 * nothing can be counted.
 */
int tui_run(const struct tui_config *config, struct error *error);

/*
 * ---- preferences.c: what the screen remembers from one start to the next: a file of assignments.
 *
 * The machine's file is read first, then the user's; the command line overrides both. All values
 * but the thresholds are for the screen only.
 */

struct view_type;

#define PREFERENCES_FILE "/etc/kvmtop/config"
#define ORDERS_MAX 16 /* more than there are views */

/* By which column a view is sorted. */
struct view_order {
	const struct view_type *type;
	size_t sort;
	bool reverse;
};

/* Zero-initialised: nothing is preferred. */
struct preferences {
	const struct view_type *view;	      /* the first one; NULL: the default */
	struct view_order orders[ORDERS_MAX]; /* a type of NULL ends them */
	double interval_s;		      /* 0: the default */
	char hide[256];			      /* names of columns, with blanks between them */
	bool is_monochrome;
	bool is_dark; /* the terminal's background is */
	char thresholds[PATH_MAX]; /* the file, as --thresholds; "": the default */
};

/* The order of a view, or the free entry for it, with type NULL. */
struct view_order *preferences_order(struct preferences *preferences, const struct view_type *type);

/* Takes the lines of text. A wrong line changes nothing: wrong() gets a message with the path. */
void preferences_parse(struct preferences *preferences, const char *text, const char *path,
		       void (*wrong)(const struct error *error));

/* Parses the lines of a file, which may be absent. */
void preferences_read(struct preferences *preferences, const char *path,
		      void (*wrong)(const struct error *error));

/*
 * Writes view, orders and interval into the file, and makes its folder if it is missing. All other
 * lines stay. 0, or -errno with error.
 */
int preferences_write(const struct preferences *preferences, const char *path, struct error *error);

/* The path of the user's file; "": neither XDG_CONFIG_HOME nor HOME is set. */
void preferences_path(char *ret_path, size_t size);

#endif
