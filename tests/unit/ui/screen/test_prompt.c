// SPDX-License-Identifier: GPL-2.0-or-later
/* Every key that edits a line, at both of its ends, and what cannot be typed. */
#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "ui/screen/picture.h"

#define CTRL(c) ((c) & 0x1f)

static struct prompt prompt;

static void begin(const char *text)
{
	prompt_begin(&prompt, "Label: ", text);
}

static enum prompt_result key(int code)
{
	return prompt_type(&prompt, true, (wint_t)code);
}

static enum prompt_result ch(wint_t code)
{
	return prompt_type(&prompt, false, code);
}

static void type(const char *text)
{
	for (; *text; text++)
		assert_int_equal(ch((wint_t)*text), PROMPT_GOES_ON);
}

/* The text with a '|' where the cursor is. */
static const char *line(void)
{
	static char all[PROMPT_BYTES + 1];
	struct prompt left = prompt;
	char part[PROMPT_BYTES];

	left.len = left.cursor;
	prompt_text(&left, part, sizeof(part));
	prompt_text(&prompt, all, sizeof(all));
	memmove(all + strlen(part) + 1, all + strlen(part), strlen(all) - strlen(part) + 1);
	all[strlen(part)] = '|';
	return all;
}

TEST(begins_with_the_cursor_behind_the_text)
{
	begin("kvm_exit");
	assert_string_equal(prompt.label, "Label: ");
	assert_string_equal(line(), "kvm_exit|");
	begin("");
	assert_string_equal(line(), "|");
	begin("\xff\xfe");
	assert_string_equal(line(), "|");
}

TEST(characters_go_where_the_cursor_is)
{
	begin("");
	type("abd");
	key(KEY_LEFT);
	type("c");
	assert_string_equal(line(), "abc|d");
	ch(L'é');
	ch(L'デ');
	assert_string_equal(line(), "abcéデ|d");
}

TEST(the_cursor_moves_and_stops_at_the_ends)
{
	begin("abc");
	key(KEY_RIGHT);
	assert_string_equal(line(), "abc|");
	key(KEY_LEFT);
	ch(CTRL('b'));
	assert_string_equal(line(), "a|bc");
	key(KEY_LEFT);
	key(KEY_LEFT);
	assert_string_equal(line(), "|abc");
	key(KEY_RIGHT);
	ch(CTRL('f'));
	assert_string_equal(line(), "ab|c");
	key(KEY_HOME);
	assert_string_equal(line(), "|abc");
	key(KEY_END);
	assert_string_equal(line(), "abc|");
	ch(CTRL('a'));
	assert_string_equal(line(), "|abc");
	ch(CTRL('e'));
	assert_string_equal(line(), "abc|");
}

TEST(erases_to_the_left_and_right)
{
	static const wint_t to_the_left[] = { 127, CTRL('h') };

	begin("abcdef");
	key(KEY_BACKSPACE);
	assert_string_equal(line(), "abcde|");
	for (size_t i = 0; i < 2; i++)
		ch(to_the_left[i]);
	assert_string_equal(line(), "abc|");
	key(KEY_DC);
	assert_string_equal(line(), "abc|");
	key(KEY_HOME);
	key(KEY_BACKSPACE);
	ch(127);
	assert_string_equal(line(), "|abc");
	key(KEY_DC);
	assert_string_equal(line(), "|bc");
	assert_int_equal(ch(CTRL('d')), PROMPT_GOES_ON);
	assert_string_equal(line(), "|c");
}

TEST(cuts_lines_and_words)
{
	begin("one two  ");
	ch(CTRL('w'));
	assert_string_equal(line(), "one |");
	ch(CTRL('w'));
	ch(CTRL('w'));
	assert_string_equal(line(), "|");
	begin("one two");
	key(KEY_LEFT);
	ch(CTRL('w'));
	assert_string_equal(line(), "one |o");
	ch(CTRL('u'));
	assert_string_equal(line(), "|o");
	begin("one two");
	key(KEY_HOME);
	key(KEY_RIGHT);
	ch(CTRL('k'));
	assert_string_equal(line(), "o|");
	ch(CTRL('k'));
	assert_string_equal(line(), "o|");
}

