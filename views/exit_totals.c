// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of `kvmtop exits` and `kvmtop report`: totals since the start. The query chooses
 * whether there is a row for each guest, for each vCPU, and for each reason or argument.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/argument.h"
#include "base/array.h"
#include "facts/exit_counter.h"
#include "facts/key_sums.h"
#include "views/groups.h"

#define NAME_SIZE 96

enum {
	PID, TID, REASON, GUEST, VCPU, TOTAL, RATE, SHARE, TIME, TIME_SHARE, HALT_SHARE, SHORTEST,
	AVERAGE, DEVIATION, P50, P99, LONGEST, HIST, ENDED
};

static const struct column columns[] = {
	[PID] = { "pid", "PID", "of the guest's process", CELL_COUNT, 7,
		  COLUMN_KEY | COLUMN_SPARE(7) },
	[TID] = { "tid", "TID", "of the vCPU's thread", CELL_COUNT, 7,
		  COLUMN_KEY | COLUMN_SPARE(3) },
	[REASON] = { "reason", "Exit reason", "why the vCPU left the guest, or what was accessed",
		     CELL_TEXT, 24, COLUMN_KEY },
	[GUEST] = { "guest", "Guest", "its name", CELL_TEXT, 16, COLUMN_KEY },
	[VCPU] = { "vcpu", "vCPU", "its number", CELL_COUNT, 4, COLUMN_KEY },
	[TOTAL] = { "total", "Total", "how many", CELL_COUNT, 10, 0 },
	[RATE] = { "rate", "Count/s", "per second of the recording", CELL_RATE, 9,
		   COLUMN_SPARE(4) | COLUMN_OF_RECORDING },
	[SHARE] = { "share", "%Count", "of all in this table", CELL_PERCENT, 6, COLUMN_SPARE(8) },
	[TIME] = { "time_ns", "Time", "that they took", CELL_NS, 7,
		   COLUMN_COST | COLUMN_SPARE(6) },
	[TIME_SHARE] = { "time_percent", "Time%",
			 "of the vCPUs' time that they took; halts are no cost",
			 CELL_PERCENT, 5, COLUMN_COST },
	[HALT_SHARE] = { "halt_percent", "Halt%", "of the vCPUs' time: halts, which are in Time",
			 CELL_PERCENT, 5, COLUMN_SPARE(2) | COLUMN_OF_RECORDING },
	[SHORTEST] = { "min_ns", "Min", "the shortest; live, the lower edge of its bucket",
		       CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(10) },
	[AVERAGE] = { "avg_ns", "Avg", "of one", CELL_NS, 7, COLUMN_COST },
	[DEVIATION] = { "stddev_ns", "Stddev", "the standard deviation from Avg", CELL_NS, 7,
			COLUMN_COST | COLUMN_SPARE(11) | COLUMN_OF_RECORDING },
	[P50] = { "p50_ns", "p50", "half took no longer: the upper edge of the bucket",
		  CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(9) },
	[P99] = { "p99_ns", "p99", "99 % took no longer: the upper edge of the bucket",
		  CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(5) },
	[LONGEST] = { "max_ns", "Max", "the longest", CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(1) },
	[HIST] = { "hist", "Latency", "how many took how long", CELL_HIST, HIST_BUCKETS,
		   COLUMN_MACHINE_ONLY },
	[ENDED] = { "ended", "Ended", "1: its guest has ended", CELL_COUNT, 5,
		    COLUMN_MACHINE_ONLY },
	{ 0 },
};

/* A row. Its key has GUEST_ANY, -1 or FIELD_ANY for what query->groups does not separate. */
struct total_line {
	struct key key;
	struct exit_sum sum;
	uint64_t halt_ns;
	char name[NAME_SIZE];
};

struct totals {
	struct total_line *list;
	size_t nr;
	struct key_sums by_key;      /* count: the index of the line in list */
	struct key_sums whole_times; /* of a vCPU, of a guest (-1), of all guests (GUEST_ANY) */
	struct total_line all;
};

/* Arguments are counted only when the query asks for them. */
static bool wants(const struct query *query, const struct field *field)
{
	return field->use == USE_ARGUMENT &&
	       strcmp(field->name, exit_kind_name(query->event)) == 0;
}

