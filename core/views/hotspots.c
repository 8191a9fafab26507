// SPDX-License-Identifier: GPL-2.0-or-later
/* The Hot spots view: a row for each argument of exits (a port, an MSR, an address) and guest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "core/views/groups.h"
#include "core/views/list.h"

enum {
	WHAT, ARGUMENT, TOTAL, DELTA, RATE, TIME_SHARE, TIME, MIN, AVERAGE, STDDEV, P50, P99,
	CUR_LONGEST, LONGEST, OPEN, GUEST, PID, HIST, ENDED
};

static const struct column columns[] = {
	[WHAT] = { "what", "What", "the exit's reason, or what kind of access it was",
		   CELL_TEXT, 18, COLUMN_OF_REASON | COLUMN_LEAST(14) | COLUMN_SPARE(3) },
	[ARGUMENT] = { "argument", "Argument", "port, MSR, address, CPUID leaf, call, register",
		       CELL_TEXT, 32, COLUMN_KEY | COLUMN_LEAST(22) },
	[TOTAL] = { "total", "Total", "since the start, r, or a change of filter",
		    CELL_COUNT, 10, COLUMN_SPARE(8) | COLUMN_SUM },
	[DELTA] = { "delta", "Delta", "since the previous sample",
		    CELL_COUNT, 10, COLUMN_MACHINE_ONLY | COLUMN_SUM },
	[RATE] = { "rate", "Count/s", "per second between the last two samples",
		   CELL_RATE, 9, COLUMN_SUM },
	[TIME_SHARE] = { "time_percent", "Time%", TIME_SHARE_HELP, CELL_PERCENT, 5,
			 COLUMN_COST | COLUMN_SPARE(1) | COLUMN_MEAN },
	[TIME] = { "time_ns", "Time", "how long they took in all, between the last two samples",
		   CELL_NS, 7, COLUMN_MACHINE_ONLY },
	[MIN] = { "min_ns", "Min", "the shortest", CELL_NS, 7,
		  COLUMN_SPARE(10) | COLUMN_OF_RECORDING },
	[AVERAGE] = { "avg_ns", "Avg", "how long one took on average", CELL_NS, 7,
		      COLUMN_SPARE(4) },
	[STDDEV] = { "stddev_ns", "Stddev", "how far from Avg they are: the standard deviation",
		     CELL_NS, 7, COLUMN_SPARE(11) | COLUMN_OF_RECORDING },
	[P50] = { "p50_ns", "p50", "half " PERCENTILE_HELP,
		  CELL_NS, 7, COLUMN_SPARE(7) },
	[P99] = { "p99_ns", "p99", "99 % " PERCENTILE_HELP,
		  CELL_NS, 7, COLUMN_SPARE(5) },
	[CUR_LONGEST] = { "interval_max_ns", "CurMax",
			  "the longest of the interval, exact if it is longer than all before; "
			  "else the upper edge of its bucket",
			  CELL_NS, 7, COLUMN_MACHINE_ONLY },
	[LONGEST] = { "max_ns", "Max", "the longest since the start or r", CELL_NS, 7,
		      COLUMN_SPARE(6) },
	[OPEN] = { "open_ns", "Open", OPEN_HELP, CELL_NS, 7, 0 },
	[GUEST] = { "guest", "Guest", "as its VMM names it", CELL_TEXT, 24,
		    COLUMN_KEY | COLUMN_OF_GUEST | COLUMN_LEAST(14) | COLUMN_SPARE(2) },
	[PID] = { "pid", "PID", "of the process that runs it",
		  CELL_COUNT, 7, COLUMN_KEY | COLUMN_OF_GUEST | COLUMN_SPARE(12) },
	[HIST] = { "hist", "Latency", "how many took how long, from 128 ns to 2 s",
		   CELL_HIST, HIST_BUCKETS, COLUMN_SPARE(9) },
	[ENDED] = { "ended", "Ended", "1: its guest has ended", CELL_COUNT, 5,
		    COLUMN_MACHINE_ONLY | COLUMN_MARKED | COLUMN_OF_LIVE },
	{ 0 },
};

static bool wants(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_ARGUMENT;
}

/* Exits are counted, too, while the user looks at their arguments. */
static bool needs(const struct field *field)
{
	return field->use != USE_EVENT;
}

