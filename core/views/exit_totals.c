// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of `kvmtop exits` and `kvmtop report`: totals since the start. The query chooses
 * whether there is a row for each guest, for each vCPU, and for each reason or argument.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/argument.h"
#include "core/facts/exit_counter.h"
#include "core/views/groups.h"
#include "core/views/list.h"

#define NAME_SIZE 96

enum {
	PID, TID, REASON, GUEST, VCPU, TOTAL, RATE, SHARE, TIME, TIME_SHARE, POLL_SHARE,
	SLEEP_SHARE, HALT_SHARE, SHORTEST, AVERAGE, DEVIATION, P50, P99, LONGEST, HIST, ENDED
};

static const struct column columns[] = {
	[PID] = { "pid", "PID", "the guest's process", CELL_COUNT, 7,
		  COLUMN_KEY | COLUMN_SPARE(7) },
	[TID] = { "tid", "TID", "the vCPU's thread", CELL_COUNT, 7,
		  COLUMN_KEY | COLUMN_SPARE(3) },
	[REASON] = { "reason", "Exit reason", "why the vCPU left the guest, or what it accessed",
		     CELL_TEXT, 24, COLUMN_KEY },
	[GUEST] = { "guest", "Guest", "the guest's name", CELL_TEXT, 16, COLUMN_KEY },
	[VCPU] = { "vcpu", "vCPU", "the vCPU's number", CELL_COUNT, 4, COLUMN_KEY },
	[TOTAL] = { "total", "Total", "how many exits there were", CELL_COUNT, 10, COLUMN_SUM },
	[RATE] = { "rate", "Count/s", "exits per second of the recording", CELL_RATE, 9,
		   COLUMN_SPARE(4) | COLUMN_OF_RECORDING | COLUMN_SUM },
	[SHARE] = { "share", "%Count", "share of all exits in this table", CELL_PERCENT, 6,
		    COLUMN_SPARE(8) | COLUMN_SUM },
	[TIME] = { "time_ns", "Time", "how long the exits took in all", CELL_NS, 7,
		   COLUMN_COST | COLUMN_SPARE(6) },
	[TIME_SHARE] = { "time_percent", "Time%", TIME_SHARE_HELP, CELL_PERCENT, 5,
			 COLUMN_COST },
	[POLL_SHARE] = { "poll_percent", "Poll%", POLL_SHARE_HELP, CELL_PERCENT, 5,
			 COLUMN_SPARE(2) },
	[SLEEP_SHARE] = { "sleep_percent", "Sleep%",
			  "share of the time of the row's vCPUs in halts, without what was polled",
			  CELL_PERCENT, 6, COLUMN_SPARE(8) | COLUMN_OF_RECORDING },
	[HALT_SHARE] = { "halt_percent", "Halt%",
			 "share of the time of the row's vCPUs in halts, also in one without end",
			 CELL_PERCENT, 5, COLUMN_SPARE(2) | COLUMN_OF_RECORDING },
	[SHORTEST] = { "min_ns", "Min", "the shortest exit; live, the lower edge of its bucket",
		       CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(10) },
	[AVERAGE] = { "avg_ns", "Avg", "how long one exit took on average", CELL_NS, 7,
		      COLUMN_COST },
	[DEVIATION] = { "stddev_ns", "Stddev",
			"how far from Avg the exits are: the standard deviation", CELL_NS, 7,
			COLUMN_COST | COLUMN_SPARE(11) | COLUMN_OF_RECORDING },
	[P50] = { "p50_ns", "p50", "half " PERCENTILE_HELP,
		  CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(9) },
	[P99] = { "p99_ns", "p99", "99 % " PERCENTILE_HELP,
		  CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(5) },
	[LONGEST] = { "max_ns", "Max", "the longest exit", CELL_NS, 7,
		      COLUMN_COST | COLUMN_SPARE(1) },
	[HIST] = { "hist", "Latency", "how many exits took how long", CELL_HIST, HIST_BUCKETS,
		   COLUMN_MACHINE_ONLY },
	[ENDED] = { "ended", "Ended", "1: its guest has ended", CELL_COUNT, 5,
		    COLUMN_MACHINE_ONLY | COLUMN_MARKED | COLUMN_OF_LIVE },
	{ 0 },
};

/* Arguments are counted only when the query asks for them. */
static bool wants(const struct query *query, const struct field *field)
{
	return field->use == USE_ARGUMENT &&
	       strcmp(field->name, exit_kind_name(query->event)) == 0;
}

