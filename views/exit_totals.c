// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of `kvmtop exits`: totals by guest, vCPU and reason, or argument, since the start. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/argument.h"
#include "facts/exit_counter.h"
#include "views/timed.h"

#define NAME_SIZE 96

enum {
	PID, TID, REASON, GUEST, VCPU, COUNT, SHARE, TIME, TIME_SHARE, AVERAGE, P50, P99, SHORTEST,
	LONGEST, HIST
};

static const struct column columns[] = {
	[PID] = { "pid", "PID", "of the guest's process", CELL_COUNT, 7, 0 },
	[TID] = { "tid", "TID", "of the vCPU's thread", CELL_COUNT, 7, COLUMN_KEY },
	[REASON] = { "reason", "REASON", "why the vCPU left the guest, or what was accessed",
		     CELL_TEXT, 24, COLUMN_KEY },
	[GUEST] = { "guest", "GUEST", "its name", CELL_TEXT, 16, 0 },
	[VCPU] = { "vcpu", "VCPU", "its number", CELL_COUNT, 4, COLUMN_KEY },
	[COUNT] = { "count", "COUNT", "how many", CELL_COUNT, 10, 0 },
	[SHARE] = { "count_percent", "%COUNT", "of all in this table", CELL_PERCENT, 6, 0 },
	[TIME] = { "time_ns", "TIME", "that they took", CELL_NS, 7, COLUMN_COST },
	[TIME_SHARE] = { "time_percent", "%TIME", "of the vCPUs' time",
			 CELL_PERCENT, 6, COLUMN_COST },
	[AVERAGE] = { "avg_ns", "AVG", "of one", CELL_NS, 7, COLUMN_COST },
	[P50] = { "p50_ns", "P50", "half took no longer: the upper edge of the bucket",
		  CELL_NS, 7, COLUMN_COST },
	[P99] = { "p99_ns", "P99", "99 % took no longer: the upper edge of the bucket",
		  CELL_NS, 7, COLUMN_COST },
	[SHORTEST] = { "min_ns", "MIN", "the lower edge of the bucket of the shortest",
		       CELL_NS, 7, COLUMN_MACHINE_ONLY | COLUMN_COST },
	[LONGEST] = { "max_ns", "MAX", "the longest", CELL_NS, 7, COLUMN_COST },
	[HIST] = { "hist", "LATENCY", "how many took how long", CELL_HIST, HIST_BUCKETS,
		   COLUMN_MACHINE_ONLY },
	{ 0 },
};

/* A row: of a vCPU, or of all vCPUs of a guest together. */
struct line {
	struct key key; /* vcpu < 0: all */
	struct exit_sum sum;
	char name[NAME_SIZE];
};

struct lines {
	struct line *list;
	size_t nr;
	struct key_sums by_guest; /* the line's number, where vCPUs are put together */
	struct key_sums life;     /* ns of a guest's vCPU, the vCPU in the place of the field */
	uint64_t total;
};

/* Arguments are counted only when they are asked for. */
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
	return field->use == USE_ARGUMENT &&
	       strcmp(parent->name, exit_kind_name(query->event)) == 0;
}

static int choose(struct view *view, const struct query *query, const struct facts *facts,
		  struct field_set *ret_set)
{
	struct exits exits = exits_choose(facts, false, true);
	int err = 0;

	if (query->event == EXITS_VMEXIT)
		view->note = exits_note(&exits);

	for (uint32_t i = 0; !err && i < fields_count(facts->fields); i++) {
		if (is_of_event(query, facts, &exits, fields_get(facts->fields, i)))
			err = field_set_add(ret_set, i);
	}
	return err;
}

static bool is_in_scope(const struct query *query, const struct key *key)
{
	if (!query_has_key(query, key))
		return false;
	for (size_t i = 0; i < query->nr_only; i++) {
		if (query->only[i].guest == key->guest && query->only[i].vcpu == key->vcpu)
			return true;
	}
	return !query->nr_only;
}

/* "MSR_WRITE 0x6e0" of "msr(MSR_WRITE 0x6e0)"; the label of an exit is all of that already. */
static void name_line(struct line *line, const struct field *field)
{
	const char *inner = strchr(field->name, '(');
	size_t len = inner ? strlen(inner + 1) : 0;

	if (field->use == USE_EXIT || !len)
		snprintf(line->name, sizeof(line->name), "%s", field->label);
	else
		snprintf(line->name, sizeof(line->name), "%.*s", (int)len - 1, inner + 1);
}

static int line_of(struct lines *lines, const struct query *query, const struct facts *facts,
		   const struct key *key, struct line **ret_line)
{
	bool is_one = !query->collapses;
	struct key_sum *pair = NULL;

	if (!is_one) {
		size_t nr = lines->by_guest.nr;

		pair = key_sums_get(&lines->by_guest, (struct key){ key->guest, -1, key->field });
		if (!pair)
			return -ENOMEM;
		is_one = lines->by_guest.nr > nr;
		if (is_one)
			pair->count = lines->nr;
	}
	if (is_one) {
		struct line *line = &lines->list[lines->nr++];

		line->key = *key;
		if (query->collapses)
			line->key.vcpu = -1;
		name_line(line, fields_get(facts->fields, key->field));
	}
	*ret_line = &lines->list[pair ? pair->count : lines->nr - 1];
	return 0;
}

