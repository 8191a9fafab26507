// SPDX-License-Identifier: GPL-2.0-or-later
/* The vCPUs view: a row for each vCPU, with its exits, its time split, its costliest reason. */
#include "core/views/view.h"
#include "core/views/fill.h"

static const struct column columns[] = {
	{ COL_GUEST, .least = 19, .is_of_guest = true },
	{ COL_VCPU, .width = 5, .is_key = true, .help = "its number in the guest" },
	{ COL_THREAD, .least = 8, .is_key = true },
	{ COL_TID, .rank = 73, .is_key = true },
	{ COL_ON_CPU, .rank = 38 },
	OWNER_COLUMNS("of all vCPUs"),
	{ COL_AFFINITY, .rank = 180 },
	{ COL_REMOTE, .rank = 76 },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

static bool needs(const struct field *field)
{
	return field_is_of_exits(field) || field->use == USE_TIME || field->use == USE_CPU ||
	       (field_event(field) && field_is_by_vcpu(field)) ||
	       (field->use == USE_HOST && !host_is_of_cpu(field->part) &&
		!host_is_of_host(field->part));
}

/* Whether the query is about all that a guest's VMM runs. */
static bool shows_threads(const struct query *query)
{
	return query->guest != GUEST_ALL && !query->has_vcpu && !query->has_cpu &&
	       !query->has_reason && !query->nr_only && !query->filter;
}

/* The other threads of the guest's VMM. */
static void add_threads(struct view *view, const struct query *query, const struct facts *facts)
{
	const struct guest *guest = guests_by_id(facts->guests, query->guest);

	for (size_t i = 0; guest && i < facts->stats->nr; i++) {
		const struct stats_item *stat = &facts->stats->list[i];
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct view_row *row;

		if (stat->key.guest != guest->id || field->use != USE_HOST ||
		    field->part != HOST_THREAD || field->parent == FIELD_NONE ||
		    stat->seen != facts->stats->tick)
			continue;
		row = view_add(view);
		row->guest = guest->id;
		row->field = stat->key.field;
		*view_cell(view, row, COL_GUEST) = cell_guest(guest);
		*view_cell(view, row, COL_THREAD) = cell_text(field->label);
		if (stat->has_rate)
			*view_cell(view, row, COL_CPU_TIME) = (struct cell){
				.type = CELL_PERCENT, .whole = 1e9F,
				.number = stat->rate_per_s / 1e7,
			};
	}
}

static bool is_shown(const struct query *query, const struct facts *facts,
		     const struct owner *owner)
{
	const struct sum *cpu = &owner->host[HOST_CPU];
	const struct key *key = &owner->key;

	return key->guest != GUEST_NONE && query_has_key(query, key) &&
	       (!query->has_cpu || (cpu->nr && cpu->total == query->cpu)) &&
	       (owner->exits.total ||
		guest_vcpu(guests_by_id(facts->guests, key->guest), key->vcpu));
}

/* The exits of all vCPUs of the guests that the query asks for, even if it asks for one vCPU. */
static uint64_t total_of_guests(const struct rollup *sums, const struct query *query)
{
	struct keys keys = query_keys(query);

	keys.has_vcpu = false;
	return rollup_total(sums, &keys);
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct rollup *sums = &view->sums;
	struct row_of of = { .facts = facts, .query = query, .rollup = sums };
	bool has_counters = vcpus_show_counters(query, facts->fields);
	const struct guest *guest;

	if (!has_counters || !query->filter)
		view->rate_title = "Exits/s";
	rollup_begin(sums, GROUP_GUEST | GROUP_VCPU);
	/* Without exits by vCPU there are no rows, and the caller says why. */
	if (!fields_have_exits(facts->fields) && !has_counters)
		return;
	vcpus_choose_exits(sums, query, facts);
	for (size_t i = 0; (guest = guests_at(facts->guests, i)); i++) {
		for (size_t j = 0; j < guest->nr_vcpus; j++)
			rollup_expect(sums, guest->id, guest->vcpus[j].index);
	}
	rollup_owners(sums, facts);
	owners_look_for_zeros(sums, query, facts, &of);
	of.total = total_of_guests(sums, query);
	for (size_t i = 0; i < sums->nr_owners; i++) {
		if (is_shown(query, facts, &sums->owners[i]))
			owners_add_row(view, &sums->owners[i], &of);
	}
	if (shows_threads(query))
		add_threads(view, query, facts);
}

static void finish(struct view *view, const struct query *query, const struct facts *facts)
{
	owners_finish(view, query, facts);
	if (!fields_have_vcpu_exits(facts->fields))
		view->note = facts_lack(facts, NEED_TIMES);
	if (!view->nr_rows)
		return;
	if (!query_selects_any(query, facts->fields))
		view->note = "The filter matches no exit so far.";
	else if (facts_lack(facts, NEED_VCPU_EXITS))
		view->note = facts_lack(facts, NEED_VCPU_EXITS);
	else if (!total_of_guests(&view->sums, query) && exits_note(facts))
		view->note = exits_note(facts);
}

/*
 * Enter on a vCPU leads to its exits. If vCPUs were compared by one reason, the row of that reason
 * is selected.
 */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	if (!row || row->vcpu < 0)
		return false;
	if (query->has_reason)
		*ret_sought = fields_get(facts->fields, query->reason)->label;
	query_narrow(query, row->guest);
	query->has_vcpu = true;
	query->vcpu = row->vcpu;
	query->type = &view_exits;
	return true;
}

const struct view_type view_vcpus = {
	.name = "vcpus",
	.key = '3',
	.title = "vCPUs",
	.noun = "exit so far",
	.groups = GROUP_GUEST | GROUP_VCPU,
	.columns = columns,
	.sort = COL_EXIT_COST,
	.by_guest = true,
	.is_timed = true,
	.has_host = true,
	.details = { &view_exits, &view_interrupts },
	.wants = vcpus_want,
	.needs = needs,
	.build = build,
	.finish = finish,
	.enter = enter,
};
