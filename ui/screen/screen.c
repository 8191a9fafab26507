// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts the picture together: the head, the table or another page, the lines below it. */
#include <stdio.h>
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/parts.h"

#define ROWS_FULL 9 /* from this height on the head has all its lines */
#define HEAD_LINES 3
#define ROWS_MIN 3
#define COLS_MIN 16
#define COLS_MARKS 100 /* from this width on numbers have thousands marks */
#define ROWS_WORDS 20 /* from this height on findings have a line of their own, and a trouble two */
#define PROMPT_ROOM 8 /* columns to type in */
#define DURATION_LINES 8 /* of a row, below a table that has them */
#define SENTENCE_SIZE 600 /* of a finding: as long as its evidence and its remedy */

static bool is_of_exits(const struct view_type *type)
{
	return type->groups & GROUP_REASON || type == &view_long_exits;
}

/* Whether the last line lists the key now. */
static bool is_offered(const struct screen *screen, const struct key_help *key)
{
	if (!key->brief || !screen_has_key(screen, key))
		return false;
	if (key->needs & (screen->shows_heat ? KEY_TABLE : KEY_HEAT))
		return false;
	if (key->needs & KEY_BACK && !screen->can_go_back)
		return false;
	if (key->needs & KEY_EXITS && !is_of_exits(screen->query->type))
		return false;
	return !(key->needs & KEY_GUESTS) || screen->query->type != &view_guests;
}

/* Paints as many keys as fit; the most useful keys are first in the table. */
static void paint_keys(struct screen *screen, struct grid *grid, int row, int col, int end)
{
	for (size_t i = 0; screen_keys[i].key; i++) {
		const struct key_help *key = &screen_keys[i];
		int first = col;

		if (!is_offered(screen, key) || col + (int)strlen(key->brief) > end)
			continue;
		col = grid_put(grid, row, col, STYLE_DIM, key->brief);
		screen_add_hit(screen, (struct hit){ HIT_KEY, row, first, col - 1, i });
		col += 2;
	}
}

/* How many characters at the start are hidden, so that the text cursor is visible. */
static size_t hidden_part(const struct prompt *prompt, int room)
{
	size_t first = prompt->cursor;

	while (first && room > 0) {
		room -= wcwidth(prompt->text[first - 1]) == 2 ? 2 : 1;
		first -= room >= 0;
	}
	return first;
}

