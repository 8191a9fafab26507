/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tui - the screen's loop: keys and time in, pictures out.
 */
#ifndef KVMTOP_UI_TUI_TUI_H
#define KVMTOP_UI_TUI_TUI_H

#include "ui/tui/session.h"

/*
 * Runs until q, a signal or the end of the terminal; the terminal is then as it was found. 0, or
 * -errno with why: not a terminal, TERM unknown.
 */
int tui_run(const struct tui_config *config, struct why *why);

#endif
