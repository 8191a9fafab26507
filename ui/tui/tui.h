/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tui - the screen's loop: takes samples, reads keys, paints.
 */
#ifndef KVMTOP_UI_TUI_TUI_H
#define KVMTOP_UI_TUI_TUI_H

#include "ui/tui/session.h"

/*
 * Draws the first frame, passes the query to the monitor, runs until q, a signal or the end of the
 * terminal, and restores the terminal. 0, or -errno with why: not a terminal, TERM unknown, nothing
 * can be counted.
 */
int tui_run(const struct tui_config *config, struct error *why);

#endif
