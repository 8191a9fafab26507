// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Events view: every event with its total and rate, exit reasons as a tree below their event.
 */
#include <string.h>

#include "core/views/view.h"
#include "core/views/query.h"

#define TIMED_END (HIST_BUCKETS - 1) /* KVM's last bucket is from 2^30 ns on */

static const struct column columns[] = {
	{ COL_EVENT, .least = 18 },
	{ COL_TOTAL, .rank = 1,
	  .help = "since the start, r, or a change of filter; a level as it is now" },
	{ COL_SHARE, .rank = 2,
	  .help = "of all events of the same provider; a reason: of its event" },
	{ COL_DELTA, .is_for_machines = true },
	{ .id = COL_RATE },
	{ COL_HISTORY, .rank = 3 },
	{ COL_HIST, .rank = 4, .help = "of what KVM itself measures: how many took how long" },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

enum { EVENT, TOTAL, SHARE, DELTA, RATE, SPARK, HIST }; /* the columns' order */

/* A field, over all its keys. */
struct event_sum {
	struct sum sum;
	float history[STATS_HISTORY]; /* its rates, if there are any keys */
	struct timing_sum *timing;    /* a histogram that KVM itself measured; NULL: none */
};

/* By field. */
static struct event_sum *sum_up(struct view *view, const struct query *query,
				const struct facts *facts, bool *ret_is_timed)
{
	struct event_sum *sums = view_scratch(view, fields_count(facts->fields) * sizeof(*sums));

	*ret_is_timed = false;
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *stat = &facts->stats->list[i];
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct event_sum *event = &sums[stat->key.field];

		if (!query_has_guest(query, stat->key.guest))
			continue;
		if (field_set_has(facts->wanted, stat->key.field)) {
			stats_rates_add(event->history, !event->sum.nr, stat, facts->stats->tick);
			sum_add(&event->sum, stat, field->kind, facts->stats->tick);
		}
		if (!stat->timing || field->use != USE_EVENT)
			continue;
		if (!event->timing)
			event->timing = view_memory(view, sizeof(*event->timing));
		timing_sum_add(event->timing, stat->timing, false);
		*ret_is_timed = true;
	}
	return sums;
}

static bool is_shown(const struct query *query, const struct sum *sum)
{
	return sum->nr && (query->zeros || sum->total || sum->delta);
}

static void fill_counter(struct view_row *row, const struct sum *sum, uint64_t whole)
{
	row->cells[TOTAL] = cell_count(sum->total);
	row->cells[SHARE] = cell_percent(sum->total, whole);
	row->cells[DELTA] = cell_count(sum->delta);
	row->cells[RATE] = cell_rate(sum);
}

static struct view_row *add_row(struct view *view, const struct facts *facts, uint32_t id,
				const struct event_sum *event, uint64_t whole)
{
	const struct field *field = fields_get(facts->fields, id);
	struct view_row *row = view_add(view);

	row->field = id;
	row->is_idle = field->is_idle;
	row->can_open = field->has_children;
	row->is_level = field->kind != FIELD_COUNTER;
	row->elapsed_ns = facts->stats->elapsed_ns[field->source];
	if (row->elapsed_ns == view->elapsed_ns)
		row->elapsed_ns = 0;
	row->cells[EVENT] = cell_text(field->name);
	row->cells[TOTAL] = cell_count(event->sum.total);
	if (event->timing && hist_count(event->timing->hist))
		row->cells[HIST] = (struct cell){ .type = CELL_HIST, .end = TIMED_END,
						  .hist = event->timing->hist };
	if (row->is_level)
		return row;
	fill_counter(row, &event->sum, whole);
	row->cells[SPARK] = cell_spark(&event->sum, event->history);
	return row;
}

/* The parent's total since its children began to count. */
static uint64_t total_since(const struct sum *parent, uint64_t before)
{
	return parent->total > before ? parent->total - before : 0;
}

