// SPDX-License-Identifier: GPL-2.0-or-later
/* The dictionary of columns, and cells. */
#include <string.h>

#include "core/views/columns.h"

/* The help of the percentiles' columns, after "half" or "99 %". See hist_percentile_ns(). */
#define PERCENTILE_HELP                                                                        \
	"took no longer: interpolated within a power of two, at most a factor of 2 off, a few " \
	"% where durations are spread evenly; of a recording within 5 %"

#define TEXT(name_, title_, width_) \
	.name = (name_), .title = (title_), .type = CELL_TEXT, .width = (width_)
#define COUNT(name_, title_, width_) \
	.name = (name_), .title = (title_), .type = CELL_COUNT, .width = (width_)
#define SHARE(name_, title_, width_) \
	.name = (name_), .title = (title_), .type = CELL_PERCENT, .width = (width_)
#define RATE(name_, title_, width_) \
	.name = (name_), .title = (title_), .type = CELL_RATE, .width = (width_), .total = TOTAL_SUM
#define TIME(name_, title_) .name = (name_), .title = (title_), .type = CELL_NS, .width = 7
#define PICTURE(type_, name_, title_, width_) \
	.name = (name_), .title = (title_), .type = (type_), .width = (width_)
/* Parts of vCPUs' time, and the host's numbers. */
#define OF_TIME(part_) .total = TOTAL_MEAN, .needs = NEEDS_PART, .part = (part_)
#define OF_HOST(part_) .needs = NEEDS_HOST, .part = (part_)
#define OF_EVENT(kind_) .needs = NEEDS_EVENT, .part = (kind_)
#define CHANGE .title = "Change%", .help = "change from first to second, in per cent", \
	.type = CELL_PERCENT, .width = 8

#define ENTRY(id_, ...) [COL_##id_] = { __VA_ARGS__ },

const struct column_entry column_dictionary[COLUMNS] = { COLUMN_LIST(ENTRY) };

/* ---- cells */

struct cell cell_guest(const struct guest *guest)
{
	struct cell cell = cell_text(guest ? guest->name : "(ended)");

	cell.has_ended = guest && guest->has_ended;
	return cell;
}

struct cell cell_percent(uint64_t part, uint64_t whole)
{
	if (!whole)
		return cell_none();
	return (struct cell){
		.type = CELL_PERCENT,
		.whole = (float)whole,
		.number = (double)part * 100 / (double)whole,
	};
}

struct cell cell_rate(const struct sum *sum)
{
	if (!sum->nr_rates)
		return cell_none();
	return (struct cell){ .type = CELL_RATE, .number = sum->rate_per_s };
}

struct cell cell_spark(const struct sum *sum, const float *history)
{
	if (!sum->nr)
		return cell_none();
	return (struct cell){ .type = CELL_SPARK, .spark = history };
}

int cell_compare(const struct cell *a, const struct cell *b)
{
	int order;

	if (a->type == CELL_NONE || b->type == CELL_NONE)
		return (a->type != CELL_NONE) - (b->type != CELL_NONE);
	if (a->type != b->type) /* a word instead of a number */
		return (a->type != CELL_TEXT) - (b->type != CELL_TEXT);
	switch (a->type) {
	case CELL_TEXT:
		order = strcmp(a->text, b->text);
		return (order > 0) - (order < 0);
	case CELL_COUNT:
		return (a->count > b->count) - (a->count < b->count);
	case CELL_PERCENT:
	case CELL_RATE:
		return (a->number > b->number) - (a->number < b->number);
	case CELL_NS:
		return (a->ns > b->ns) - (a->ns < b->ns);
	case CELL_NONE:
	case CELL_SPARK:
	case CELL_HIST:
	case CELL_SPLIT:
		break;
	}
	return 0;
}
