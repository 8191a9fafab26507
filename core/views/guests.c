// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Guests view: a row for each guest, with its exits or, with a filter, the events that match.
 */
#include <errno.h>

#include "core/facts/exit_counter.h"
#include "core/facts/key_sums.h"
#include "core/views/guests.h"
#include "core/views/list.h"

enum { GUEST, PID, VCPUS, VMM, VMM_CPU };

static const struct column columns[] = {
	[GUEST] = { "guest", "Guest Name", "as its VMM names it", CELL_TEXT, 24,
		    COLUMN_LEAST(20) },
	[PID] = { "pid", "PID", "of the process that runs it", CELL_COUNT, 7,
		  COLUMN_SPARE(73) },
	[VCPUS] = { "vcpus", "vCPU", "how many it has", CELL_COUNT, 4,
		    COLUMN_SPARE(20) },
	[VMM] = { "vmm", "VMM", "what runs it", CELL_TEXT, 11, COLUMN_MACHINE_ONLY },
	[VMM_CPU] = { "vmm_percent", "VMM%",
		      "time that the VMM's threads beside vCPUs ran, as a share of one host CPU",
		      CELL_PERCENT, 5, COLUMN_SPARE(170) },
	OWNER_COLUMNS("of all guests"),
	{ 0 },
};

/*
 * Without a filter only counters of exits are added up: other events overlap. A filter selects
 * events, or exits where events are not counted by guest: see choose().
 */
bool guests_wants(const struct query *query, const struct field *field)
{
	if (field->kind != FIELD_COUNTER || field->parent != FIELD_NONE)
		return false;
	return field->use == USE_EVENT ? query->filter || field->exit_rank > 0 :
					 query->filter && field->use == USE_EXIT;
}

bool guests_needs(const struct field *field)
{
	return field->use == USE_EXIT || field->use == USE_TIME ||
	       (field->use == USE_HOST && field->part <= HOST_THREAD);
}

/* Whether the filter names the field; a child does not count if its parent is named as well. */
static bool is_named(const struct query *query, const struct facts *facts,
		     const struct field *field)
{
	if (field->parent == FIELD_NONE)
		return query_names(query, field);
	return !query_names(query, fields_get(facts->fields, field->parent));
}

/* The fields to sum up: all that the filter selects; without a filter the best exit counter. */
static void choose_fields(const struct query *query, const struct facts *facts,
			  struct field_set *ret_chosen)
{
	struct exits exits = exits_choose(facts, true, false);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->kind != FIELD_COUNTER || !field_set_has(facts->wanted, i) ||
		    (query->filter && field->use != USE_EVENT))
			continue;
		if (query->filter ? is_named(query, facts, field) : exits_has(&exits, field))
			field_set_add(ret_chosen, i);
	}
}

static int init(struct owners *owners, struct view *view, const struct facts *facts)
{
	const struct guest *guest;

	if (owners_init(owners, view, guests_count(facts->guests) + GUESTS_ENDED) < 0)
		return -ENOMEM;
	for (size_t i = 0; (guest = guests_at(facts->guests, i)); i++)
		owners_add(owners, guest->id, -1)->of = guest;
	for (size_t i = 0; (guest = guests_ended_at(facts->guests, i)); i++) {
		struct owner *owner = owners_add(owners, guest->id, -1);

		owner->of = guest;
		owner->has_ended = true;
	}
	owners_end(owners);
	return 0;
}

/* The reasons that may be the costliest. */
static void choose_reasons(const struct facts *facts, struct field_set *ret_chosen)
{
	struct exits timed = exits_choose(facts, true, true);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use == USE_EXIT && !field->is_idle && field->parent != FIELD_NONE &&
		    exits_has(&timed, fields_get(facts->fields, field->parent)))
			field_set_add(ret_chosen, i);
	}
}

/* Adds the cost of a reason, summed up over the vCPUs of its guest. */
static void add_reason(struct key_sums *reasons, const struct stats_item *stat)
{
	struct key key = { stat->key.guest, -1, stat->key.field };
	uint64_t delta_ns = stat->timing ? stat->timing->delta_ns : 0;
	struct key_sum *reason;

	if (!stat->delta && !delta_ns)
		return;
	reason = key_sums_get(reasons, &key);
	reason->count += stat->delta;
	reason->ns += delta_ns;
}