/*
 * Adds a row for the parent's count less the counts of all children: reasons that no table has.
 * since: the parent's total since its children began.
 */
static void add_rest(struct view *view, const struct sum *parent,
		     const struct sum *children, uint64_t since)
{
	struct sum rest = { .nr_rates = parent->nr_rates && children->nr_rates };
	struct view_row *row;

	if (since <= children->total)
		return;
	rest.total = since - children->total;
	rest.delta = parent->delta > children->delta ? parent->delta - children->delta : 0;
	if (parent->rate_per_s > children->rate_per_s)
		rest.rate_per_s = parent->rate_per_s - children->rate_per_s;
	row = view_add(view);
	row->depth = 1;
	row->is_rest = true;
	row->cells[EVENT] = cell_text("other");
	fill_counter(row, &rest, since);
}

/* The wanted children of the root that was added last. */
static void add_children(struct view *view, const struct query *query, const struct facts *facts,
			 uint32_t parent, const struct event_sum *sums)
{
	size_t root = view->nr_rows - 1;
	struct sum all = { 0 };
	uint64_t before = 0;	 /* the parent's total when they began */
	bool is_complete = true; /* all children were counted, from the same moment on */

	for (uint32_t i = parent + 1; i < fields_count(facts->fields); i++) {
		if (fields_get(facts->fields, i)->parent != parent)
			continue;
		view->rows[root].is_open |= field_set_has(facts->wanted, i);
		if (!sums[i].sum.nr) {
			is_complete = false;
			continue;
		}
		if (all.nr && sums[i].sum.parent_before != before)
			is_complete = false;
		before = sums[i].sum.parent_before;
		sum_join(&all, &sums[i].sum);
		if (is_shown(query, &sums[i].sum))
			add_row(view, facts, i, &sums[i],
				total_since(&sums[parent].sum, before))->depth = 1;
	}
	if (is_complete && all.nr)
		add_rest(view, &sums[parent].sum, &all, total_since(&sums[parent].sum, before));
}

/* 100 % of each provider: the totals of its counters. The sum of an unwanted field is 0. */
static void whole_by_source(const struct facts *facts, const struct event_sum *sums,
			    uint64_t *ret_whole)
{
	memset(ret_whole, 0, SAMPLE_SOURCES * sizeof(*ret_whole));
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->kind == FIELD_COUNTER && field->parent == FIELD_NONE)
			ret_whole[field->source] += sums[i].sum.total;
	}
}

static bool wants(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_EVENT;
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	bool is_timed;
	const struct event_sum *sums = sum_up(view, query, facts, &is_timed);
	uint64_t whole[SAMPLE_SOURCES];

	whole_by_source(facts, sums, whole);
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		/* A history may want more: the exits and arguments that it keeps. */
		if (field->parent != FIELD_NONE || !wants(query, field) ||
		    !field_set_has(facts->wanted, i) || !is_shown(query, &sums[i].sum))
			continue;
		add_row(view, facts, i, &sums[i], whole[field->source]);
		if (field->has_children)
			add_children(view, query, facts, i, sums);
	}
	if (!is_timed)
		view_drop(view, COL_HIST);
}

/* Enter on a reason leads to the Exits view, which shows its times. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	const struct field *field, *parent;

	if (!row || row->is_rest)
		return false;
	field = fields_get(facts->fields, row->field);
	parent = field->parent == FIELD_NONE ? NULL : fields_get(facts->fields, field->parent);
	if (!parent || !parent->exit_rank)
		return false;
	query->type = &view_exits;
	*ret_sought = field->label;
	return true;
}

const struct view_type view_events = {
	.name = "events",
	.key = '1',
	.title = "Events",
	.noun = "event",
	.columns = columns,
	.sort = COL_RATE,
	.has_trees = true,
	.has_events = true,
	.source_need = NEED_EVENTS,
	.wants = wants,
	.build = build,
	.enter = enter,
};
