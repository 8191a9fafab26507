// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Guests view: a row for each guest, with its exits or, with a filter, the events that match.
 */
#include "core/views/view.h"
#include "core/views/fill.h"

#define SWAPPED_WARN 5 /* percent of a guest's memory */

static const struct column columns[] = {
	{ COL_GUEST, .least = 18, .title = "Guest Name" },
	{ COL_PID, .rank = 73 },
	{ COL_VCPUS, .rank = 20 },
	{ COL_VMM, .is_for_machines = true },
	{ COL_TITLE, .rank = 71, .least = 12 },
	{ COL_PROJECT, .rank = 155, .least = 8 },
	{ COL_FLAVOR, .rank = 190, .least = 8 },
	{ COL_PLATFORM_ID, .rank = 193, .least = 8 },
	{ COL_VMM_TIME, .rank = 170 },
	OWNER_COLUMNS("of all guests"),
	{ COL_HUGE, .rank = 165 },
	{ COL_SWAPPED, .rank = 160, .warn = SWAPPED_WARN },
	{ COL_UUID, .rank = 194, .least = 36 },
	{ COL_POD, .rank = 195, .least = 36 },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

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
	return field_is_of_exits(field) || field->use == USE_TIME || field_event(field) ||
	       (field->use == USE_HOST &&
		(field->part <= HOST_THREAD || field->part == HOST_SWAPPED ||
		 field->part == HOST_WAITED));
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
static void choose_counted(struct rollup *sums, const struct query *query,
			   const struct facts *facts)
{
	struct exits exits = exits_choose(facts, true, false);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->kind != FIELD_COUNTER || !field_set_has(facts->wanted, i) ||
		    (query->filter && field->use != USE_EVENT))
			continue;
		if (query->filter ? is_named(query, facts, field) : exits_has(&exits, field))
			field_set_add(&sums->counted, i);
	}
}

/* Whether any of the fields was counted: by guest or, by_guest false, for the whole host. */
static bool are_counted(const struct field_set *fields, const struct facts *facts, bool by_guest)
{
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct key *key = &facts->stats->list[i].key;

		if ((key->guest != GUEST_NONE) == by_guest && field_set_has(fields, key->field))
			return true;
	}
	return false;
}

/*
 * Chooses exits, or with a filter the events that it selects. Where events were counted for the
 * whole host only, as in a history, it chooses the exits that the filter selects: exits are always
 * counted by guest.
 */
static void choose(struct view *view, const struct query *query, const struct facts *facts)
{
	bool has_exits = !query->filter && fields_have_vcpu_exits(facts->fields), are_of_host;
	struct rollup *sums = &view->sums;

	choose_counted(sums, query, facts);
	if (query->filter && !are_counted(&sums->counted, facts, true)) {
		are_of_host = are_counted(&sums->counted, facts, false);
		field_set_clear(&sums->counted);
		owners_choose_exits(sums, query, facts);
		field_set_clear(&sums->reasons);
		has_exits = are_counted(&sums->counted, facts, true);
		if (are_of_host && !has_exits && guests_count(facts->guests))
			view->note = "These events were counted for the whole host only.";
	}
	if (has_exits)
		view->rate_title = "Exits/s";
	if (!query->filter)
		rollup_choose_reasons(sums, facts, exits_choose(facts, true, true));
}

void guests_build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct rollup *sums = &view->sums;
	struct row_of of = { .facts = facts, .query = query, .rollup = sums };
	const struct guest *guest;

	rollup_begin(sums, GROUP_GUEST);
	choose(view, query, facts);
	for (size_t i = 0; (guest = guests_at(facts->guests, i)); i++)
		rollup_expect(sums, guest->id, -1);
	rollup_owners(sums, facts);
	owners_look_for_zeros(sums, query, facts, &of);
	of.total = rollup_total(sums, &(struct keys){ .guest = GUEST_ALL });
	for (size_t i = 0; i < sums->nr_owners; i++) {
		struct owner *owner = &sums->owners[i];
		bool is_here = guests_by_id(facts->guests, owner->key.guest);

		/* A running guest has a row even when nothing was counted for it. */
		if (owner->key.guest != GUEST_NONE && query_has_guest(query, owner->key.guest) &&
		    (is_here || owner->exits.total))
			owners_add_row(view, owner, &of);
	}
}

/* Enter on a guest leads to its vCPUs, or to its events where exits are not counted by vCPU. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	(void)ret_sought;
	if (!row)
		return false;
	query_narrow(query, row->guest);
	query->type = fields_have_vcpu_exits(facts->fields) ? &view_vcpus : &view_events;
	return true;
}

const struct view_type view_guests = {
	.name = "guests",
	.key = '2',
	.title = "Guests",
	.noun = "event",
	.groups = GROUP_GUEST,
	.columns = columns,
	.sort = COL_EXIT_COST,
	.by_guest = true,
	.has_host = true,
	.has_events = true,
	.details = { &view_exits, &view_vcpus },
	.wants = guests_wants,
	.needs = guests_needs,
	.build = guests_build,
	.finish = owners_finish,
	.enter = enter,
};