static void add_stats(struct owners *owners, const struct chosen_exits *chosen,
		      const struct facts *facts, struct key_sums *reasons)
{
	uint64_t tick = stats_tick(facts->stats);

	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct owner *owner;

		if (stat->key.guest == GUEST_ANY)
			continue;
		owner = owners_find(owners, stat->key.guest, -1);
		if (field_set_has(&chosen->exits, stat->key.field))
			stat_sum_add(&owner->exits, stat, FIELD_COUNTER, tick);
		if (field->parent == FIELD_NONE || field->use == USE_TIME)
			thread_sum_add(&owner->threads, field, stat);
		if (field->use == USE_TIME)
			time_split_add(&owner->split, field, stat);
		halt_reason_look(&owner->halt, field, stat);
		if (!field_set_has(&chosen->reasons, stat->key.field))
			continue;
		owner_add_open(owner, stats_open_ns(facts->stats, facts->fields, stat));
		add_reason(reasons, stat);
	}
}

/* Whether any of the fields was counted by guest; or, by_guest false, for the whole host. */
static bool are_counted(const struct field_set *fields, const struct facts *facts, bool by_guest)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct key *key = &stats_at(facts->stats, i)->key;

		if ((key->guest != GUEST_ANY) == by_guest && field_set_has(fields, key->field))
			return true;
	}
	return false;
}

/*
 * Chooses exits, or with a filter the events that it selects. Where events were counted for the
 * whole host only, as in a history, it chooses the exits that the filter selects: exits are always
 * counted by guest.
 */
static int choose(struct view *view, const struct query *query, const struct facts *facts,
		  struct chosen_exits *ret_chosen)
{
	bool has_exits = !query->filter && fields_have_exits(facts->fields), are_of_host;
	int err = 0;

	choose_fields(query, facts, &ret_chosen->exits);
	if (!err && query->filter && !are_counted(&ret_chosen->exits, facts, true)) {
		are_of_host = are_counted(&ret_chosen->exits, facts, false);
		field_set_clear(&ret_chosen->exits);
		err = chosen_exits_find(query, facts, ret_chosen);
		field_set_clear(&ret_chosen->reasons);
		has_exits = are_counted(&ret_chosen->exits, facts, true);
		if (are_of_host && !has_exits && guests_count(facts->guests))
			view->note = "These events were counted for the whole host only.";
	}
	if (has_exits)
		view->rate_title = "Exits/s";
	if (!err)
		choose_reasons(facts, &ret_chosen->reasons);
	return err;
}

static int sum_up(struct owners *owners, struct view *view, const struct query *query,
		  const struct facts *facts)
{
	struct chosen_exits chosen = { 0 };
	struct key_sums reasons = { 0 };
	int err = choose(view, query, facts, &chosen);

	if (!err)
		add_stats(owners, &chosen, facts, &reasons);
	owners_count_each(owners, query, facts, &chosen.exits);
	for (size_t i = 0; !err && i < reasons.nr; i++) {
		const struct key_sum *reason = &reasons.list[i];

		owner_add_reason(owners_find(owners, reason->key.guest, -1), reason->key.field,
				 reason->ns, reason->count);
	}
	key_sums_release(&reasons);
	chosen_exits_release(&chosen);
	return err;
}

static void fill(struct view_row *row, const struct owner *owner)
{
	const struct guest *guest = owner->of;

	row->cells[PID] = cell_pid(guest->pid);
	row->cells[VCPUS] = cell_count(guest->nr_vcpus);
	if (!guest->has_ended)
		row->cells[VMM_CPU] = thread_sum_percent(&owner->threads, HOST_THREAD);
	row->cells[VMM] = guest->vmm[0] ? cell_text(guest->vmm) : cell_none();
}

int guests_build(struct view *view, const struct query *query, const struct facts *facts,
		 guests_fill_fn fill_own)
{
	struct owners owners;

	if (init(&owners, view, facts) < 0 || sum_up(&owners, view, query, facts) < 0)
		return -ENOMEM;
	owners_total(&owners, GUEST_ANY);
	for (size_t i = 0; i < owners.nr; i++) {
		struct owner *owner = &owners.list[i];
		struct view_row *row;

		if (!query_has_guest(query, owner->guest))
			continue;
		/* A running guest has a row even when nothing was counted for it. */
		if ((!owner->of || owner->has_ended) && !owner->exits.total)
			continue;
		row = owners_add_row(view, &owners, owner, facts->fields);
		if (!row)
			return -ENOMEM;
		if (owner->of)
			fill_own(row, owner);
	}
	owners_absent(view, facts);
	return 0;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	int err = guests_build(view, query, facts, fill);

	view_absent_without(view, facts, HOST_THREAD, VMM_CPU);
	return err;
}

/* Enter on a guest leads to its vCPUs, or to its events where exits are not counted by vCPU. */
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
	.key = '2',
	.title = "Guests",
	.noun = "event",
	.groups = GROUP_GUEST,
	.columns = columns,
	.sort = OWNER_RATE,
	.by_guest = true,
	.has_host = true,
	.has_events = true,
	.details = { &view_exits, &view_vcpus },
	.wants = guests_wants,
	.needs = guests_needs,
	.build = build,
	.enter = enter,
};
