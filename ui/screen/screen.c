// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts the picture together: what is above the table, the page, the lines below it. */
#include <stdio.h>
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/screen_private.h"

#define ROWS_FULL 9 /* from this height on the frame has all its lines */
#define ROWS_MIN 3
#define COLS_MIN 16
#define ROWS_WORDS 20 /* and from this one on a trouble may take two */
#define PROMPT_ROOM 8 /* columns to type in */

const struct key_help screen_keys[] = {
	{ "h ?", "h help", "this help", 0 },
	{ "q", "q quit", "quit", 0 },
	{ "1 - 5 Tab", NULL, "views: events, guests, vCPUs, exits, hot spots", 0 },
	{ "Enter", "Enter open", "deeper: an event's reasons; guest, vCPU, exit, argument", 0 },
	{ "Backspace", "Backspace back", "back to where Enter or b came from", KEY_BACK },
	{ "x", "x reasons", "all reasons, or none", KEY_TREES },
	{ "b", "b guests", "by guest, and back", KEY_ELSEWHERE },
	{ "f", "f filter", "show events that match a regular expression", 0 },
	{ "c", NULL, "clear the filter and the guest", 0 },
	{ "g p", "g guest", "one guest only, by name or pid", 0 },
	{ "o", "o order", "sort by rate, or by total", 0 },
	{ "< > R", "< > column", "sort by the column to the left or right; reverse", 0 },
	{ "r", "r reset", "totals count from now on", KEY_LIVE },
	{ "s + -", "s delay", "interval", KEY_LIVE },
	{ "Space", "Space pause", "pause, and go on", KEY_LIVE },
	{ "/ n", "/ search", "search for a name; again", 0 },
	{ "arrows", NULL, "move, as do PgUp, PgDn, Home, End; Esc lets go of the row", 0 },
	{ 0 },
};

bool screen_has_key(const struct screen *screen, const struct key_help *key)
{
	if (key->where & KEY_LIVE && screen->recording)
		return false;
	return !(key->where & KEY_TREES) || screen->query->type->has_trees;
}

/* Whether it is worth a place in the last line now. */
static bool is_offered(const struct screen *screen, const struct key_help *key)
{
	if (!key->brief || !screen_has_key(screen, key))
		return false;
	if (key->where & KEY_BACK && !screen->can_go_back)
		return false;
	return !(key->where & KEY_ELSEWHERE) || screen->query->type != &view_guests;
}

struct row_id row_id_of(const struct view_row *row)
{
	struct row_id id = { row->field, row->guest, row->vcpu, FIELD_NONE, row->is_rest };

	/* Each event that is open may have a rest, below it. */
	while (id.is_rest && row->depth)
		row--;
	if (id.is_rest)
		id.parent = row->field;
	return id;
}

bool row_id_equal(const struct row_id *a, const struct row_id *b)
{
	return a->field == b->field && a->guest == b->guest && a->vcpu == b->vcpu &&
	       a->parent == b->parent && a->is_rest == b->is_rest;
}

size_t screen_find_row(const struct screen *screen, const struct row_id *id)
{
	const struct view *view = screen->view;

	for (size_t i = 0; i < view->nr_rows; i++) {
		struct row_id this = row_id_of(&view->rows[i]);

		if (row_id_equal(&this, id))
			return i;
	}
	return view->nr_rows;
}

void screen_add_hit(struct screen *screen, struct hit hit)
{
	if (screen->nr_hits < SCREEN_HITS)
		screen->hits[screen->nr_hits++] = hit;
}

/* As many as fit, the first the most useful. */
static void paint_keys(const struct screen *screen, struct grid *grid, int row, int col, int end)
{
	for (const struct key_help *key = screen_keys; key->key; key++) {
		if (!is_offered(screen, key) || col + (int)strlen(key->brief) > end)
			continue;
		grid_put(grid, row, col, STYLE_DIM, key->brief);
		col += (int)strlen(key->brief) + 2;
	}
}

/* Of a line that is too long the part up to the cursor is shown: how much before it is not. */
static size_t hidden_part(const struct prompt *prompt, int room)
{
	size_t first = prompt->cursor;

	while (first && room > 0) {
		room -= wcwidth(prompt->text[first - 1]) == 2 ? 2 : 1;
		first -= room >= 0;
	}
	return first;
}

