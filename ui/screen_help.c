// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints the help page: a key, and what it does beside it, or below where the screen is narrow. */
#include <string.h>

#include "ui/screen_private.h"

#define COLS_BESIDE 34 /* from this width on */
#define INDENT 2       /* of what is below */

/* Lines from 0 on, of which those that are visible are painted. */
struct page {
	struct grid *grid;
	int first_row, last_row;
	size_t top, line;
};

static void put_line(struct page *page, int col, enum style style, const char *text, int len)
{
	long row = (long)page->line - (long)page->top + page->first_row;

	if (row >= page->first_row && row <= page->last_row)
		grid_printf(page->grid, (int)row, col, style, "%.*s", len, text);
}

/* How much of the text goes on one line: whole words, unless not even one fits. */
static int take_words(const char *text, int width)
{
	int len = (int)strlen(text);

	if (len <= width)
		return len;
	for (len = width; len > 0 && text[len] != ' ';)
		len--;
	return len > 0 ? len : width;
}

static void put_wrapped(struct page *page, int col, const char *text)
{
	while (*text) {
		int len = take_words(text, page->grid->cols - col);

		put_line(page, col, STYLE_PLAIN, text, len);
		page->line++;
		text += len;
		text += *text == ' ';
	}
}

static int widest_key(void)
{
	size_t width = 0;

	for (const struct key_help *key = screen_keys; key->key; key++)
		width = strlen(key->key) > width ? strlen(key->key) : width;
	return (int)width;
}

static size_t put_keys(struct page *page)
{
	bool is_beside = page->grid->cols >= COLS_BESIDE;
	int width = widest_key();

	page->line = 0;
	for (const struct key_help *key = screen_keys; key->key; key++) {
		put_line(page, 1, STYLE_BOLD, key->key, width);
		page->line += !is_beside;
		put_wrapped(page, is_beside ? width + 3 : INDENT, key->help);
	}
	return page->line;
}

void help_paint(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	struct page page = { grid, first_row, last_row, SIZE_MAX / 4, 0 };
	size_t fit = last_row >= first_row ? (size_t)(last_row - first_row + 1) : 0;
	size_t nr = put_keys(&page); /* far below the last line: only counts them */

	screen->page_rows = fit;
	screen->has_more_help = nr > fit;
	if (screen->help_top + fit > nr)
		screen->help_top = nr > fit ? nr - fit : 0;
	page.top = screen->help_top;
	put_keys(&page);
}
