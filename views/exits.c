// SPDX-License-Identifier: GPL-2.0-or-later
/* The Exits view: one row a reason, how often, and what it costs. */
#include <errno.h>

#include "facts/exit_counter.h"
#include "views/timed.h"

enum {
	REASON, TOTAL, DELTA, RATE, SHARE, TIME_SHARE, TIME, MIN, AVERAGE, STDDEV, P50, P99,
	LONGEST, HIST
};

static const struct column columns[] = {
	[REASON] = { "reason", "Exit reason", "why the vCPU left the guest", CELL_TEXT, 24,
		     COLUMN_LEAST(18) },
	[TOTAL] = { "total", "Total", "since the start, r, or a change of filter",
		    CELL_COUNT, 10, COLUMN_SPARE(6) },
	[DELTA] = { "delta", "Delta", "since the previous sample",
		    CELL_COUNT, 10, COLUMN_MACHINE_ONLY },
	[RATE] = { "rate", "Count/s", "per second between the last two samples",
		   CELL_RATE, 9, 0 },
	[SHARE] = { "share", "%Count", "of all exits in that time",
		    CELL_PERCENT, 6, COLUMN_SPARE(5) },
	[TIME_SHARE] = { "time_percent", "Time%",
			 "of the vCPUs' time that they took; halts are no cost",
			 CELL_PERCENT, 5, COLUMN_COST | COLUMN_SPARE(1) },
	[TIME] = { "time_ns", "Time", "that they took between the last two samples",
		   CELL_NS, 7, COLUMN_COST | COLUMN_MACHINE_ONLY },
	[MIN] = { "min_ns", "Min", "the shortest", CELL_NS, 7,
		  COLUMN_COST | COLUMN_SPARE(10) | COLUMN_OF_RECORDING },
	[AVERAGE] = { "avg_ns", "Avg", "of one", CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(2) },
	[STDDEV] = { "stddev_ns", "Stddev", "how far from Avg they are: the standard deviation",
		     CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(11) | COLUMN_OF_RECORDING },
	[P50] = { "p50_ns", "p50", "half took no longer: the upper edge of the bucket",
		  CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(8) },
	[P99] = { "p99_ns", "p99", "99 % took no longer: the upper edge of the bucket",
		  CELL_NS, 7, COLUMN_COST | COLUMN_SPARE(4) },
	[LONGEST] = { "max_ns", "Max", "the longest since the start or r", CELL_NS, 7,
		      COLUMN_COST | COLUMN_SPARE(3) },
	[HIST] = { "hist", "Latency", "how many took how long, from 128 ns to 2 s",
		   CELL_HIST, HIST_BUCKETS, COLUMN_SPARE(9) },
	{ 0 },
};

static bool wants(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_EXIT;
}

static bool needs(const struct field *field)
{
	return field->use == USE_EXIT || field->use == USE_TIME;
}

/* What is added up: a sum for every field, the exits chosen, and all time in scope. */
struct sums {
	struct exit_sum *by_field, all;
	struct field_set reasons; /* that are shown */
	struct life life;
	uint64_t cost_ns;
	bool has_cost;
};

/*
 * The reasons of the chosen exits that the filter selects. A flat list, whose rows have columns
 * that stay, has those of all exits.
 */
static int choose(const struct query *query, const struct facts *facts, const struct exits *exits,
		  struct field_set *ret_reasons)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use == USE_EXIT && field->parent != FIELD_NONE &&
		    (query->flat ||
		     exits_has(exits, fields_get(facts->fields, field->parent))) &&
		    query_has_name(query, field))
			err = field_set_add(ret_reasons, i);
	}
	return err;
}

static void add_stats(struct sums *sums, const struct query *query, const struct facts *facts)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);

		if (!query_has_key(query, &stat->key))
			continue;
		if (field->use == USE_TIME)
			life_add(&sums->life, field, stat);
		else if (field_set_has(&sums->reasons, stat->key.field))
			exit_sum_add(&sums->by_field[stat->key.field], stat);
	}
}