/* What is wrong with the text takes its place until the next key. */
static void paint_prompt(struct screen *screen, struct grid *grid, int row)
{
	const struct prompt *prompt = &screen->prompt;
	char text[PROMPT_BYTES];
	struct prompt part = *prompt;
	size_t skip;
	int col;

	screen->prompt_col = -1;
	if (prompt->error[0]) {
		format_cut(text, sizeof(text), prompt->error, grid->cols, screen->is_utf8);
		grid_put(grid, row, 0, STYLE_ALERT, text);
		return;
	}
	col = grid_put(grid, row, 0, STYLE_BOLD, prompt->label);
	/* A label that leaves no room gives way. */
	if (grid->cols - col < PROMPT_ROOM) {
		grid_clear_row(grid, row);
		col = grid_put(grid, row, 0, STYLE_BOLD, "> ");
	}
	skip = hidden_part(prompt, grid->cols - col - 1);
	part.len -= skip;
	wmemmove(part.text, prompt->text + skip, part.len);
	prompt_text(&part, text, sizeof(text));
	grid_put(grid, row, col, STYLE_PLAIN, text);
	part.len = prompt->cursor - skip;
	prompt_text(&part, text, sizeof(text));
	screen->prompt_col = col + format_width(text);
}

/* How many lines above the last what is wrong takes: the keys keep theirs, the rows move up. */
static int trouble_lines(const struct screen *screen, const struct grid *grid)
{
	int len;

	if (!screen->trouble[0] || screen->page == PAGE_HELP || grid->rows < ROWS_FULL)
		return 0;
	len = words_that_fit(screen->trouble, grid->cols);
	return screen->trouble[len] && grid->rows >= ROWS_WORDS ? 2 : 1;
}

/* Whole words; the help has what does not fit. */
static void paint_trouble(const struct screen *screen, struct grid *grid, int row, int nr)
{
	const char *rest = screen->trouble;
	char text[512];

	for (; nr > 1; nr--) {
		int len = words_that_fit(rest, grid->cols);

		grid_printf(grid, row++, 0, STYLE_NOTICE, "%.*s", len, rest);
		rest += len;
		rest += *rest == ' ';
	}
	format_cut(text, sizeof(text), rest, grid->cols, screen->is_utf8);
	grid_put(grid, row, 0, STYLE_NOTICE, text);
}

/* Keys or what we have to say; at the right which rows are seen where the table has no room. */
static void paint_foot(struct screen *screen, struct grid *grid, int row)
{
	int width = format_width(screen->where), end = grid->cols, col = 0;
	char text[512];

	if (screen->is_paused && !screen->notice[0])
		col = grid_put(grid, row, col, STYLE_NOTICE, "PAUSED") + 2;
	if (width && col + width + (int)strlen("  h help") <= end) {
		end -= width;
		grid_put(grid, row, end, STYLE_DIM, screen->where);
		end -= 2;
	}
	if (screen->notice[0]) {
		format_cut(text, sizeof(text), screen->notice, end, screen->is_utf8);
		grid_put(grid, row, 0, STYLE_NOTICE, text);
		return;
	}
	if (screen->trouble[0] && !col && !trouble_lines(screen, grid)) /* the help tells */
		col = grid_put(grid, row, col, STYLE_NOTICE, "!") + 1;
	paint_keys(screen, grid, row, col, end);
}

/* The last line: the prompt, else a notice, else the keys. None of them hides a row. */
static void paint_last_line(struct screen *screen, struct grid *grid, int row)
{
	screen->prompt_col = -1;
	if (screen->has_prompt)
		paint_prompt(screen, grid, row);
	else if (screen->page == PAGE_HELP)
		grid_put(grid, row, 0, STYLE_DIM, screen->has_more_help ?
			 "arrows: more  other keys: back" : "any key: back");
	else
		paint_foot(screen, grid, row);
}

static void paint_page(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	switch (screen->page) {
	case PAGE_TABLE:
		table_paint(screen, grid, first_row, last_row);
		break;
	case PAGE_HELP:
		help_paint(screen, grid, first_row, last_row);
		break;
	case PAGE_GUESTS:
		guests_paint(screen, grid, first_row, last_row);
		break;
	}
}

void screen_paint(struct screen *screen, struct grid *grid)
{
	int row = 0, below = trouble_lines(screen, grid);

	grid_clear(grid);
	screen->nr_hits = 0;
	screen->where[0] = '\0';
	if (grid->rows < ROWS_MIN || grid->cols < COLS_MIN) {
		grid_put(grid, 0, 0, STYLE_PLAIN, "too small");
		return;
	}
	if (grid->rows >= ROWS_FULL) {
		head_paint_title(screen, grid);
		head_paint_summary(screen, grid, 1);
		head_paint_tabs(screen, grid, 2);
		row = 3;
	} else if (grid->rows > ROWS_MIN) {
		head_paint_tabs(screen, grid, 0);
		row = 1;
	}
	paint_page(screen, grid, row, grid->rows - 2 - below);
	if (below)
		paint_trouble(screen, grid, grid->rows - 1 - below, below);
	paint_last_line(screen, grid, grid->rows - 1);
}
