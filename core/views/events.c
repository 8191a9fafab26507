// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Events view: every event with its total and rate, exit reasons as a tree below their event.
 */
#include <string.h>

#include "core/views/view.h"
#include "core/views/query.h"

#define TIMED_MAX 8 /* histograms of KVM: it has three */
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

/* Histograms that KVM itself measured. */
struct field_durations {
	uint32_t field;
	struct timing_sum sum;
};

struct event_sums {
	struct field_durations durations[TIMED_MAX];
	struct event_sum {
		struct sum sum;
		float history[STATS_HISTORY]; /* its rates, if there are any keys */
	} fields[]; /* of each field, over all its keys */
};

/* The entry for a field's durations; NULL: it has none yet, and no entry is free. */
static struct field_durations *durations_of(struct field_durations *list, uint32_t field)
{
	for (size_t i = 0; i < TIMED_MAX; i++) {
		if (!list[i].sum.nr || list[i].field == field)
			return &list[i];
	}
	return NULL;
}

static void add_durations_of(struct event_sums *sums, const struct facts *facts,
			     const struct stats_item *stat)
{
	struct field_durations *durations;

	if (fields_get(facts->fields, stat->key.field)->use != USE_EVENT)
		return;
	durations = durations_of(sums->durations, stat->key.field);
	if (!durations)
		return;
	durations->field = stat->key.field;
	timing_sum_add(&durations->sum, stat->timing, false);
}

static struct event_sums *sum_up(struct view *view, const struct query *query,
				 const struct facts *facts)
{
	struct event_sums *sums = view_scratch(view, sizeof(*sums) + fields_count(facts->fields) *
							     sizeof(*sums->fields));
	uint64_t tick = facts->stats->tick;
	size_t nr = facts->stats->nr;

	for (size_t i = 0; i < nr; i++) {
		const struct stats_item *stat = &facts->stats->list[i];
		uint32_t field = stat->key.field;

		if (!query_has_guest(query, stat->key.guest))
			continue;
		if (field_set_has(facts->wanted, field)) {
			struct event_sum *event = &sums->fields[field];

			stats_rates_add(event->history, !event->sum.nr, stat, tick);
			sum_add(&event->sum, stat, fields_get(facts->fields, field)->kind, tick);
		}
		if (stat->timing)
			add_durations_of(sums, facts, stat);
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

static void add_child(struct view *view, const struct facts *facts, uint32_t id,
		      const struct event_sum *sums)
{
	const struct sum *parent = &sums[fields_get(facts->fields, id)->parent].sum;

	add_row(view, facts, id, &sums[id],
		total_since(parent, sums[id].sum.parent_before))->depth = 1;
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
			add_child(view, facts, i, sums);
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

static void add_durations(struct view *view, struct field_durations *list)
{
	for (size_t i = 0; i < view->nr_rows; i++) {
		struct view_row *row = &view->rows[i];
		const struct field_durations *durations =
			row->is_rest ? NULL : durations_of(list, row->field);

		if (durations && hist_count(durations->sum.hist))
			row->cells[HIST] = (struct cell){ .type = CELL_HIST, .end = TIMED_END,
							  .hist = durations->sum.hist };
	}
}

static bool wants(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_EVENT;
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct event_sums *all = sum_up(view, query, facts);
	const struct event_sum *sums = all->fields;
	uint64_t whole[SAMPLE_SOURCES];

	whole_by_source(facts, sums, whole);
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->parent != FIELD_NONE || !field_set_has(facts->wanted, i) ||
		    !is_shown(query, &sums[i].sum))
			continue;
		add_row(view, facts, i, &sums[i], whole[field->source]);
		if (field->has_children)
			add_children(view, query, facts, i, sums);
	}
	add_durations(view, all->durations);
	if (!all->durations[0].sum.nr)
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