/* The life of a vCPU, and under -1 that of all vCPUs of the guest in scope. */
static int add_life(struct lines *lines, const struct stats_item *stat)
{
	struct key key = { stat->key.guest, stat->key.vcpu, 0 };
	struct key_sum *one = key_sums_get(&lines->life, key), *all;

	if (!one)
		return -ENOMEM;
	one->ns += stat->total;
	if (stat->key.vcpu < 0)
		return 0;
	key.vcpu = -1;
	all = key_sums_get(&lines->life, key);
	if (!all)
		return -ENOMEM;
	all->ns += stat->total;
	return 0;
}

static int add_stats(struct lines *lines, const struct query *query, const struct facts *facts,
		     const struct field_set *chosen)
{
	int err = 0;

	for (size_t i = 0; !err && i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct line *line;

		if (!is_in_scope(query, &stat->key))
			continue;
		if (field->use == USE_TIME && field->part == TIME_WHOLE)
			err = add_life(lines, stat);
		if (err || !field_set_has(chosen, stat->key.field) ||
		    (!stat->total && !query->zeros))
			continue;
		err = line_of(lines, query, facts, &stat->key, &line);
		if (err)
			break;
		exit_sum_add_totals(&line->sum, stat);
		lines->total += stat->total;
	}
	return err;
}

static pid_t tid_of(const struct guest *guest, int32_t vcpu)
{
	for (size_t i = 0; guest && i < guest->nr_vcpus; i++) {
		if (guest->vcpus[i].index == vcpu)
			return guest->vcpus[i].tid;
	}
	return 0;
}

static void fill_owner(struct view_row *row, const struct facts *facts, const struct key *key)
{
	const struct guest *guest = guests_by_id(facts->guests, key->guest);
	pid_t tid = tid_of(guest, key->vcpu);

	row->guest = key->guest;
	row->vcpu = key->vcpu;
	row->cells[GUEST] = cell_text(guest ? guest->name : "(ended)");
	if (guest)
		row->cells[PID] = cell_count((uint64_t)guest->pid);
	if (tid)
		row->cells[TID] = cell_count((uint64_t)tid);
	if (key->vcpu >= 0)
		row->cells[VCPU] = cell_count((uint64_t)key->vcpu);
}

static struct cell shortest(const struct timing_sum *timing)
{
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		if (timing->total[i])
			return cell_ns(i ? hist_edge_ns(i - 1) : 0);
	}
	return cell_none();
}

static void fill_times(struct view_row *row, const struct line *line, struct key_sums *life)
{
	const struct timing_sum *timing = &line->sum.timing;
	struct key key = { line->key.guest, line->key.vcpu, 0 };
	const struct key_sum *whole = key_sums_get(life, key);
	uint64_t median = hist_percentile_ns(timing->total, 0.5, timing->max_ns);

	if (!timing->nr)
		return;
	row->cells[TIME] = cell_ns(timing->total_ns);
	if (whole)
		row->cells[TIME_SHARE] = cell_percent(timing->total_ns, whole->ns);
	if (line->sum.total)
		row->cells[AVERAGE] = cell_ns(timing->total_ns / line->sum.total);
	row->cells[SHORTEST] = shortest(timing);
	row->cells[LONGEST] = exit_sum_longest(&line->sum);
	if (!median)
		return;
	row->cells[P50] = cell_ns(median);
	row->cells[P99] = cell_ns(hist_percentile_ns(timing->total, 0.99, timing->max_ns));
	row->cells[HIST] = (struct cell){ CELL_HIST, { .hist = timing->total } };
}

static int add_row(struct view *view, const struct facts *facts, struct lines *lines,
		   const struct line *line)
{
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	fill_owner(row, facts, &line->key);
	row->field = line->key.field;
	row->is_idle = fields_get(facts->fields, line->key.field)->is_idle;
	row->cells[REASON] = cell_text(line->name);
	row->cells[COUNT] = cell_count(line->sum.total);
	row->cells[SHARE] = cell_percent(line->sum.total, lines->total);
	fill_times(row, line, &lines->life);
	return 0;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct field_set chosen = { 0 };
	struct lines lines = { 0 };
	int err = choose(view, query, facts, &chosen);

	lines.list = view_scratch(view, stats_count(facts->stats) * sizeof(*lines.list));
	if (!lines.list)
		err = -ENOMEM;
	if (!err)
		err = add_stats(&lines, query, facts, &chosen);
	for (size_t i = 0; !err && i < lines.nr; i++)
		err = add_row(view, facts, &lines, &lines.list[i]);
	key_sums_release(&lines.by_guest);
	key_sums_release(&lines.life);
	field_set_release(&chosen);
	return err;
}

const struct view_type view_exit_totals = {
	.name = "exit_totals",
	.title = "Exit totals",
	.noun = "exit",
	.rows = ROWS_TOTALS,
	.columns = columns,
	.sort = COUNT,
	.by_guest = true,
	.is_timed = true,
	.wants = wants,
	.needs = needs,
	.build = build,
};
