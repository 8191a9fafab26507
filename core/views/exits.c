// SPDX-License-Identifier: GPL-2.0-or-later
/* The Exits view: a row for each reason, with its count and its cost. */
#include <errno.h>

#include "core/views/groups.h"
#include "core/views/list.h"

enum {
	REASON, TOTAL, DELTA, RATE, SHARE, TIME_SHARE, POLL_SHARE, TIME, MIN, AVERAGE, STDDEV, P50,
	P99, CUR_LONGEST, LONGEST, OPEN, HIST
};

static const struct column columns[] = {
	[REASON] = { "reason", "Exit reason", "why the vCPU left the guest", CELL_TEXT, 20,
		     COLUMN_LEAST(18) },
	[TOTAL] = { "total", "Total", "since the start, r, or a change of filter",
		    CELL_COUNT, 10, COLUMN_SPARE(6) | COLUMN_SUM },
	[DELTA] = { "delta", "Delta", "since the previous sample",
		    CELL_COUNT, 10, COLUMN_MACHINE_ONLY | COLUMN_SUM },
	[RATE] = { "rate", "Count/s", "per second between the last two samples",
		   CELL_RATE, 9, COLUMN_SUM },
	[SHARE] = { "share", "%Count", "share of all exits between the last two samples",
		    CELL_PERCENT, 6, COLUMN_SPARE(5) },
	[TIME_SHARE] = { "time_percent", "Time%", TIME_SHARE_HELP, CELL_PERCENT, 5,
			 COLUMN_COST | COLUMN_SPARE(1) | COLUMN_MEAN },
	[POLL_SHARE] = { "poll_percent", "Poll%", POLL_SHARE_HELP, CELL_PERCENT, 5,
			 COLUMN_SPARE(7) | COLUMN_MEAN },
	[TIME] = { "time_ns", "Time", "how long they took in all, between the last two samples",
		   CELL_NS, 7, COLUMN_COST | COLUMN_MACHINE_ONLY },
	[MIN] = { "min_ns", "Min", "the shortest", CELL_NS, 7,
		  COLUMN_COST | COLUMN_SPARE(10) | COLUMN_OF_RECORDING },
	[AVERAGE] = { "avg_ns", "Avg", "how long one took on average", CELL_NS, 7,
		      COLUMN_COST | COLUMN_SPARE(2) },
	[STDDEV] = { "stddev_ns", "Stddev", "how far from Avg they are: the standard deviation",
		     CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(11) | COLUMN_OF_RECORDING },
	[P50] = { "p50_ns", "p50", "half " PERCENTILE_HELP,
		  CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(9) },
	[P99] = { "p99_ns", "p99", "99 % " PERCENTILE_HELP,
		  CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(4) },
	[CUR_LONGEST] = { "interval_max_ns", "CurMax",
			  "the longest of the interval, exact if it is longer than all before; "
			  "else the upper edge of its bucket",
			  CELL_NS, 7, COLUMN_COST | COLUMN_MACHINE_ONLY },
	[LONGEST] = { "max_ns", "Max", "the longest since the start or r", CELL_NS, 7,
		      COLUMN_COST | COLUMN_SPARE(3) },
	[OPEN] = { "open_ns", "Open", OPEN_HELP, CELL_NS, 7, 0 },
	[HIST] = { "hist", "Latency", "how many took how long, from 128 ns to 2 s",
		   CELL_HIST, HIST_BUCKETS, COLUMN_SPARE(8) },
	{ 0 },
};

/* The reasons of the chosen counter that the filter selects. */
static void choose(const struct query *query, const struct facts *facts, const struct exits *exits,
		   struct field_set *ret_reasons)
{
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use == USE_EXIT && field->parent != FIELD_NONE &&
		    exits_has(exits, fields_get(facts->fields, field->parent)) &&
		    query_selects(query, facts->fields, field))
			field_set_add(ret_reasons, i);
	}
}

static int add_row(struct view *view, const struct facts *facts, const struct groups *groups,
		   const struct group *group)
{
	const struct field *field = fields_get(facts->fields, group->key.field);
	const struct exit_sum *sum = &group->sum;
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	row->field = group->key.field;
	row->is_idle = field->is_idle;
	row->cells[REASON] = cell_text(field->label);
	row->cells[TOTAL] = cell_count(sum->total);
	row->cells[DELTA] = cell_count(sum->delta);
	row->cells[RATE] = exit_sum_rate(sum);
	row->cells[SHARE] = cell_percent(sum->delta, groups->all.sum.delta);
	row->cells[TIME_SHARE] = group_time_share(groups, group);
	row->cells[POLL_SHARE] = group_poll_share(groups, group);
	group_fill_times(&row->cells[TIME], group);
	row->cells[OPEN] = exit_sum_open(sum);
	row->cells[HIST] = exit_sum_hist(sum);
	return 0;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct exits exits = query_exits(query, facts, false);
	struct groups groups = { .by = GROUP_REASON };
	int err = 0;

	choose(query, facts, &exits, &groups.chosen);
	view->note = exits_note(facts);
	if (!err)
		err = groups_build(&groups, view, query, facts, add_row);
	if (!groups.has_polls)
		view->absent |= 1U << POLL_SHARE;
	view_absent_unless_any(view, OPEN);
	field_set_release(&groups.chosen);
	return err;
}

/* Enter on a reason leads to its arguments. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	(void)facts;
	(void)ret_sought;
	if (!row)
		return false;
	query->has_reason = true;
	query->reason = row->field;
	query->type = &view_hotspots;
	return true;
}

const struct view_type view_exits = {
	.name = "exits",
	.key = '4',
	.title = "Exits",
	.noun = "exit so far",
	.groups = GROUP_REASON,
	.takes_vcpu = true,
	.columns = columns,
	.sort = TIME_SHARE,
	.by_guest = true,
	.is_timed = true,
	.wants = query_wants_exits,
	.needs = query_needs_exits,
	.build = build,
	.enter = enter,
};