static bool needs(const struct field *field)
{
	return field->use == USE_EXIT || field->use == USE_TIME;
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

static int choose(struct view *view, const struct query *query, const struct facts *facts,
		  struct field_set *ret_set)
{
	struct exits exits = exits_choose(facts, false, true);
	int err = 0;

	if (query->event == EXITS_VMEXIT)
		view->note = exits_note(facts);

	for (uint32_t i = 0; !err && i < fields_count(facts->fields); i++) {
		if (is_of_event(query, facts, &exits, fields_get(facts->fields, i)))
			err = field_set_add(ret_set, i);
	}
	return err;
}

/* "MSR_WRITE 0x6e0" of "msr(MSR_WRITE 0x6e0)"; the label of an exit is its name already. */
static void name_line(struct total_line *line, const struct field *field)
{
	const char *inner = strchr(field->name, '(');
	size_t len = inner ? strlen(inner + 1) : 0;

	if (field->use == USE_EXIT || !len)
		snprintf(line->name, sizeof(line->name), "%s", field->label);
	else
		snprintf(line->name, sizeof(line->name), "%.*s", (int)len - 1, inner + 1);
}

/* The key of the line that has the sum of a key. */
static struct key group_of(const struct query *query, struct key key)
{
	if (!(query->groups & GROUP_GUEST))
		key.guest = GUEST_ANY;
	if (!(query->groups & GROUP_VCPU))
		key.vcpu = -1;
	if (!(query->groups & GROUP_REASON))
		key.field = FIELD_ANY;
	return key;
}

/* Finds or adds the line of a key. NULL: no memory. */
static struct total_line *line_of(struct totals *totals, const struct query *query,
			    const struct facts *facts, const struct key *key)
{
	struct key group = group_of(query, *key);
	struct key_sum *sum = key_sums_get(&totals->by_key, group);
	struct total_line *line;

	if (!sum)
		return NULL;
	if (totals->by_key.nr == totals->nr)
		return &totals->list[sum->count];
	sum->count = totals->nr;
	line = &totals->list[totals->nr++];
	line->key = group;
	if (query->groups & GROUP_REASON)
		name_line(line, fields_get(facts->fields, key->field));
	return line;
}

static void line_add(struct total_line *line, const struct stats_item *stat, bool is_idle)
{
	exit_sum_add(&line->sum, stat, true);
	if (is_idle && stat->timing)
		line->halt_ns += stat->timing->total_ns;
}

/* Adds the whole time of a vCPU to the sums of the vCPU, of its guest, and of all guests. */
static int add_whole_time(struct totals *totals, const struct stats_item *stat)
{
	const struct key keys[] = {
		{ stat->key.guest, stat->key.vcpu, FIELD_ANY },
		{ stat->key.guest, -1, FIELD_ANY },
		{ GUEST_ANY, -1, FIELD_ANY },
	};

	for (size_t i = stat->key.vcpu < 0; i < ARRAY_SIZE(keys); i++) {
		struct key_sum *whole = key_sums_get(&totals->whole_times, keys[i]);

		if (!whole)
			return -ENOMEM;
		whole->ns += stat->total;
	}
	return 0;
}

static int add_stats(struct totals *totals, const struct query *query, const struct facts *facts,
		     const struct field_set *chosen)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct total_line *line;

		if (!query_has_key(query, &stat->key))
			continue;
		if (field->use == USE_TIME && field->part == TIME_WHOLE &&
		    add_whole_time(totals, stat) < 0)
			return -ENOMEM;
		if (!field_set_has(chosen, stat->key.field) || (!stat->total && !query->zeros))
			continue;
		line = line_of(totals, query, facts, &stat->key);
		if (!line)
			return -ENOMEM;
		line_add(line, stat, field->is_idle);
		line_add(&totals->all, stat, field->is_idle);
	}
	return 0;
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
	if (vcpu && vcpu->tid)
		row->cells[TID] = cell_count((uint64_t)vcpu->tid);
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

