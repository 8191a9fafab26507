/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * terminal - curses: opens and closes the terminal, shows grids, reads keys.
 */
#ifndef KVMTOP_UI_SCREEN_TERMINAL_H
#define KVMTOP_UI_SCREEN_TERMINAL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "lib/error.h"
#include "ui/screen/grid.h"

struct terminal;

enum terminal_colours {
	COLOURS_NONE,
	COLOURS_ANY, /* for a dark background and for a light one */
	COLOURS_DARK, /* the bright ones, for a dark background */
};

/*
 * Opens the terminal; a kind that terminfo does not have is opened as xterm-256color, with a notice
 * in error. has_mouse false: the terminal keeps the mouse, to select text. -ENOTTY, -EINVAL with
 * error.
 */
int terminal_open(bool has_mouse, enum terminal_colours wanted, struct terminal **ret_terminal,
		  struct error *error);

/* Restores the terminal. NULL is fine. */
void terminal_close(struct terminal *terminal);

/* Follows the terminal's size. True when it has changed. */
bool terminal_resize(struct terminal *terminal, struct grid *grid);

/*
 * Shows the grid; prompt_col >= 0: a text cursor in the last line. Else the cursor, which is not
 * seen, rests in the line of focus_row: braille displays and screen readers follow it.
 */
void terminal_show(struct terminal *terminal, const struct grid *grid, int focus_row,
		   int prompt_col);

/* The next show() draws everything anew. */
void terminal_redraw(struct terminal *terminal);

struct terminal_event {
	bool is_key;  /* code is curses' KEY_...; else a character */
	wint_t code;
	int row, col; /* with KEY_MOUSE */
	int wheel;    /* with KEY_MOUSE: -1 up, 1 down, 0 a click */
	bool is_double; /* with KEY_MOUSE: the second click at one position */
};

/* The next key, if there is one. False: none. */
bool terminal_event(struct terminal *terminal, struct terminal_event *ret_event);

#define TERMINAL_KEYS 1U /* terminal_event() may have one */
#define TERMINAL_GONE 2U /* the terminal is closed */

#define TERMINAL_FDS 4

/* poll(2) of up to TERMINAL_FDS descriptors, which a key and the terminal's end end, too. */
unsigned int terminal_wait(struct terminal *terminal, struct pollfd *fds, size_t nr,
			   int timeout_ms);

/* Whether it has 256 colours, for characters and backgrounds, and NO_COLOR is not set. */
bool terminal_has_palette(const struct terminal *terminal);

/* Whether bars and lines may be UTF-8. */
bool terminal_is_utf8(void);

#endif
