// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints a tree of calls (the view Where with all trees open): as lines of flamegraph.pl's format,
 * which other programs read, too, with times in us; or as a flame graph, an SVG without scripts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/views/view.h"
#include "lib/array.h"
#include "ui/lines/format.h"
#include "ui/numbers.h"

#define LEVELS 256
#define WIDTH 1200.0
#define HEIGHT 17 /* of a level */
#define MARGIN 24 /* above the picture */
#define LEAST 0.1 /* narrower boxes are not drawn */
#define LETTER 7.0
#define NS_PER_US 1000

static const char *name_of(const struct view *view, const struct view_row *row)
{
	const struct cell *name = lines_cell(view, row, COL_FUNCTION);

	return name->type == CELL_TEXT ? name->text : "-";
}

static uint64_t ns_of(const struct view *view, const struct view_row *row, enum column_id id)
{
	const struct cell *cell = lines_cell(view, row, id);

	return cell->type == CELL_NS ? cell->ns : 0;
}

/* ---- folded */

/* The format has no way to write a separator: it becomes another character. */
static void print_folded(void *state, FILE *out, const struct lines_sample *sample)
{
	const struct view *view = sample->view;
	const char *names[LEVELS];

	(void)state;
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];
		uint64_t us = ns_of(view, row, COL_SELF_TIME) / NS_PER_US;

		names[row->depth] = name_of(view, row);
		if (!us)
			continue;
		for (unsigned int level = 0; level <= row->depth; level++) {
			if (level)
				fputc(';', out);
			for (const char *at = names[level]; *at; at++)
				fputc(*at == ';' ? ':' : *at == '\n' ? '_' : *at, out);
		}
		fprintf(out, " %" PRIu64 "\n", us);
	}
}

const struct lines_type lines_folded = { .print = print_folded };

/* ---- the picture */

/* An SVG with a part of a letter is no XML: UTF-8's bytes from 0x80 to 0xbf continue one. */
static void print_escaped(FILE *out, const char *text, size_t letters)
{
	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80 && !letters--)
			break;
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if ((unsigned char)*text < ' ')
			fputc('?', out);
		else
			fputc(*text, out);
	}
}

/* By the side of a function; guests, vCPUs and exits have none. */
static const char *color_of(const struct view *view, const struct view_row *row)
{
	static const struct {
		const char *side, *color;
	} colors[] = {
		{ "kernel", "#f4b183" }, { "VMM", "#a9d18e" },	{ "guest", "#9dc3e6" },
		{ "off CPU", "#bfbfbf" }, { "exit", "#ffe699" },
	};
	const struct cell *side = lines_cell(view, row, COL_SIDE);

	for (size_t i = 0; side->type == CELL_TEXT && i < ARRAY_SIZE(colors); i++) {
		if (strcmp(colors[i].side, side->text) == 0)
			return colors[i].color;
	}
	return "#e2e2e2";
}

/* %f would write the decimal point of the locale. */
static void print_pixels(FILE *out, const char *attribute, double pixels)
{
	uint64_t tenths = (uint64_t)(pixels * 10 + 0.5);

	fprintf(out, " %s=\"%" PRIu64 ".%" PRIu64 "\"", attribute, tenths / 10, tenths % 10);
}

static void print_box(FILE *out, const struct view *view, const struct view_row *row, double x,
		      double width, unsigned int y)
{
	const char *name = name_of(view, row);
	size_t letters = width > 2 * LETTER ? (size_t)(width / LETTER) : 0;
	char time[32];

	format_duration(time, sizeof(time), ns_of(view, row, COL_TIME));
	fputs("<g><title>", out);
	print_escaped(out, name, SIZE_MAX);
	fprintf(out, ", %s</title><rect", time);
	print_pixels(out, "x", x);
	print_pixels(out, "width", width);
	fprintf(out, " y=\"%u\" height=\"%d\" fill=\"%s\"/>", y, HEIGHT - 1, color_of(view, row));
	if (letters) {
		fputs("<text", out);
		print_pixels(out, "x", x + 2);
		fprintf(out, " y=\"%u\">", y + HEIGHT - 5);
		print_escaped(out, name, letters);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static unsigned int deepest(const struct view *view)
{
	unsigned int depth = 0;

	for (size_t i = 0; i < view->nr_rows; i++)
		depth = view->rows[i].depth > depth ? view->rows[i].depth : depth;
	return depth;
}

static void print_svg(void *state, FILE *out, const struct lines_sample *sample)
{
	const struct view *view = sample->view;
	unsigned int height = MARGIN + (deepest(view) + 1) * HEIGHT;
	double ends[LEVELS] = { 0 }, whole = 0; /* ends: where the next box of a level begins */

	(void)state;
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (!view->rows[i].depth)
			whole += (double)ns_of(view, &view->rows[i], COL_TIME);
	}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"2\" y=\"15\">kvmtop where: time in exits, by guest, vCPU, reason and "
		"calls</text>\n", (int)WIDTH, height, (int)WIDTH, height);
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];
		double width = (double)ns_of(view, row, COL_TIME) / whole * WIDTH;
		double x = ends[row->depth];

		ends[row->depth] = x + width;
		if (row->depth + 1 < LEVELS)
			ends[row->depth + 1] = x;
		if (width >= LEAST)
			print_box(out, view, row, x, width, MARGIN + row->depth * HEIGHT);
	}
	fputs("</svg>\n", out);
}

const struct lines_type lines_svg = { .print = print_svg };
