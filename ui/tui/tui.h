/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tui - the screen's loop: takes samples, reads keys, paints.
 */
#ifndef KVMTOP_UI_TUI_TUI_H
#define KVMTOP_UI_TUI_TUI_H

#include <stdbool.h>

#include "lib/error.h"
#include "core/views/query.h"
#include "history/source.h"
#include "ui/tui/preferences.h"

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

/*
 * Draws the first frame, passes the query to the monitor, runs until q, a signal or the end of the
 * terminal, and restores the terminal. 0, or -errno with error: not a terminal, TERM unknown,
 * nothing can be counted.
 */
int tui_run(const struct tui_config *config, struct error *error);

#endif
