// SPDX-License-Identifier: GPL-2.0-or-later
/* What a grid does with text that does not fit, is wide, or is no text at all. */
#include <limits.h>
#include <locale.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "ui/screen/grid.h"

static int setup(void **state)
{
	static struct grid grid;

	grid = (struct grid){ 0 };
	*state = &grid;
	grid_resize(&grid, 2, 8);
	return 0;
}

static int teardown(void **state)
{
	grid_release(*state);
	grid_release(*state); /* once more does no harm */
	return 0;
}

static const char *row_text(const struct grid *grid, int row)
{
	static char text[256];

	grid_row_text(grid, row, text, sizeof(text));
	return text;
}

static enum style style_at(const struct grid *grid, int row, int col)
{
	return grid->cells[row * grid->cols + col].style;
}

TEST(text_stands_where_it_was_put, setup, teardown)
{
	struct grid *grid = *state;

	assert_int_equal(grid_put(grid, 0, 1, STYLE_BOLD, "abc"), 4);
	assert_int_equal(grid_printf(grid, 1, 0, STYLE_DIM, "%d%%", 42), 3);
	assert_string_equal(row_text(grid, 0), " abc");
	assert_string_equal(row_text(grid, 1), "42%");
	assert_int_equal(style_at(grid, 0, 0), STYLE_PLAIN);
	assert_int_equal(style_at(grid, 0, 1), STYLE_BOLD);
	assert_int_equal(style_at(grid, 0, 4), STYLE_PLAIN);
}

TEST(what_is_outside_is_clipped, setup, teardown)
{
	struct grid *grid = *state;

	assert_int_equal(grid_put(grid, 0, 6, STYLE_PLAIN, "abcd"), 10);
	assert_int_equal(grid_put(grid, 1, -2, STYLE_PLAIN, "abcd"), 2);
	grid_put(grid, -1, 0, STYLE_PLAIN, "above");
	grid_put(grid, 2, 0, STYLE_PLAIN, "below");
	grid_put(grid, 0, 100, STYLE_PLAIN, "beside");
	grid_put(grid, INT_MAX, INT_MIN, STYLE_PLAIN, "beyond");
	grid_style(grid, -1, 0, STYLE_BOLD);
	grid_style(grid, 2, 0, STYLE_BOLD);
	grid_style(grid, 0, 100, STYLE_BOLD);
	grid_clear_row(grid, -1);
	grid_clear_row(grid, 2);
	assert_string_equal(row_text(grid, 0), "      ab");
	assert_string_equal(row_text(grid, 1), "cd");
}

TEST(wide_characters_take_two_columns, setup, teardown)
{
	struct grid *grid = *state;

	assert_int_equal(grid_put(grid, 0, 0, STYLE_PLAIN, "aデータ"), 7);
	assert_string_equal(row_text(grid, 0), "aデータ");
	assert_int_equal(grid->cells[2].ch, 0);
	grid_put(grid, 0, 7, STYLE_PLAIN, "b");
	assert_string_equal(row_text(grid, 0), "aデータb");
}

TEST(a_wide_character_is_not_cut_in_half, setup, teardown)
{
	struct grid *grid = *state;

	grid_put(grid, 0, 5, STYLE_PLAIN, "デデ");
	assert_string_equal(row_text(grid, 0), "     デ");
	grid_put(grid, 1, -1, STYLE_PLAIN, "デa");
	assert_string_equal(row_text(grid, 1), " a");
	assert_int_equal(grid->cells[grid->cols].ch, L' ');
}

TEST(half_of_a_wide_character_goes_with_the_other, setup, teardown)
{
	struct grid *grid = *state;

	grid_put(grid, 0, 0, STYLE_PLAIN, "デデデ");
	grid_put(grid, 0, 1, STYLE_PLAIN, "x");
	assert_string_equal(row_text(grid, 0), " xデデ");
	grid_put(grid, 0, 2, STYLE_PLAIN, "y");
	assert_string_equal(row_text(grid, 0), " xy デ");
	grid_put(grid, 0, 0, STYLE_PLAIN, "デデデ");
	grid_put(grid, 0, 1, STYLE_PLAIN, "デ");
	assert_string_equal(row_text(grid, 0), " デ デ");
	for (int col = 0; col < 7; col++) /* no half stands alone */
		assert_true(grid->cells[col + 1].ch || wcwidth(grid->cells[col].ch) == 2);
}

