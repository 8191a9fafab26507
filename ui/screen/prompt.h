/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prompt - a line of input, edited with the keys of a shell.
 */
#ifndef KVMTOP_UI_SCREEN_PROMPT_H
#define KVMTOP_UI_SCREEN_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

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

#endif