static struct cell time_cell(const struct exit_sum *sum, const struct life *life, bool is_idle)
{
	if (!sum->timing.nr)
		return cell_none();
	if (is_idle)
		return cell_text("halt");
	if (!(life->has >> TIME_WHOLE & 1))
		return cell_none();
	return cell_percent(sum->timing.delta_ns, life->ns[TIME_WHOLE]);
}

static int add_row(struct view *view, const struct facts *facts, uint32_t id,
		   const struct sums *sums)
{
	const struct field *field = fields_get(facts->fields, id);
	const struct exit_sum *sum = &sums->by_field[id];
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	row->field = id;
	row->is_idle = field->is_idle;
	row->cells[REASON] = cell_text(field->label);
	row->cells[TOTAL] = cell_count(sum->total);
	row->cells[DELTA] = cell_count(sum->delta);
	row->cells[RATE] = exit_sum_rate(sum);
	row->cells[SHARE] = cell_percent(sum->delta, sums->all.delta);
	row->cells[TIME_SHARE] = time_cell(sum, &sums->life, field->is_idle);
	if (sum->timing.nr)
		row->cells[TIME] = cell_ns(sum->timing.delta_ns);
	row->cells[MIN] = exit_sum_shortest(sum);
	row->cells[AVERAGE] = exit_sum_average(sum);
	row->cells[STDDEV] = exit_sum_deviation(sum);
	row->cells[P50] = exit_sum_percentile(sum, 0.5);
	row->cells[P99] = exit_sum_percentile(sum, 0.99);
	row->cells[LONGEST] = exit_sum_longest(sum);
	row->cells[HIST] = exit_sum_hist(sum);
	return 0;
}

static void add_total(struct view *view, const struct facts *facts, struct sums *sums)
{
	struct view_row *total = &view->total;
	struct exit_sum cost = { 0 };

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct exit_sum *sum = &sums->by_field[i];

		sums->all.total += sum->total;
		sums->all.delta += sum->delta;
		sums->all.rate_per_s += sum->rate_per_s;
		sums->all.has_rate |= sum->has_rate;
		if (fields_get(facts->fields, i)->is_idle)
			continue;
		cost.timing.nr += sum->timing.nr;
		cost.timing.delta_ns += sum->timing.delta_ns;
	}
	total->cells[REASON] = cell_text("Total");
	total->cells[TOTAL] = cell_count(sums->all.total);
	total->cells[DELTA] = cell_count(sums->all.delta);
	total->cells[RATE] = exit_sum_rate(&sums->all);
	total->cells[TIME_SHARE] = time_cell(&cost, &sums->life, false);
}

static bool is_shown(const struct query *query, const struct exit_sum *sum)
{
	return sum->nr && (query->zeros || sum->total || sum->delta || sum->timing.delta_ns);
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct exits exits = exits_choose(facts, false, true);
	struct sums sums = { 0 };
	int err = -ENOMEM;

	sums.by_field = view_scratch(view, fields_count(facts->fields) * sizeof(*sums.by_field));
	if (sums.by_field)
		err = choose(query, facts, &exits, &sums.reasons);
	if (!err) {
		add_stats(&sums, query, facts);
		add_total(view, facts, &sums);
		view->note = exits_note(&exits);
	}
	for (uint32_t i = 0; !err && i < fields_count(facts->fields); i++) {
		if (is_shown(query, &sums.by_field[i]))
			err = add_row(view, facts, i, &sums);
	}
	field_set_release(&sums.reasons);
	return err;
}

/* A reason leads to its arguments. */
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
	.title = "Exits",
	.noun = "exit so far",
	.rows = ROWS_EXITS,
	.takes_vcpu = true,
	.has_fixed_rows = true,
	.columns = columns,
	.sort = TIME_SHARE,
	.by_guest = true,
	.is_timed = true,
	.wants = wants,
	.needs = needs,
	.build = build,
	.enter = enter,
};