static bool is_of_event(const struct query *query, const struct facts *facts,
			const struct exits *exits, const struct field *field)
{
	const struct field *parent;

	if (field->parent == FIELD_NONE)
		return false;
	parent = fields_get(facts->fields, field->parent);
	if (query->event == EXITS_VMEXIT)
		return field->use == USE_EXIT && exits_has(exits, parent);
	if (query->event == EXITS_USERSPACE)
		return field->use == USE_EXIT && parent->exit_rank == 2;
	return field->use == USE_ARGUMENT &&
	       strcmp(parent->name, exit_kind_name(query->event)) == 0;
}

static bool is_of_reason(const struct query *query, const struct field *field, uint32_t id)
{
	return (field->use == USE_ARGUMENT ? field->reason : id) == query->reason;
}

static void choose(struct view *view, const struct query *query, const struct facts *facts,
		   struct field_set *ret_set)
{
	struct exits exits = exits_choose(facts, false, true);

	if (query->event == EXITS_VMEXIT)
		view->note = exits_note(facts);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (is_of_event(query, facts, &exits, field) &&
		    (!query->has_reason || is_of_reason(query, field, i)) &&
		    query_selects(query, facts->fields, field))
			field_set_add(ret_set, i);
	}
}

/* "MSR_WRITE 0x6e0" of "msr(MSR_WRITE 0x6e0)"; the label of an exit is its name already. */
static void name_row(char *name, const struct field *field)
{
	const char *inner = strchr(field->name, '(');
	size_t len = inner ? strlen(inner + 1) : 0;

	if (field->use == USE_EXIT || !len)
		snprintf(name, NAME_SIZE, "%s", field->label);
	else
		snprintf(name, NAME_SIZE, "%.*s", (int)len - 1, inner + 1);
}

static void fill_owner(struct view_row *row, const struct facts *facts, const struct key *key)
{
	const struct guest *guest = guests_find(facts->guests, key->guest);
	const struct vcpu *vcpu = guest_vcpu(guest, key->vcpu);

	row->guest = key->guest;
	row->vcpu = key->vcpu;
	if (key->guest != GUEST_ANY) {
		row->cells[GUEST] = cell_guest(guest);
		row->is_gone = !guest || guest->has_ended;
	}
	if (guest)
		row->cells[PID] = cell_pid(guest->pid);
	if (vcpu_last_tid(vcpu))
		row->cells[TID] = cell_count((uint64_t)vcpu_last_tid(vcpu));
	if (row->is_gone)
		row->cells[ENDED] = cell_count(1);
	if (key->vcpu >= 0)
		row->cells[VCPU] = cell_count((uint64_t)key->vcpu);
}

/* The shortest duration: exact in a recording, else the lower edge of its bucket. */
static struct cell shortest(const struct exit_sum *sum)
{
	if (sum->timing.spread.count)
		return exit_sum_shortest(sum);
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		if (sum->timing.total[i])
			return cell_ns(i ? hist_edge_ns(i - 1) : 0);
	}
	return cell_none();
}

/* A row of one reason has a share of polling only, and only if the reason is the halts'. */
static void fill_halts(struct view_row *row, const struct groups *groups,
		       const struct group *group)
{
	bool is_polled = group_is_polled(groups, group);
	uint64_t polled_ns = group->polled_ns, halted_ns = group->halted_ns;

	row->cells[HALT_SHARE] = cell_percent(halted_ns, group->whole_ns);
	if (!groups->has_polls || (groups->by & GROUP_REASON && !is_polled))
		return;
	row->cells[POLL_SHARE] = cell_percent(polled_ns, group->whole_ns);
	row->cells[SLEEP_SHARE] = cell_percent(halted_ns > polled_ns ? halted_ns - polled_ns : 0,
					       group->whole_ns);
}