TEST(enter_is_the_end)
{
	begin("a");
	assert_int_equal(ch('\r'), PROMPT_DONE);
	assert_int_equal(ch('\n'), PROMPT_DONE);
	assert_int_equal(key(KEY_ENTER), PROMPT_DONE);
	assert_string_equal(line(), "a|");
}

TEST(flaw_E3_a_prompt_can_be_left)
{
	begin("a");
	assert_int_equal(ch(27), PROMPT_LEFT);
	assert_int_equal(ch(CTRL('c')), PROMPT_LEFT);
	assert_int_equal(ch(CTRL('g')), PROMPT_LEFT);
	assert_int_equal(ch(CTRL('d')), PROMPT_GOES_ON);
	assert_string_equal(line(), "a|");
	begin("");
	assert_int_equal(ch(CTRL('d')), PROMPT_LEFT);
}

TEST(flaw_E3_keys_are_not_text)
{
	static const int keys[] = { KEY_UP, KEY_DOWN, KEY_PPAGE, KEY_NPAGE, KEY_F(1), KEY_BTAB,
				    KEY_MOUSE, KEY_RESIZE };

	begin("a");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(key(keys[i]), PROMPT_GOES_ON);
	for (wint_t code = 1; code < 32; code++) {
		if (!strchr("\r\n\033\003\007", (int)code))
			assert_int_equal(ch(code), PROMPT_GOES_ON);
		if (strchr("\x0b\x15\x17\x08\x04", (int)code))
			begin("a");
	}
	assert_string_equal(line(), "a|");
	ch(0x9b); /* a control character of 8 bits */
	ch(0x301); /* an accent that would stand on what is to its left */
	ch(WEOF);
	assert_string_equal(line(), "a|");
}

TEST(a_full_line_takes_no_more)
{
	char text[PROMPT_BYTES];

	begin("");
	for (int i = 0; i < 2 * PROMPT_MAX; i++)
		ch(0x1f600); /* four bytes */
	assert_int_equal(prompt.len, PROMPT_MAX - 1);
	assert_int_equal(prompt.cursor, PROMPT_MAX - 1);
	prompt_text(&prompt, text, sizeof(text));
	assert_int_equal(strlen(text), 4 * (PROMPT_MAX - 1));
	assert_string_equal(prompt.error, "There is room for 255 characters");
	memset(text, 'x', PROMPT_MAX - 1);
	text[PROMPT_MAX - 1] = '\0';
	begin(text);
	assert_string_equal(prompt.error, "");
	assert_int_equal(prompt.len, PROMPT_MAX - 1);
	key(KEY_HOME);
	assert_string_equal(prompt.error, "");
	ch('y');
	assert_string_equal(prompt.error, "There is room for 255 characters");
	assert_int_equal(prompt.len, PROMPT_MAX - 1);
	assert_int_equal(prompt.cursor, 0);
}

/* A filter of the command line may be of any length: a part of it would be another filter. */
TEST(a_text_that_does_not_fit_is_not_cut)
{
	char text[PROMPT_MAX + 1];

	memset(text, 'x', PROMPT_MAX);
	text[PROMPT_MAX] = '\0';
	begin(text);
	assert_int_equal(prompt.len, 0);
	assert_string_equal(prompt.error, "The present text cannot be edited here: Esc keeps it, "
					  "or type a new one");
	ch('a');
	assert_string_equal(prompt.error, "");
	assert_string_equal(line(), "a|");
	begin("a\xff");
	assert_int_equal(prompt.len, 0);
	assert_string_not_equal(prompt.error, "");
}

TEST(a_small_buffer_gets_whole_characters)
{
	char text[20];

	begin("");
	for (int i = 0; i < 9; i++)
		ch(L'é');
	prompt_text(&prompt, text, sizeof(text));
	assert_true(strlen(text) % 2 == 0);
	assert_true(strlen(text) < sizeof(text));
}

TEST(an_error_goes_with_the_next_key)
{
	begin("(");
	strcpy(prompt.error, "no");
	key(KEY_LEFT);
	assert_string_equal(prompt.error, "");
	strcpy(prompt.error, "no");
	ch('a');
	assert_string_equal(prompt.error, "");
}
