// SPDX-License-Identifier: GPL-2.0-or-later
/* The dictionary of columns. */
#include "core/views/columns.h"

/* The help of the percentiles' columns, after "half" or "99 %". See hist_percentile_ns(). */
#define PERCENTILE_HELP                                                                        \
	"took no longer: interpolated within a power of two, at most a factor of 2 off, a few " \
	"% where durations are spread evenly; of a recording within 4 %"

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
/* Part of vCPUs' time; of what the host says. */
#define OF_TIME(part_) .total = TOTAL_MEAN, .needs = NEEDS_PART, .part = (part_)
#define OF_HOST(part_) .needs = NEEDS_HOST, .part = (part_)
#define CHANGE .title = "Change%", .help = "change from first to second, in per cent", \
	.type = CELL_PERCENT, .width = 8

#define ENTRY(id_, ...) [COL_##id_] = { __VA_ARGS__ },

const struct column column_dictionary[COLUMNS] = { COLUMN_LIST(ENTRY) };
