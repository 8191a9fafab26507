/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid - a picture in memory: characters with a style, in rows and columns.
 *
 * Painting into a grid clips silently, so painters need no bounds; tests read it as text.
 */
#ifndef KVMTOP_UI_SCREEN_GRID_H
#define KVMTOP_UI_SCREEN_GRID_H

#include <wchar.h>

#define HEAT_STEPS 5

enum style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_HEADING,	/* the table's head, reverse */
	STYLE_SORTED,	/* the heading of the sort column */
	STYLE_SELECTED, /* the row under the cursor, reverse */
	STYLE_TAB,	/* the active view's tab */
	STYLE_SPARK,
	STYLE_GUEST, /* the parts of enum split_part, in that order */
	STYLE_KVM,
	STYLE_USER,
	STYLE_POLL,
	STYLE_BLOCK,
	STYLE_WAIT,
	STYLE_IDLE,
	STYLE_WARN, /* a high share of time that the guest lost */
	STYLE_NOTICE,
	STYLE_ALERT,
	STYLE_THEN, /* the moment that is shown is not now */
	STYLE_HEAT, /* the first of the styles of style_heat() and style_mark() */
	STYLE_NR = STYLE_HEAT + (HEAT_STEPS + 1) * (HEAT_STEPS + 1)
};

/*
 * The steps of a heat map's scale are 1 to HEAT_STEPS; 0: the terminal's own colour. Ink is the
 * colour of the character, paper its background: without a palette all papers are 0.
 */
static inline enum style style_heat(int ink, int paper)
{
	return (enum style)(STYLE_HEAT + ink * (HEAT_STEPS + 1) + paper);
}

/* A mark that is legible on a step. */
static inline enum style style_mark(int paper)
{
	return style_heat(0, paper);
}

struct grid_cell {
	wchar_t ch; /* 0: the right half of a wide character */
	enum style style;
};

struct grid {
	int rows, cols;
	struct grid_cell *cells;
};

void grid_resize(struct grid *grid, int rows, int cols); /* cleared */
void grid_clear(struct grid *grid);
void grid_clear_row(struct grid *grid, int row);
void grid_release(struct grid *grid);

/*
 * Writes UTF-8 text at (row, col); returns the column after the text, even if the text was
 * clipped.
 */
int grid_put(struct grid *grid, int row, int col, enum style style, const char *text);
int grid_printf(struct grid *grid, int row, int col, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Puts one character of one column: much faster, for pictures. */
void grid_put_char(struct grid *grid, int row, int col, enum style style, wchar_t ch);

/* Gives a whole row, or its columns from col on, a style. */
void grid_style(struct grid *grid, int row, int col, enum style style);

/* Copies a picture to (row, col); what does not fit is cut off. */
void grid_copy(struct grid *to, int row, int col, const struct grid *from);

/* One row as UTF-8, blanks at its end cut off; buf of size bytes. */
void grid_row_text(const struct grid *grid, int row, char *buf, size_t size);

#endif
