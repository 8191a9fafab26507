// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of owners: of guests, hosts and vCPUs. */
#include "core/views/owners.h"

/* ---- which exits */

/*
 * A filter that names all exits, as "exit" does, counts them all; a filter that names reasons
 * counts these reasons. The costliest reason is one that the filter names. A query for one reason
 * counts only that reason.
 */
static void choose_field(struct rollup *sums, const struct query *query,
			 const struct fields *fields, const struct exits *exits, uint32_t id)
{
	const struct field *field = fields_get(fields, id), *parent = field;
	bool is_reason = field->parent != FIELD_NONE;

	if (is_reason)
		parent = fields_get(fields, field->parent);
	if (query->has_reason && id != query->reason)
		return;
	if (field->use != USE_EXIT || !exits_has(exits, parent))
		return;
	if (!is_reason) {
		if (query_names(query, field))
			field_set_add(&sums->counted, id);
		return;
	}
	if (!query_selects(query, fields, field))
		return;
	if (query->has_reason || !query_names(query, parent))
		field_set_add(&sums->counted, id);
	field_set_add(&sums->reasons, id);
}

void owners_choose_exits(struct rollup *sums, const struct query *query,
			 const struct facts *facts)
{
	struct exits exits = query_exits(query, facts, true);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++)
		choose_field(sums, query, facts->fields, &exits, i);
}

/* ---- rows */

/* A field's rank as a counter of exits, or its parent's. */
static uint8_t rank_of(const struct facts *facts, const struct field *field)
{
	if (field->parent != FIELD_NONE)
		field = fields_get(facts->fields, field->parent);
	return field->exit_rank;
}

void owners_look_for_zeros(const struct rollup *sums, const struct query *query,
			   const struct facts *facts, struct row_of *of)
{
	/* An event of a lower rank than the best that happened never happens here. */
	uint8_t least_rank = exits_choose(facts, false, true).rank;
	bool is_none = true; /* nothing was counted yet, so no counter could be chosen */

	for (uint32_t i = 0; is_none && i < fields_count(facts->fields); i++)
		is_none = !field_set_has(&sums->counted, i);
	/* Of a fleet only the exits that there were are known. */
	if (facts->source == SOURCE_PROMETHEUS)
		return;
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);
		bool is_chosen = is_none ? !query->filter : field_set_has(&sums->counted, i);

		if (field->use != USE_EXIT || field->is_abandoned || !is_chosen ||
		    !stats_time_ns(facts->stats, field->source) ||
		    rank_of(facts, field) < least_rank)
			continue;
		of->is_zero = true;
		of->has_zero_rate |= facts->stats->elapsed_ns[field->source] > 0;
	}
}

struct view_row *owners_add_row(struct view *view, struct owner *owner, const struct row_of *of)
{
	struct row_of this = *of;

	this.owner = owner;
	this.guest = guests_find(of->facts->guests, owner->key.guest);
	return fill_row(view, &this);
}

/*
 * What halts are shown as: sleep and polling, or, where it is not known what was polled, as a
 * whole. In a fleet it may be known of some hosts.
 */
static void drop_halts(struct view *view)
{
	int whole = view_column(view->type, COL_IN_HALT);
	int polled = view_column(view->type, COL_IN_POLL);
	size_t nr_whole = 0, nr_split = 0;

	if (!view_has(view, COL_IN_POLL))
		return;
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct cell *cells = view->rows[i].cells;

		nr_split += cells[polled].type == CELL_PERCENT;
		nr_whole += cells[whole].type == CELL_PERCENT && cells[polled].type == CELL_NONE;
	}
	if (!nr_whole) {
		view_drop(view, COL_IN_HALT);
	} else if (!nr_split) {
		view_drop(view, COL_IN_POLL);
		view_drop(view, COL_IN_SLEEP);
	}
}

void owners_finish(struct view *view, const struct query *query, const struct facts *facts)
{
	(void)query;
	(void)facts;
	drop_halts(view);
	if (view->nr_rows && view_has(view, COL_IN_GUEST) && !view_has(view, COL_IN_USER))
		view->note = "Exits to user space were not recorded: KVM's time includes user "
			     "space's.";
}
