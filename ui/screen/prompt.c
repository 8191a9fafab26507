// SPDX-License-Identifier: GPL-2.0-or-later
/* Edits one line. */
#include <curses.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/screen/picture.h"

#define CTRL(c) ((c) & 0x1f)

void prompt_begin(struct prompt *prompt, const char *label, const char *text)
{
	size_t len = mbstowcs(NULL, text, 0);

	memset(prompt, 0, sizeof(*prompt));
	snprintf(prompt->label, sizeof(prompt->label), "%s", label);
	if (len < PROMPT_MAX)
		prompt->len = mbstowcs(prompt->text, text, PROMPT_MAX);
	else
		snprintf(prompt->error, sizeof(prompt->error),
			 "The present text cannot be edited here: Esc keeps it, or type a new one");
	prompt->cursor = prompt->len;
}

/* Removes the characters from `from` up to `to`; the cursor goes where they were. */
static void cut(struct prompt *prompt, size_t from, size_t to)
{
	wmemmove(prompt->text + from, prompt->text + to, prompt->len - to);
	prompt->len -= to - from;
	prompt->cursor = from;
}

static void insert(struct prompt *prompt, wchar_t ch)
{
	if (prompt->len == PROMPT_MAX - 1) {
		snprintf(prompt->error, sizeof(prompt->error), "There is room for %d characters",
			 PROMPT_MAX - 1);
		return;
	}
	wmemmove(prompt->text + prompt->cursor + 1, prompt->text + prompt->cursor,
		 prompt->len - prompt->cursor);
	prompt->text[prompt->cursor++] = ch;
	prompt->len++;
}

static void cut_word(struct prompt *prompt)
{
	size_t from = prompt->cursor;

	while (from && prompt->text[from - 1] == L' ')
		from--;
	while (from && prompt->text[from - 1] != L' ')
		from--;
	cut(prompt, from, prompt->cursor);
}

static void erase_left(struct prompt *prompt)
{
	if (prompt->cursor)
		cut(prompt, prompt->cursor - 1, prompt->cursor);
}

static void erase_right(struct prompt *prompt)
{
	if (prompt->cursor < prompt->len)
		cut(prompt, prompt->cursor, prompt->cursor + 1);
}

static enum prompt_result type_key(struct prompt *prompt, wint_t key)
{
	switch (key) {
	case KEY_LEFT:
		prompt->cursor -= prompt->cursor > 0;
		break;
	case KEY_RIGHT:
		prompt->cursor += prompt->cursor < prompt->len;
		break;
	case KEY_HOME:
		prompt->cursor = 0;
		break;
	case KEY_END:
		prompt->cursor = prompt->len;
		break;
	case KEY_BACKSPACE:
		erase_left(prompt);
		break;
	case KEY_DC:
		erase_right(prompt);
		break;
	case KEY_ENTER:
		return PROMPT_DONE;
	default:
		break;
	}
	return PROMPT_GOES_ON;
}

static enum prompt_result type_char(struct prompt *prompt, wint_t ch)
{
	switch (ch) {
	case L'\n':
	case L'\r':
		return PROMPT_DONE;
	case 27:
	case CTRL('c'):
	case CTRL('g'):
		return PROMPT_LEFT;
	case CTRL('d'):
		if (!prompt->len)
			return PROMPT_LEFT;
		erase_right(prompt);
		break;
	case CTRL('a'):
		prompt->cursor = 0;
		break;
	case CTRL('e'):
		prompt->cursor = prompt->len;
		break;
	case CTRL('b'):
		return type_key(prompt, KEY_LEFT);
	case CTRL('f'):
		return type_key(prompt, KEY_RIGHT);
	case CTRL('u'):
		cut(prompt, 0, prompt->cursor);
		break;
	case CTRL('k'):
		prompt->len = prompt->cursor;
		break;
	case CTRL('w'):
		cut_word(prompt);
		break;
	case CTRL('h'):
	case 127:
		erase_left(prompt);
		break;
	default:
		if (ch >= 32 && wcwidth((wchar_t)ch) > 0)
			insert(prompt, (wchar_t)ch);
	}
	return PROMPT_GOES_ON;
}

enum prompt_result prompt_type(struct prompt *prompt, bool is_key, wint_t code)
{
	prompt->error[0] = '\0';
	return is_key ? type_key(prompt, code) : type_char(prompt, code);
}

void prompt_text(const struct prompt *prompt, char *buf, size_t size)
{
	mbstate_t state = { 0 };
	size_t len = 0;

	for (size_t i = 0; i < prompt->len && len + MB_LEN_MAX < size; i++) {
		size_t n = wcrtomb(buf + len, prompt->text[i], &state);

		len += n == (size_t)-1 ? 0 : n;
	}
	buf[len] = '\0';
}