static void fill_times(struct view_row *row, const struct query *query,
		       const struct groups *groups, const struct group *group)
{
	const struct timing_sum *timing = &group->sum.timing;
	uint64_t cost_ns = timing->total_ns - group->halt_ns;
	bool is_polled = group_is_polled(groups, group);

	if (!timing->nr)
		return;
	row->cells[TIME] = cell_ns(timing->total_ns);
	if (is_polled)
		cost_ns += group->polled_ns;
	row->cells[TIME_SHARE] = cell_percent(cost_ns, group->whole_ns);
	if (row->is_idle && !is_polled)
		row->cells[TIME_SHARE] = cell_text("halt");
	if (query->event < EXITS_FIRST_ARGUMENT)
		fill_halts(row, groups, group);
	row->cells[SHORTEST] = shortest(&group->sum);
	row->cells[DEVIATION] = exit_sum_deviation(&group->sum);
	row->cells[LONGEST] = exit_sum_longest(&group->sum);
	row->cells[AVERAGE] = exit_sum_total_average(&group->sum);
	if (!hist_count(timing->total))
		return;
	row->cells[P50] = exit_sum_total_percentile(&group->sum, PERCENTILE_50);
	row->cells[P99] = exit_sum_total_percentile(&group->sum, PERCENTILE_99);
	row->cells[HIST] = cell_hist(timing->total);
}

static void fill_row(struct view_row *row, const struct query *query, const struct facts *facts,
		     const struct groups *groups, const struct group *group)
{
	row->cells[TOTAL] = cell_count(group->sum.total);
	if (facts->is_span) /* else it is the rate of the last interval only */
		row->cells[RATE] = exit_sum_rate(&group->sum);
	row->cells[SHARE] = cell_percent(group->sum.total, groups->all.sum.total);
	fill_times(row, query, groups, group);
}

/* name: memory for the row's name. */
static int add_row(struct view *view, const struct query *query, const struct facts *facts,
		   const struct groups *groups, const struct group *group, char *name)
{
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	fill_owner(row, facts, &group->key);
	if (query->groups & GROUP_REASON) {
		const struct field *field = fields_get(facts->fields, group->key.field);

		row->field = group->key.field;
		row->is_idle = field->is_idle;
		name_row(name, field);
		row->cells[REASON] = cell_text(name);
	}
	fill_row(row, query, facts, groups, group);
	return 0;
}

/* Adds the rows. Their names are kept after the groups, in the view's memory. */
static int add_rows(struct view *view, const struct query *query, const struct facts *facts,
		    struct groups *groups)
{
	size_t size = groups->nr * (sizeof(*groups->list) + NAME_SIZE);
	int err = 0;
	char *names;

	groups->list = view_scratch_grow(view, size);
	if (!groups->list)
		return -ENOMEM;
	names = (char *)(groups->list + groups->nr);
	for (size_t i = 0; !err && i < groups->nr; i++) {
		if (query->zeros || groups->list[i].sum.total)
			err = add_row(view, query, facts, groups, &groups->list[i],
				      names + i * NAME_SIZE);
	}
	fill_row(&view->total, query, facts, groups, &groups->all);
	return err;
}

/* A column for each of query->groups only; the shortest is exact in recordings alone. */
static uint32_t absent_columns(const struct query *query, const struct facts *facts,
			       bool has_polls)
{
	uint32_t absent = facts->is_span ? 0 : 1U << SHORTEST;

	absent |= has_polls ? 1U << HALT_SHARE : 1U << POLL_SHARE | 1U << SLEEP_SHARE;

	if (!(query->groups & GROUP_GUEST))
		absent |= 1U << PID | 1U << GUEST | 1U << ENDED;
	if (!(query->groups & GROUP_VCPU))
		absent |= 1U << TID | 1U << VCPU;
	if (!(query->groups & GROUP_REASON))
		absent |= 1U << REASON;
	/* A row of one reason is either all halts or has none. */
	if (query->groups & GROUP_REASON || query->event >= EXITS_FIRST_ARGUMENT)
		absent |= 1U << HALT_SHARE | 1U << SLEEP_SHARE;
	if (query->event >= EXITS_FIRST_ARGUMENT)
		absent |= 1U << POLL_SHARE;
	return absent;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct groups groups = { .by = query->groups, .has_totals = true };
	int err = 0;

	choose(view, query, facts, &groups.chosen);
	if (!err)
		err = group_by(&groups, view, query, facts);
	view->absent |= absent_columns(query, facts, groups.has_polls);
	if (!err)
		err = add_rows(view, query, facts, &groups);
	field_set_release(&groups.chosen);
	return err;
}

const struct view_type view_exit_totals = {
	.name = "exit_totals",
	.title = "Exit totals",
	.noun = "exit",
	.groups = GROUP_ALL,
	.columns = columns,
	.sort = TOTAL,
	.by_guest = true,
	.is_timed = true,
	.takes_groups = true,
	.wants = wants,
	.needs = query_needs_exits,
	.build = build,
};
