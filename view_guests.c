// SPDX-License-Identifier: GPL-2.0-or-later
/* The Guests view: one row a guest, by its exits or, with a filter, by the events that match. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exits.h"
#include "view.h"

enum { GUEST, PID, VCPUS, TOTAL, SHARE, DELTA, RATE, SPARK };

static const struct column columns[] = {
	[GUEST] = { "guest", "Guest Name", "as its VMM names it", CELL_TEXT, 24, false },
	[PID] = { "pid", "PID", "of the process that runs it", CELL_COUNT, 8, false },
	[VCPUS] = { "vcpus", "vCPU", "how many it has", CELL_COUNT, 4, false },
	[TOTAL] = { "total", "Total",
		    "exits since the start or r; with a filter, the events it selects",
		    CELL_COUNT, 10, false },
	[SHARE] = { "share", "%Total", "of all guests", CELL_PERCENT, 7, false },
	[DELTA] = { "delta", "Delta", "since the previous sample", CELL_COUNT, 10, true },
	[RATE] = { "rate", "CurAvg/s", "per second between the last two samples",
		   CELL_RATE, 9, false },
	[SPARK] = { "history", "History", "the rate over the last samples", CELL_SPARK, 30, false },
	{ 0 },
};

struct guest_sum {
	uint32_t guest;
	struct stat_sum sum;
};

/* Without a filter only what counts exits: other events are parts of each other. */
static bool wants(const struct query *query, const struct field *field)
{
	if (field->kind != FIELD_COUNTER || field->parent != FIELD_NONE || field->use != USE_EVENT)
		return false;
	return query->filter || field->exit_rank > 0;
}

/* What the filter names. A parent that is there for its child's sake gives way to the child. */
static bool is_named(const struct query *query, const struct facts *facts,
		     const struct field *field)
{
	if (field->parent == FIELD_NONE)
		return query_names(query, field);
	return !query_names(query, fields_get(facts->fields, field->parent));
}

/* The fields to add up: all that a filter selects, or those of the best counter of exits. */
static int choose_fields(const struct query *query, const struct facts *facts,
			 struct field_set *ret_chosen)
{
	struct exits exits = exits_choose(facts, true);
	int err = 0;

	for (uint32_t i = 0; i < fields_count(facts->fields) && !err; i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->kind != FIELD_COUNTER || !field_set_has(facts->wanted, i))
			continue;
		if (query->filter ? is_named(query, facts, field) : exits_has(&exits, field))
			err = field_set_add(ret_chosen, i);
	}
	return err;
}

static int compare_guest(const void *a, const void *b)
{
	const struct guest_sum *x = a, *y = b;

	return (x->guest > y->guest) - (x->guest < y->guest);
}

static int add_row(struct view *view, const struct facts *facts, const struct guest_sum *item,
		   uint64_t whole)
{
	const struct guest *guest = guests_by_id(facts->guests, item->guest);
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	row->guest = item->guest;
	row->is_gone = !guest;
	row->is_rest = item->guest == STATS_ENDED;
	row->cells[GUEST] = cell_text(guest ? guest->name : "(ended)");
	if (guest) {
		row->cells[PID] = cell_count((uint64_t)guest->pid);
		row->cells[VCPUS] = cell_count(guest->nr_vcpus);
	}
	if (!item->sum.nr)
		return 0;
	row->cells[TOTAL] = cell_count(item->sum.total);
	row->cells[SHARE] = cell_percent(item->sum.total, whole);
	row->cells[DELTA] = cell_count(item->sum.delta);
	row->cells[RATE] = cell_rate(&item->sum);
	row->cells[SPARK] = cell_spark(&item->sum);
	return 0;
}

/* A sum for every guest there is, whether anything counted for it or not, and one for the ended. */
static struct guest_sum *sums_new(struct view *view, const struct facts *facts, size_t *ret_nr)
{
	size_t nr = guests_count(facts->guests) + 1;
	struct guest_sum *sums = view_scratch(view, nr * sizeof(*sums));

	if (!sums)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		const struct guest *guest = guests_at(facts->guests, i);

		sums[i].guest = guest ? guest->id : STATS_ENDED;
	}
	*ret_nr = nr;
	return sums;
}

/* Guests that the inventory has lost go with those that ended: no total goes back for it. */
static void add_stats(struct guest_sum *sums, size_t nr, const struct field_set *chosen,
		      const struct facts *facts)
{
	uint64_t tick = stats_tick(facts->stats);

	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		struct guest_sum wanted = { .guest = stat->key.guest }, *item;

		if (stat->key.guest == GUEST_ANY || !field_set_has(chosen, stat->key.field))
			continue;
		item = bsearch(&wanted, sums, nr, sizeof(*sums), compare_guest);
		stat_sum_add(item ? &item->sum : &sums[nr - 1].sum, stat, FIELD_COUNTER, tick);
	}
}

static int sum_up(struct guest_sum *sums, size_t nr, const struct query *query,
		  const struct facts *facts)
{
	struct field_set chosen = { 0 };
	int err = choose_fields(query, facts, &chosen);

	if (!err)
		add_stats(sums, nr, &chosen, facts);
	field_set_release(&chosen);
	return err;
}

static struct stat_sum add_total(struct view *view, const struct guest_sum *sums, size_t nr)
{
	struct stat_sum all = { 0 };

	for (size_t i = 0; i < nr; i++)
		stat_sum_merge(&all, &sums[i].sum);
	view->total.cells[GUEST] = cell_text("Total");
	view->total.cells[TOTAL] = cell_count(all.total);
	view->total.cells[DELTA] = cell_count(all.delta);
	view->total.cells[RATE] = cell_rate(&all);
	return all;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	size_t nr;
	struct guest_sum *sums = sums_new(view, facts, &nr);
	struct stat_sum all;

	if (!sums || sum_up(sums, nr, query, facts) < 0)
		return -ENOMEM;
	all = add_total(view, sums, nr);
	for (size_t i = 0; i < nr; i++) {
		if (query->guest != GUEST_ANY && sums[i].guest != query->guest)
			continue;
		if (sums[i].guest == STATS_ENDED && !sums[i].sum.total)
			continue;
		if (add_row(view, facts, &sums[i], all.total) < 0)
			return -ENOMEM;
	}
	return 0;
}

const struct view_type view_guests = {
	.name = "guests",
	.title = "Guests",
	.columns = columns,
	.sort = RATE,
	.by_guest = true,
	.wants = wants,
	.build = build,
};