/*
 * Whether the argument belongs to the reason that the query asks for. Where kvm_exit never fires,
 * the reason of an argument is not known, and its kind decides: an exit to user space for I/O has
 * only I/O arguments, one for MMIO only MMIO arguments.
 */
static bool is_of_reason(const struct query *query, const struct facts *facts,
			 const struct field *field)
{
	const struct argument *argument;
	const struct field *reason;

	if (!query->has_reason || field->reason == query->reason)
		return true;
	reason = fields_get(facts->fields, query->reason);
	if (reason->exit_rank != 2 || field->reason != FIELD_NONE)
		return false;
	argument = argument_by_name(fields_get(facts->fields, field->parent)->name);
	return argument && strcmp(argument->what, reason->label) == 0;
}

/* Chooses the arguments that the filter selects, of one reason if the query asks for one. */
static void choose(const struct query *query, const struct facts *facts,
		   struct field_set *ret_arguments)
{
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use != USE_ARGUMENT || field->parent == FIELD_NONE ||
		    !is_of_reason(query, facts, field) ||
		    !query_selects(query, facts->fields, field))
			continue;
		field_set_add(ret_arguments, i);
	}
}

/* The exit's reason, or the kind of access where the reason is not known. */
static const char *what_of(const struct facts *facts, const struct field *field)
{
	uint32_t what = field->reason != FIELD_NONE ? field->reason : field->parent;

	return fields_get(facts->fields, what)->label;
}

static int add_row(struct view *view, const struct facts *facts, const struct groups *groups,
		   const struct group *group)
{
	const struct field *field = fields_get(facts->fields, group->key.field);
	const struct guest *guest = guests_find(facts->guests, group->key.guest);
	const struct exit_sum *sum = &group->sum;
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	row->field = group->key.field;
	row->guest = group->key.guest;
	row->is_gone = !guest || guest->has_ended;
	row->cells[WHAT] = cell_text(what_of(facts, field));
	row->cells[ARGUMENT] = cell_text(field->label);
	row->cells[GUEST] = cell_guest(guest);
	if (row->is_gone)
		row->cells[ENDED] = cell_count(1);
	if (guest)
		row->cells[PID] = cell_pid(guest->pid);
	row->cells[TOTAL] = cell_count(sum->total);
	row->cells[DELTA] = cell_count(sum->delta);
	row->cells[RATE] = exit_sum_rate(sum);
	row->cells[TIME_SHARE] = group_time_share(groups, group);
	group_fill_times(&row->cells[TIME], group);
	row->cells[OPEN] = exit_sum_open(sum);
	row->cells[HIST] = exit_sum_hist(sum);
	return 0;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct groups groups = { .by = GROUP_GUEST | GROUP_REASON };
	int err = 0;

	choose(query, facts, &groups.chosen);
	if (!err)
		err = groups_build(&groups, view, query, facts, add_row);
	view_absent_unless_any(view, OPEN);
	field_set_release(&groups.chosen);
	return err;
}

/* Enter on an argument leads to the vCPUs of its guest, compared by the argument's exit reason. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	bool has_reason = query->has_reason;

	(void)ret_sought;
	if (!row && !has_reason)
		return false;
	query_narrow(query, row ? row->guest : query->guest);
	if (!has_reason)
		query->reason = fields_get(facts->fields, row->field)->reason;
	query->has_reason = query->reason != FIELD_NONE;
	query->type = &view_vcpus;
	return true;
}

const struct view_type view_hotspots = {
	.name = "hotspots",
	.key = '5',
	.title = "Hot spots",
	.noun = "argument of an exit so far",
	.groups = GROUP_ARGUMENT,
	.takes_vcpu = true,
	.columns = columns,
	.sort = TIME_SHARE,
	.by_guest = true,
	.is_timed = true,
	.is_on_demand = true,
	.source_need = NEED_ARGUMENTS,
	.wants = wants,
	.needs = needs,
	.build = build,
	.enter = enter,
};
