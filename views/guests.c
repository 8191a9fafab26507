// SPDX-License-Identifier: GPL-2.0-or-later
/* The Guests view: one row a guest, by its exits or, with a filter, by the events that match. */
#include <errno.h>
#include <stdlib.h>

#include "facts/exit_counter.h"
#include "views/timed.h"

enum { GUEST, PID, VCPUS, VMM };

static const struct column columns[] = {
	[GUEST] = { "guest", "Guest Name", "as its VMM names it", CELL_TEXT, 24,
		    COLUMN_LEAST(20) },
	[PID] = { "pid", "PID", "of the process that runs it", CELL_COUNT, 7,
		  COLUMN_SPARE(8) },
	[VCPUS] = { "vcpus", "vCPU", "how many it has", CELL_COUNT, 4,
		    COLUMN_SPARE(2) },
	[VMM] = { "vmm", "VMM", "what runs it", CELL_TEXT, 11, COLUMN_MACHINE_ONLY },
	LIFE_COLUMNS("exits since the start or r; with a filter, the events it selects",
		     "of all guests"),
	{ 0 },
};

struct guest_sum {
	uint32_t guest;
	struct life_row life;
};

/* Without a filter only what counts exits: other events are parts of each other. */
static bool wants(const struct query *query, const struct field *field)
{
	if (field->kind != FIELD_COUNTER || field->parent != FIELD_NONE || field->use != USE_EVENT)
		return false;
	return query->filter || field->exit_rank > 0;
}

static bool needs(const struct field *field)
{
	return field->use == USE_EXIT || field->use == USE_TIME;
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
	struct exits exits = exits_choose(facts, true, false);
	int err = 0;

	for (uint32_t i = 0; i < fields_count(facts->fields) && !err; i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->kind != FIELD_COUNTER || !field_set_has(facts->wanted, i) ||
		    (query->filter && field->use != USE_EVENT))
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

static int add_row(struct view *view, const struct facts *facts, struct guest_sum *item,
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
		row->cells[PID] = cell_pid(guest->pid);
		row->cells[VCPUS] = cell_count(guest->nr_vcpus);
		row->cells[VMM] = guest->vmm[0] ? cell_text(guest->vmm) : cell_none();
	}
	life_row_fill(row, &item->life, facts->fields, whole);
	return 0;
}

/* All guests, ascending, with the one that is asked for, and behind them one for the ended. */
struct guest_sums {
	struct guest_sum *list;
	size_t nr;
	struct guest_sum *latest; /* found: keys of one guest follow each other */
};

/* A sum for every guest there is, whether anything counted for it or not. */
static int sums_init(struct guest_sums *sums, struct view *view, const struct query *query,
		     const struct facts *facts)
{
	size_t nr = guests_count(facts->guests);

	sums->nr = nr + query_is_of_ended(query, facts) + 1;
	sums->list = view_scratch(view, sums->nr * sizeof(*sums->list));
	if (!sums->list)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		sums->list[i].guest = guests_at(facts->guests, i)->id;
	sums->list[nr].guest = query->guest; /* if it ended; else overwritten */
	sums->list[sums->nr - 1].guest = STATS_ENDED;
	qsort(sums->list, sums->nr, sizeof(*sums->list), compare_guest);
	sums->latest = sums->list;
	return 0;
}

/* Guests that the inventory has lost go with those that ended: no total goes back for it. */
static struct guest_sum *sums_find(struct guest_sums *sums, uint32_t guest)
{
	struct guest_sum wanted = { .guest = guest }, *item = sums->latest;

	if (item->guest == guest)
		return item;
	item = bsearch(&wanted, sums->list, sums->nr, sizeof(wanted), compare_guest);
	sums->latest = item ? item : &sums->list[sums->nr - 1];
	return sums->latest;
}

/* What each guest's reasons cost. */
static int add_reason(const struct facts *facts, const struct exits *timed,
		      struct key_sums *reasons, const struct stats_item *stat,
		      const struct field *field)
{
	struct key key = { stat->key.guest, -1, stat->key.field };
	struct key_sum *pair;

	if (field->is_idle || field->parent == FIELD_NONE || !stat->delta ||
	    !exits_has(timed, fields_get(facts->fields, field->parent)))
		return 0;
	pair = key_sums_get(reasons, key);
	if (!pair)
		return -ENOMEM;
	pair->count += stat->delta;
	pair->ns += stat->timing ? stat->timing->delta_ns : 0;
	return 0;
}

static int add_stats(struct guest_sums *sums, const struct field_set *chosen,
		     const struct facts *facts, struct key_sums *reasons)
{
	struct exits timed = exits_choose(facts, true, true);
	uint64_t tick = stats_tick(facts->stats);
	int err = 0;

	for (size_t i = 0; !err && i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct life_row *life;

		if (stat->key.guest == GUEST_ANY)
			continue;
		life = &sums_find(sums, stat->key.guest)->life;
		if (field_set_has(chosen, stat->key.field))
			stat_sum_add(&life->exits, stat, FIELD_COUNTER, tick);
		if (field->use == USE_TIME)
			life_add(&life->life, field, stat);
		else if (field->use == USE_EXIT)
			err = add_reason(facts, &timed, reasons, stat, field);
	}
	return err;
}

static int sum_up(struct guest_sums *sums, const struct query *query, const struct facts *facts)
{
	struct field_set chosen = { 0 };
	struct key_sums reasons = { 0 };
	int err = choose_fields(query, facts, &chosen);

	if (!err)
		err = add_stats(sums, &chosen, facts, &reasons);
	for (size_t i = 0; !err && i < reasons.nr_slots; i++) {
		const struct key_sum *pair = &reasons.slots[i];

		if (pair->key.field != FIELD_NONE)
			life_row_add_reason(&sums_find(sums, pair->key.guest)->life,
					    pair->key.field, pair->ns, pair->count);
	}
	key_sums_release(&reasons);
	field_set_release(&chosen);
	return err;
}

static uint64_t add_total(struct view *view, const struct guest_sums *sums)
{
	struct life_row all = { 0 };

	for (size_t i = 0; i < sums->nr; i++)
		life_row_merge(&all, &sums->list[i].life);
	life_row_total(view, &all);
	return all.exits.total;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct guest_sums sums;
	uint64_t whole;

	if (sums_init(&sums, view, query, facts) < 0 || sum_up(&sums, query, facts) < 0)
		return -ENOMEM;
	life_columns_absent(view, facts);
	if (fields_have_exits(facts->fields) && !query->filter)
		view->rate_title = "Exits/s";
	whole = add_total(view, &sums);
	for (size_t i = 0; i < sums.nr; i++) {
		struct guest_sum *item = &sums.list[i];

		if (query->guest != GUEST_ANY && item->guest != query->guest)
			continue;
		if (!guests_by_id(facts->guests, item->guest) && !item->life.exits.total)
			continue;
		if (add_row(view, facts, item, whole) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A guest leads to its vCPUs, or to its events where exits are not counted by vCPU. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	(void)ret_sought;
	if (!row)
		return false;
	query_narrow(query, row->guest);
	query->type = fields_have_exits(facts->fields) ? &view_vcpus : &view_events;
	return true;
}

const struct view_type view_guests = {
	.name = "guests",
	.title = "Guests",
	.noun = "exit so far",
	.rows = ROWS_GUESTS,
	.columns = columns,
	.sort = LIFE_RATE,
	.by_guest = true,
	.wants = wants,
	.needs = needs,
	.build = build,
	.enter = enter,
};