TEST(what_is_no_text_is_a_question_mark, setup, teardown)
{
	struct grid *grid = *state;

	assert_int_equal(grid_put(grid, 0, 0, STYLE_PLAIN, "a\xff\xc3(\tb"), 6);
	assert_string_equal(row_text(grid, 0), "a\?\?(?b");
	/* Cut in the middle of a character, at the end of the text. */
	assert_int_equal(grid_put(grid, 1, 0, STYLE_PLAIN, "x\xe3\x83"), 3);
	assert_string_equal(row_text(grid, 1), "x??");
	grid_put(grid, 1, 0, STYLE_PLAIN, "\033[2J");
	assert_string_equal(row_text(grid, 1), "?[2J");
	setlocale(LC_ALL, "C"); /* which has no such letter */
	assert_int_equal(grid_put(grid, 1, 0, STYLE_PLAIN, "Bär."), 4);
	assert_string_equal(row_text(grid, 1), "B?r.");
	setlocale(LC_ALL, "C.UTF-8");
}

TEST(what_takes_no_column_is_left_out, setup, teardown)
{
	struct grid *grid = *state;

	assert_int_equal(grid_put(grid, 0, 0, STYLE_PLAIN, "e\xcc\x81z"), 2);
	assert_string_equal(row_text(grid, 0), "ez");
}

TEST(a_row_has_a_style_from_a_column_on, setup, teardown)
{
	struct grid *grid = *state;

	grid_put(grid, 0, 0, STYLE_BOLD, "abcdef");
	grid_style(grid, 0, 3, STYLE_HEADING);
	assert_int_equal(style_at(grid, 0, 2), STYLE_BOLD);
	assert_int_equal(style_at(grid, 0, 3), STYLE_HEADING);
	assert_int_equal(style_at(grid, 0, 7), STYLE_HEADING);
	assert_int_equal(style_at(grid, 1, 3), STYLE_PLAIN);
	assert_string_equal(row_text(grid, 0), "abcdef");
	grid_clear_row(grid, 0);
	assert_string_equal(row_text(grid, 0), "");
	assert_int_equal(style_at(grid, 0, 3), STYLE_PLAIN);
}

TEST(a_size_is_a_new_picture, setup, teardown)
{
	struct grid *grid = *state;

	grid_put(grid, 0, 0, STYLE_BOLD, "abc");
	grid_resize(grid, 1, 1);
	assert_string_equal(row_text(grid, 0), "");
	grid_put(grid, 0, 0, STYLE_BOLD, "デ");
	assert_string_equal(row_text(grid, 0), "");
	grid_put(grid, 0, 0, STYLE_BOLD, "abc");
	assert_string_equal(row_text(grid, 0), "a");
	grid_resize(grid, 0, 0);
	grid_put(grid, 0, 0, STYLE_BOLD, "abc");
	grid_clear(grid);
}

TEST(a_small_buffer_gets_a_part, setup, teardown)
{
	struct grid *grid = *state;
	char text[MB_LEN_MAX + 3];

	grid_put(grid, 0, 0, STYLE_PLAIN, "abcdefg");
	grid_row_text(grid, 0, text, sizeof(text));
	assert_int_equal(strncmp(text, "abcdefg", strlen(text)), 0);
	assert_true(strlen(text) >= 2);
}

TEST(a_copy_is_cut_off_at_the_edges, setup, teardown)
{
	struct grid *grid = *state, small = { 0 };

	grid_resize(&small, 2, 4);
	grid_put(&small, 0, 0, STYLE_BOLD, "abcd");
	grid_put(&small, 1, 0, STYLE_PLAIN, "本x");
	grid_put(grid, 0, 0, STYLE_PLAIN, "........");
	grid_copy(grid, 0, 2, &small);
	assert_string_equal(row_text(grid, 0), "..abcd..");
	assert_string_equal(row_text(grid, 1), "  本x");
	assert_int_equal(style_at(grid, 0, 2), STYLE_BOLD);
	grid_copy(grid, 1, 6, &small);
	assert_string_equal(row_text(grid, 1), "  本x ab");
	grid_release(&small);
}