/* An error is shown instead of the text until the next key. */
static void paint_prompt(struct screen *screen, struct grid *grid, int row)
{
	const struct prompt *prompt = &screen->prompt;
	char text[PROMPT_BYTES];
	struct prompt part = *prompt;
	size_t skip;
	int col;

	if (prompt->error[0]) {
		format_cut(text, sizeof(text), prompt->error, grid->cols, screen->is_utf8);
		grid_put(grid, row, 0, STYLE_ALERT, text);
		return;
	}
	col = grid_put(grid, row, 0, STYLE_BOLD, prompt->label);
	/* No room to type after the label: the label is dropped. */
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

/* How many lines the trouble takes above the last line, which has the keys. */
static int trouble_lines(const struct screen *screen, const struct grid *grid)
{
	if (!screen->trouble[0] || screen->page == PAGE_HELP || grid->rows < ROWS_FULL)
		return 0;
	return lines_of_words(screen->trouble, grid->cols) > 1 && grid->rows >= ROWS_WORDS ? 2 : 1;
}

/* The line is the finding's without a finding, too, so that nothing moves when there is one. */
static bool has_finding_line(const struct screen *screen, const struct grid *grid)
{
	return screen->page == PAGE_TABLE && grid->rows >= ROWS_WORDS;
}

/* "Why: ..." and "Do: ...", as in the view of findings. */
static void format_sentences(const struct screen *screen, char texts[2][SENTENCE_SIZE])
{
	snprintf(texts[0], SENTENCE_SIZE, "Why: %s", screen->finding_why);
	snprintf(texts[1], SENTENCE_SIZE, "Do: %s", screen->finding_remedy);
}

/*
 * How many lines the finding's evidence and remedy take: none where the table, with its heading and
 * its Total, needs them, or the durations of a row.
 */
static int sentence_lines(const struct screen *screen, const struct grid *grid, int lines)
{
	int needed = (int)screen->view->nr_rows + 2, nr;
	char texts[2][SENTENCE_SIZE];

	if (!screen->has_finding)
		return 0;
	needed += view_has(screen->view, COL_HIST) ? DURATION_LINES : 0;
	format_sentences(screen, texts);
	nr = lines_of_words(texts[0], grid->cols - 1) + lines_of_words(texts[1], grid->cols - 1);
	return needed + nr <= lines || nr <= lines / 10 ? nr : 0;
}

/* Without room how many others there are is left out, then the end. A click is the key w. */
static void paint_finding(struct screen *screen, struct grid *grid, int row)
{
	enum style style = screen->has_finding ? STYLE_NOTICE : STYLE_DIM;
	int room = grid->cols - format_width(screen->finding), end;
	char text[sizeof(screen->finding)];
	size_t key = 0;

	format_cut(text, sizeof(text), screen->finding, grid->cols, screen->is_utf8);
	end = grid_put(grid, row, 0, style, text);
	if (format_width(screen->finding_more) <= room)
		end = grid_put(grid, row, end, style, screen->finding_more);
	while (screen_keys[key].key && screen_keys[key].types != 'w')
		key++;
	if (end)
		screen_add_hit(screen, (struct hit){ HIT_KEY, row, 0, end - 1, key });
}

static void paint_sentences(const struct screen *screen, struct grid *grid, int row)
{
	char texts[2][SENTENCE_SIZE];
	const char *line;
	int len;

	format_sentences(screen, texts);
	for (int i = 0; i < 2; i++) {
		const char *rest = texts[i];

		while ((line = line_of_words(&rest, grid->cols - 1, &len)))
			grid_printf(grid, row++, 1, STYLE_PLAIN, "%.*s", len, line);
	}
}

/* Paints whole words; the help page shows the rest. */
static void paint_trouble(const struct screen *screen, struct grid *grid, int row, int nr)
{
	const char *rest = screen->trouble, *line;
	char text[512];
	int len;

	while (nr-- > 1 && (line = line_of_words(&rest, grid->cols, &len)))
		grid_printf(grid, row++, 0, STYLE_NOTICE, "%.*s", len, line);
	format_cut(text, sizeof(text), rest, grid->cols, screen->is_utf8);
	grid_put(grid, row, 0, STYLE_NOTICE, text);
}

/*
 * The keys, or a notice; at the right the visible rows ("1-20 of 45"), if the table had no room for
 * that text.
 */
static void paint_foot(struct screen *screen, struct grid *grid, int row)
{
	int width = format_width(screen->where), end = grid->cols, col = 0;
	char text[512];

	if (screen->then[0] && !screen->notice[0])
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
	/* A trouble without a line of its own: the help page has the text. */
	if (screen->trouble[0] && !col && !trouble_lines(screen, grid))
		col = grid_put(grid, row, col, STYLE_NOTICE, "!") + 1;
	paint_keys(screen, grid, row, col, end);
}

/* The prompt, else a notice, else the keys. */
static void paint_last_line(struct screen *screen, struct grid *grid, int row)
{
	if (screen->has_prompt)
		paint_prompt(screen, grid, row);
	else if (screen->page == PAGE_COMPARISON || screen->page == PAGE_HELP)
		grid_put(grid, row, 0, STYLE_DIM, screen->page_has_more ?
			 "arrows: more  other keys: back" : "any key: back");
	else
		paint_foot(screen, grid, row);
}

static void paint_heat(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	const struct area area = {
		.grid = grid, .row = first_row, .width = grid->cols,
		.height = last_row - first_row + 1, .is_utf8 = screen->is_utf8,
		.has_marks = screen->has_marks,
	};

	screen->page_rows = 0; /* no row can be clicked */
	over_time_paint(screen, &area);
}

static void paint_comparison(struct screen *screen, struct grid *grid, int first_row,
			     int last_row)
{
	const struct area area = {
		.grid = grid, .row = first_row, .width = grid->cols,
		.height = last_row - first_row + 1, .is_utf8 = screen->is_utf8,
		.has_marks = screen->has_marks,
	};

	screen->page_rows = detail_paint(screen, &screen->comparison, &screen->page_top, &area);
	screen->page_has_more = screen->comparison.view->nr_rows > screen->page_rows;
}

static void paint_page(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	switch (screen->page) {
	case PAGE_TABLE:
		if (screen->shows_heat)
			paint_heat(screen, grid, first_row, last_row);
		else
			body_paint(screen, grid, first_row, last_row);
		break;
	case PAGE_HELP:
		help_paint(screen, grid, first_row, last_row);
		break;
	case PAGE_COMPARISON:
		paint_comparison(screen, grid, first_row, last_row);
		break;
	}
}

/*
 * The title, the worst finding, a summary, the tabs. A lower screen has the finding in place of the
 * summary. Returns the first line below; lines: how many there are for the rest.
 */
static int paint_head(struct screen *screen, struct grid *grid, int lines)
{
	bool has_line = has_finding_line(screen, grid);
	bool is_instead = !has_line && screen->page == PAGE_TABLE && screen->has_finding;
	int row = 0, nr;

	if (grid->rows < ROWS_FULL) {
		if (grid->rows > ROWS_MIN)
			head_paint_tabs(screen, grid, row++);
		return row;
	}
	head_paint_title(screen, grid);
	row++;
	if (has_line || is_instead)
		paint_finding(screen, grid, row++);
	if (has_line) {
		nr = sentence_lines(screen, grid, lines - HEAD_LINES - 1);
		if (nr)
			paint_sentences(screen, grid, row);
		row += nr;
	}
	if (!is_instead)
		head_paint_summary(screen, grid, row++);
	head_paint_tabs(screen, grid, row++);
	return row;
}

void screen_paint(struct screen *screen, struct grid *grid)
{
	int trouble = trouble_lines(screen, grid), last_row = grid->rows - 2 - trouble, row;

	grid_clear(grid);
	screen->has_marks = grid->cols >= COLS_MARKS;
	screen->nr_hits = 0;
	screen->where[0] = '\0';
	screen->prompt_col = -1;
	screen->focus_row = 0;
	if (grid->rows < ROWS_MIN || grid->cols < COLS_MIN) {
		grid_put(grid, 0, 0, STYLE_PLAIN, "too small");
		return;
	}
	row = paint_head(screen, grid, last_row + 1);
	screen->focus_row = row;
	paint_page(screen, grid, row, last_row);
	if (trouble)
		paint_trouble(screen, grid, last_row + 1, trouble);
	paint_last_line(screen, grid, grid->rows - 1);
}
