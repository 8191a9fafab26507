// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws bars of eight heights, and shares in four shades. */
#include "facts/stats.h"
#include "ui/screen/bars.h"
#include "views/view.h"

#define LEVEL_MAX 7

static void put_bar(const struct area *area, int at, int level)
{
	static const char *const utf8[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { "_", ".", ".", "-", "-", "=", "*", "#" };

	grid_put(area->grid, area->row, area->col + at, area->style,
		 area->is_utf8 ? utf8[level] : ascii[level]);
}

void spark_paint(const struct area *area, const float *rates)
{
	int width = area->width > STATS_HISTORY ? STATS_HISTORY : area->width;
	float max = 0;

	rates += STATS_HISTORY - width;
	for (int i = 0; i < width; i++)
		max = rates[i] > max ? rates[i] : max;
	for (int i = 0; i < width; i++) {
		if (rates[i] >= 0)
			put_bar(area, i, max > 0 ? (int)(rates[i] / max * LEVEL_MAX + 0.5f) : 0);
	}
}

void hist_paint(const struct area *area, const uint64_t *hist)
{
	uint64_t max = 1;

	for (int i = 0; i < HIST_BUCKETS; i++)
		max = hist[i] > max ? hist[i] : max;
	for (int i = 0; i < HIST_BUCKETS; i++) {
		if (hist[i])
			put_bar(area, i, (int)((double)hist[i] / (double)max * LEVEL_MAX + 0.5));
	}
}

/* Each part ends at the rounded sum of the shares so far, so rounding errors do not add up. */
void split_paint(const struct area *area, const double *split)
{
	static const char *const utf8[SPLIT_PARTS] = { "█", "▓", "▒", "░" };
	static const char *const ascii[SPLIT_PARTS] = { "#", "=", "-", "." };
	double sum = 0;
	int at = 0;

	for (int part = 0; part < SPLIT_PARTS; part++) {
		sum += split[part];
		for (; at < area->width && at < (int)(sum * area->width + 0.5); at++)
			grid_put(area->grid, area->row, area->col + at, area->style,
				 area->is_utf8 ? utf8[part] : ascii[part]);
	}
}
