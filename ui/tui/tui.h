/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tui - the screen: keys and time in, pictures out.
 */
#ifndef KVMTOP_UI_TUI_TUI_H
#define KVMTOP_UI_TUI_TUI_H

#include "base/why.h"
#include "monitor.h"
#include "ui/screen/screen.h"
#include "views/query.h"

struct tui_config {
	struct monitor *monitor;
	const struct env *env;	/* the machine; NULL: a recording is looked at, which is: */
	const struct screen_recording *recording;
	struct query *query;	/* to begin with; changed as the user asks */
	double delay_s;		/* of a recording 0: there is no next sample */
	unsigned long samples;	/* ends after so many intervals; 0: when told to */
	int signals;		/* a signalfd of INT, TERM, HUP and WINCH, which are blocked */
};

/*
 * Runs until q, a signal or the end of the terminal; the terminal is then as it was found. 0, or
 * -errno with why: not a terminal, TERM unknown.
 */
int tui_run(const struct tui_config *config, struct why *why);

#endif
