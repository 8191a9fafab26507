// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws bars of eight heights a line, and shares in four shades. */
#include <math.h>

#include "ui/screen/bars.h"

#define LEVEL_MAX 7 /* of a character, from 0 */

static void put_bar(const struct area *area, int line, int at, int level)
{
	static const wchar_t utf8[] = L"▁▂▃▄▅▆▇█", ascii[] = L"_..--=*#";

	grid_put_char(area->grid, area->row + line, area->col + at,
		 area->style == STYLE_PLAIN ? STYLE_SPARK : area->style,
		 area->is_utf8 ? utf8[level] : ascii[level]);
}

double scale_end(double rate)
{
	double end = 1;

	for (int i = 0; end < rate; i++)
		end *= i % 3 == 1 ? 2.5 : 2;
	return end;
}

double spark_highest(const float *rates, int nr, int width)
{
	float highest = 0;

	for (int i = nr > width ? nr - width : 0; i < nr; i++)
		highest = rates[i] > highest ? rates[i] : highest;
	return (double)highest;
}

/* A bar from the area's lowest line up. */
static void put_tall_bar(const struct area *area, int at, int level)
{
	int line = area->height > 1 ? area->height - 1 : 0;

	for (; line > 0 && level > LEVEL_MAX; line--) {
		put_bar(area, line, at, LEVEL_MAX);
		level -= LEVEL_MAX + 1;
	}
	put_bar(area, line, at, level);
}

/* Only 0 has the lowest bar. */
static int level_of(double rate, double end, int max)
{
	return end > 0 ? (int)fmin(ceil(rate / end * max), max) : 0;
}

void spark_paint(const struct area *area, const float *rates, int nr, double end)
{
	int lines = area->height > 1 ? area->height : 1;
	int max = lines * (LEVEL_MAX + 1) - 1;

	for (int i = 0; i < area->width && i < nr; i++) {
		double rate = (double)rates[nr - 1 - i];

		if (rate >= 0)
			put_tall_bar(area, area->width - 1 - i, level_of(rate, end, max));
	}
}

void hist_paint(const struct area *area, const uint64_t *hist)
{
	uint64_t max = 1;

	for (int i = 0; i < HIST_BUCKETS; i++)
		max = hist[i] > max ? hist[i] : max;
	for (int i = 0; i < HIST_BUCKETS; i++) {
		if (hist[i])
			put_bar(area, 0, i, (int)((double)hist[i] / (double)max * LEVEL_MAX + 0.5));
	}
}

const char *split_sign(enum split_part part, bool is_utf8)
{
	static const char *const utf8[SPLIT_PARTS] = { "█", "▓", "▒", "▚", "░" };
	static const char *const ascii[SPLIT_PARTS] = { "#", "=", "-", "~", "." };

	return is_utf8 ? utf8[part] : ascii[part];
}

enum style split_style(enum split_part part)
{
	static const enum style styles[SPLIT_PARTS] = {
		[SPLIT_GUEST] = STYLE_GUEST,
		[SPLIT_KVM] = STYLE_KVM,
		[SPLIT_USER] = STYLE_USER,
		[SPLIT_POLL] = STYLE_POLL,
		[SPLIT_HALT] = STYLE_HALT,
	};

	return styles[part];
}

/* Each part ends at the rounded sum of the shares so far, so rounding errors do not add up. */
void split_paint(const struct area *area, const double *split)
{
	double sum = 0;
	int at = 0;

	for (enum split_part part = 0; part < SPLIT_PARTS; part++) {
		enum style style = area->style == STYLE_PLAIN ? split_style(part) : area->style;

		sum += split[part];
		for (; at < area->width && at < (int)(sum * area->width + 0.5); at++)
			grid_put(area->grid, area->row, area->col + at, style,
				 split_sign(part, area->is_utf8));
	}
}
