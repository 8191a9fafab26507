// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paints the help page: the keys and the columns of the view, with the meaning beside each, or
 * below it on a narrow screen.
 */
#include <stdio.h>
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/parts.h"

#define COLS_BESIDE 34 /* from this width on */
#define INDENT 2       /* of a meaning below */

/* Lines are numbered from 0; only the visible lines are painted. */
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

static void put_wrapped(struct page *page, int col, const char *text)
{
	const char *line;
	int len;

	while ((line = line_of_words(&text, page->grid->cols - col, &len))) {
		put_line(page, col, STYLE_PLAIN, line, len);
		page->line++;
	}
}

/* A word at the left, and its meaning. */
static void put_entry(struct page *page, int width, const char *word, const char *help)
{
	bool is_beside = page->grid->cols >= COLS_BESIDE;

	put_line(page, 1, STYLE_BOLD, word, width);
	page->line += !is_beside;
	put_wrapped(page, is_beside ? width + 3 : INDENT, help);
}

/* "1 - 6 Tab  views: events, ...": the keys of most tabs are numbers. */
static void put_views(struct page *page, int width)
{
	char keys[32], titles[128];
	size_t nr = 0;

	while (view_type_by_key('1' + (uint32_t)nr))
		nr++;
	snprintf(keys, sizeof(keys), "1 - %zu Tab", nr);
	snprintf(titles, sizeof(titles), "views: ");
	view_type_titles(titles + strlen(titles), sizeof(titles) - strlen(titles));
	put_entry(page, width, keys, titles);
}

static int widest_word(const struct screen *screen)
{
	const struct view *view = screen->view;
	size_t width = 0;

	for (const struct key_help *key = screen_keys; key->key; key++)
		width = strlen(key->key) > width ? strlen(key->key) : width;
	for (size_t i = 0; view->type->columns[i].id; i++) {
		if (screen_has_column(screen, i) && strlen(view_title(view, i)) > width)
			width = strlen(view_title(view, i));
	}
	return (int)width;
}

static void put_column(struct page *page, int width, const struct view *view, size_t i)
{
	const struct column *column = &view->type->columns[i];
	int warn = column->warn;
	char text[256];

	snprintf(text, sizeof(text), "%s", column_help(column));
	if (warn)
		snprintf(text, sizeof(text), "%s; highlighted from %d on", column_help(column),
			 warn);
	put_entry(page, width, view_title(view, i), text);
}

/* Puts the keys, then the columns of the view. Returns the number of lines. */
static size_t put_all(struct page *page, const struct screen *screen)
{
	const struct view *view = screen->view;
	const struct column *columns = view->type->columns;
	int width = widest_word(screen);

	page->line = 0;
	if (screen->trouble[0]) {
		put_wrapped(page, 1, screen->trouble);
		page->line++;
	}
	for (const struct key_help *key = screen_keys; key->key; key++) {
		if (key->needs & KEY_VIEWS)
			put_views(page, width);
		else if (key->help && screen_has_key(screen, key))
			put_entry(page, width, key->key, key->help);
	}
	page->line++;
	if (screen->recording) {
		put_wrapped(page, 1,
			    "The entire recording is one interval, from its first to its last "
			    "moment; it is also cut into shorter ones, to look at one after the "
			    "other. Times begin at 00:00:00 with the recording. An exit is in the "
			    "interval in which it ended.");
		page->line++;
	}
	for (size_t i = 0; columns[i].id; i++) {
		if (screen_has_column(screen, i))
			put_column(page, width, view, i);
	}
	return page->line;
}

void help_paint(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	struct page page = { grid, first_row, last_row, SIZE_MAX / 4, 0 };
	size_t fit = last_row >= first_row ? (size_t)(last_row - first_row + 1) : 0;
	size_t nr = put_all(&page, screen); /* top is beyond all lines: this only counts them */

	screen->page_rows = fit;
	screen->page_has_more = nr > fit;
	if (screen->page_top + fit > nr)
		screen->page_top = nr > fit ? nr - fit : 0;
	page.top = screen->page_top;
	put_all(&page, screen);
}
