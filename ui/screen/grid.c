// SPDX-License-Identifier: GPL-2.0-or-later
/* A picture in memory. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "lib/xalloc.h"
#include "ui/screen/grid.h"

void grid_resize(struct grid *grid, int rows, int cols)
{
	struct grid_cell *cells = xcalloc((size_t)rows * (size_t)cols + 1, sizeof(*cells));

	free(grid->cells);
	grid->rows = rows;
	grid->cols = cols;
	grid->cells = cells;
	grid_clear(grid);
}

void grid_clear_row(struct grid *grid, int row)
{
	for (int col = 0; row >= 0 && row < grid->rows && col < grid->cols; col++)
		grid->cells[row * grid->cols + col] = (struct grid_cell){ L' ', STYLE_PLAIN };
}

void grid_clear(struct grid *grid)
{
	for (int row = 0; row < grid->rows; row++)
		grid_clear_row(grid, row);
}

void grid_release(struct grid *grid)
{
	free(grid->cells);
	*grid = (struct grid){ 0 };
}

/* NULL: outside. */
static struct grid_cell *cell_at(const struct grid *grid, int row, int col)
{
	if (row < 0 || row >= grid->rows || col < 0 || col >= grid->cols)
		return NULL;
	return &grid->cells[row * grid->cols + col];
}

/* Overwriting one half of a wide character blanks the other half. */
void grid_put_char(struct grid *grid, int row, int col, enum style style, wchar_t ch)
{
	struct grid_cell *cell = cell_at(grid, row, col), *next = cell_at(grid, row, col + 1);

	if (!cell)
		return;
	if (!cell->ch && ch && col > 0)
		cell[-1].ch = L' ';
	if (next && !next->ch)
		next->ch = L' ';
	*cell = (struct grid_cell){ ch, style };
}

/*
 * The next character of text. A character that cannot be printed becomes '?'; one without a column
 * of its own has width 0 and is left out. Returns its length in bytes, 0 at the end. Nearly all
 * characters are ASCII.
 */
static size_t next_char(const char *text, wchar_t *ret_ch, int *ret_width)
{
	uint32_t code = L'?';
	size_t n;

	if (*text >= ' ' && *text <= '~') {
		*ret_ch = (wchar_t)*text;
		*ret_width = 1;
		return 1;
	}
	if (!*text)
		return 0;
	n = utf8_decode(text, strnlen(text, MB_LEN_MAX), &code);
	*ret_ch = (wchar_t)code;
	*ret_width = wcwidth(*ret_ch);
	if (*ret_width < 0) {
		*ret_ch = L'?';
		*ret_width = 1;
	}
	return n ? n : 1;
}

int grid_put(struct grid *grid, int row, int col, enum style style, const char *text)
{
	wchar_t ch;
	size_t n;
	int width;

	for (; (n = next_char(text, &ch, &width)); text += n) {
		bool is_cut = width == 2 && (col == -1 || col == grid->cols - 1);

		if (!width)
			continue;
		/* A wide character that would be cut in half is not printed. */
		grid_put_char(grid, row, col++, style, is_cut ? L' ' : ch);
		if (width == 2)
			grid_put_char(grid, row, col++, style, is_cut ? L' ' : L'\0');
	}
	return col;
}

int grid_printf(struct grid *grid, int row, int col, enum style style, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return grid_put(grid, row, col, style, text);
}

void grid_style(struct grid *grid, int row, int col, enum style style)
{
	for (; row >= 0 && row < grid->rows && col < grid->cols; col++)
		grid->cells[row * grid->cols + col].style = style;
}

void grid_copy(struct grid *to, int row, int col, const struct grid *from)
{
	for (int i = 0; i < from->rows * from->cols; i++) {
		const struct grid_cell *cell = &from->cells[i];

		grid_put_char(to, row + i / from->cols, col + i % from->cols, cell->style,
			      cell->ch);
	}
}

void grid_row_text(const struct grid *grid, int row, char *buf, size_t size)
{
	mbstate_t state = { 0 };
	size_t len = 0, end = 0;

	for (int col = 0; col < grid->cols && len + MB_LEN_MAX < size; col++) {
		wchar_t ch = grid->cells[row * grid->cols + col].ch;
		size_t n = ch ? wcrtomb(buf + len, ch, &state) : 0;

		if (n == (size_t)-1)
			n = 0;
		len += n;
		if (ch && ch != L' ')
			end = len;
	}
	buf[end] = '\0';
}