static void fill_times(struct view_row *row, const struct total_line *line,
		       struct key_sums *whole_times, const struct query *query)
{
	const struct timing_sum *timing = &line->sum.timing;
	struct key key = { line->key.guest, line->key.vcpu, FIELD_ANY };
	const struct key_sum *whole = key_sums_get(whole_times, key);
	uint64_t nr_ended = hist_count(timing->total);

	if (!timing->nr)
		return;
	row->cells[TIME] = cell_ns(timing->total_ns);
	if (row->is_idle)
		row->cells[TIME_SHARE] = cell_text("halt");
	else if (whole)
		row->cells[TIME_SHARE] = cell_percent(timing->total_ns - line->halt_ns, whole->ns);
	if (whole && query->event < EXITS_FIRST_ARGUMENT)
		row->cells[HALT_SHARE] = cell_percent(line->halt_ns, whole->ns);
	row->cells[SHORTEST] = shortest(&line->sum);
	row->cells[DEVIATION] = exit_sum_deviation(&line->sum);
	row->cells[LONGEST] = exit_sum_longest(&line->sum);
	if (!nr_ended)
		return;
	row->cells[AVERAGE] = cell_ns(timing->total_ns / nr_ended);
	row->cells[P50] = cell_ns(hist_percentile_ns(timing->total, 0.5, timing->max_ns));
	row->cells[P99] = cell_ns(hist_percentile_ns(timing->total, 0.99, timing->max_ns));
	row->cells[HIST] = (struct cell){ .type = CELL_HIST, .hist = timing->total };
}

static void fill_row(struct view_row *row, struct totals *totals, const struct total_line *line,
		     const struct query *query)
{
	row->cells[TOTAL] = cell_count(line->sum.total);
	if (query->is_whole) /* else it is the rate of the last interval only */
		row->cells[RATE] = exit_sum_rate(&line->sum);
	row->cells[SHARE] = cell_percent(line->sum.total, totals->all.sum.total);
	fill_times(row, line, &totals->whole_times, query);
}

static int add_row(struct view *view, const struct query *query, const struct facts *facts,
		   struct totals *totals, const struct total_line *line)
{
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	fill_owner(row, facts, &line->key);
	if (query->groups & GROUP_REASON) {
		row->field = line->key.field;
		row->is_idle = fields_get(facts->fields, line->key.field)->is_idle;
		row->cells[REASON] = cell_text(line->name);
	}
	fill_row(row, totals, line, query);
	return 0;
}

/* What query->groups does not separate has no column; live, the shortest is not known exactly. */
static uint32_t absent_columns(const struct query *query)
{
	uint32_t absent = query->is_whole ? 0 : 1U << SHORTEST;

	if (!(query->groups & GROUP_GUEST))
		absent |= 1U << PID | 1U << GUEST | 1U << ENDED;
	if (!(query->groups & GROUP_VCPU))
		absent |= 1U << TID | 1U << VCPU;
	if (!(query->groups & GROUP_REASON))
		absent |= 1U << REASON;
	/* A row of one reason is either all halts or has none. */
	if (query->groups & GROUP_REASON || query->event >= EXITS_FIRST_ARGUMENT)
		absent |= 1U << HALT_SHARE;
	return absent;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct field_set chosen = { 0 };
	struct totals totals = { .all.key = { GUEST_ANY, -1, FIELD_ANY } };
	int err = choose(view, query, facts, &chosen);

	view->absent |= absent_columns(query);
	totals.list = view_scratch(view, stats_count(facts->stats) * sizeof(*totals.list));
	if (!totals.list)
		err = -ENOMEM;
	if (!err)
		err = add_stats(&totals, query, facts, &chosen);
	for (size_t i = 0; !err && i < totals.nr; i++)
		err = add_row(view, query, facts, &totals, &totals.list[i]);
	if (!err)
		fill_row(&view->total, &totals, &totals.all, query);
	key_sums_release(&totals.by_key);
	key_sums_release(&totals.whole_times);
	field_set_release(&chosen);
	return err;
}

const struct view_type view_exit_totals = {
	.name = "exit_totals",
	.title = "Exit totals",
	.noun = "exit",
	.rows = ROWS_TOTALS,
	.columns = columns,
	.sort = TOTAL,
	.by_guest = true,
	.is_timed = true,
	.wants = wants,
	.needs = needs,
	.build = build,
};
