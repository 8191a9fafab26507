// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the fields and the keys of a query. */
#include <errno.h>
#include <string.h>

#include "core/findings/findings.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "lib/text.h"

/* ---- filters: what a filter selects, see query.h ---- */

/* What a match covers: REACH_SELF, if it ends after the part of the name that is the parent's. */
enum reach { REACH_NONE, REACH_PARENT, REACH_SELF };

static enum reach reach_in(const struct query *query, const char *name, const char *parent)
{
	long end = pattern_match(query->filter, name);

	if (end < 0)
		return REACH_NONE;
	return end > (parent ? (long)strlen(parent) : 0) ? REACH_SELF : REACH_PARENT;
}

/*
 * The furthest match in the names of a field, most of which begin with the parent's name. Without
 * the parent every match counts as one of the field itself.
 */
static enum reach filter_reach(const struct query *query, const struct field *field,
			       const struct field *parent)
{
	const char *begin = parent ? parent->listed : NULL;
	enum reach reach = reach_in(query, field->listed, begin), other;

	if (field->alias) {
		other = reach_in(query, field->alias, begin);
		reach = other > reach ? other : reach;
	}
	if (reach == REACH_NONE && strcmp(field->label, field->listed) != 0)
		reach = reach_in(query, field->label, NULL);
	if (reach == REACH_NONE && strcmp(field->name, field->listed) != 0)
		reach = reach_in(query, field->name, parent ? parent->name : NULL);
	return reach;
}

bool query_names(const struct query *query, const struct field *field)
{
	return !query->filter || filter_reach(query, field, NULL) != REACH_NONE;
}

bool query_selects(const struct query *query, const struct fields *fields,
		   const struct field *field)
{
	if (query_names(query, field) ||
	    (field->parent != FIELD_NONE && query_names(query, fields_get(fields, field->parent))))
		return true;
	return field->use == USE_ARGUMENT && field->reason != FIELD_NONE &&
	       query_selects(query, fields, fields_get(fields, field->reason));
}

bool query_selects_any(const struct query *query, const struct fields *fields)
{
	if (!query->type->wants)
		return true;
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i), *root = field;

		if (field->parent != FIELD_NONE)
			root = fields_get(fields, field->parent);
		if (query->type->wants(query, root) && query_selects(query, fields, field))
			return true;
	}
	return false;
}

struct exits query_exits(const struct query *query, const struct facts *facts, bool by_guest)
{
	struct exits exits = exits_choose(facts, by_guest, true), other = exits;
	bool has_other = false;

	for (uint32_t i = 0; query->filter && i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use != USE_EXIT || !query_selects(query, facts->fields, field))
			continue;
		if (field->exit_rank == exits.rank)
			return exits;
		other.rank = field->exit_rank;
		has_other = true;
	}
	return has_other && exits.rank ? other : exits;
}

/* ---- what must be counted ---- */

/* A screen with findings measures what had the CPU while one of these says that vCPUs wait. */
static bool is_spared(const struct query *query, const struct field *field)
{
	return field->use == USE_WAIT && query->type == &view_why && query->followed &&
	       !findings_has_waits(query->followed);
}

static bool is_needed(const struct query *query, const struct field *field)
{
	return query->type->needs && !field->is_abandoned && query->type->needs(field) &&
	       !is_spared(query, field);
}

/* Whether the view needs exits; fields of the scheduler do not count. */
static bool needs_exits(const struct query *query, const struct fields *fields)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_EXIT && is_needed(query, field))
			return true;
	}
	return false;
}

static bool wants_root(const struct query *query, const struct field *field, bool skips_events)
{
	if (!query->type->wants || (skips_events && field->use == USE_EVENT))
		return false;
	return query->type->wants(query, field) && (query->filter || !field->is_extra) &&
	       query_names(query, field);
}

/* Whether the filter names the child beyond its parent's name. */
static bool names_child(const struct query *query, const struct field *child,
			const struct field *parent, bool wants_parent)
{
	enum reach reach = filter_reach(query, child, parent);

	/* Most names begin with the parent's, as "kvm_exit(HLT)"; one that does not is its own. */
	if (strcmp(child->label, child->name) == 0)
		return reach != REACH_NONE && !wants_parent;
	return reach == REACH_SELF;
}

static bool wants_child(const struct query *query, const struct field *child,
			const struct field *parent, bool wants_parent)
{
	const struct view_type *type = query->type;
	bool is_matched = query->filter && query_names(query, child);

	if (!type->wants || !type->wants(query, parent))
		return false;
	if (is_matched && names_child(query, child, parent, wants_parent))
		return true;
	/* Else it is shown with its parent, if it is visible. */
	if (!wants_parent || (child->is_extra && !is_matched))
		return false;
	if (type->is_timed)
		return true;
	if (!type->has_trees)
		return false;
	return field_set_has(&query->open, child->parent) ||
	       (query->children && (!query->filter || is_matched));
}

/*
 * A field is counted if
 *
 * - the view needs it, whatever the filter says; or
 * - it has no parent, the view shows fields of its kind, and the filter names it. Without a filter
 *   it must not be an extra one; nor an event, in a view that needs other fields; or
 * - it is a child of a field that the view shows, and either the filter names the child itself,
 *   beyond its parent's name, or its parent is counted by the second rule and the child is
 *   visible: in a timed view always, in one with trees when its tree is open. Where all trees are
 *   open, the filter must match the child, too. A parent is counted with its child.
 */
void query_wants(const struct query *query, const struct fields *fields, struct field_set *ret_set)
{
	bool skips_events = !query->filter && needs_exits(query, fields);
	struct field_set roots = { 0 }; /* by the second rule */

	field_set_clear(ret_set);
	/* A field has a greater number than its parent. */
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);
		uint32_t parent = field->parent;

		if (is_needed(query, field)) {
			field_set_add(ret_set, i);
		} else if (parent == FIELD_NONE) {
			if (!wants_root(query, field, skips_events))
				continue;
			field_set_add(&roots, i);
			field_set_add(ret_set, i);
		} else if (wants_child(query, field, fields_get(fields, parent),
				       field_set_has(&roots, parent))) {
			field_set_add(ret_set, parent);
			field_set_add(ret_set, i);
		}
	}
	field_set_release(&roots);
}

/* Arguments are counted while they are asked for, whatever else the view needs. */
static bool has_arguments(const struct facts *facts)
{
	size_t i = 0;

	while (i < facts->stats->nr &&
	       fields_get(facts->fields, facts->stats->list[i].key.field)->use !=
		       USE_ARGUMENT)
		i++;
	return i < facts->stats->nr;
}

bool query_is_counted(const struct query *query, const struct facts *facts)
{
	if (query->type == &view_hotspots)
		return has_arguments(facts);
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct key *key = &facts->stats->list[i].key;

		if (!field_set_has(facts->wanted, key->field))
			continue;
		if (query->guest != GUEST_ALL || query->nr_only ?
			    query_has_guest(query, key->guest) :
			    key->guest != GUEST_NONE || !query->type->by_guest)
			return true;
	}
	return false;
}

bool query_wants_exits(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_EXIT;
}

bool query_needs_exits(const struct field *field)
{
	return field_is_of_exits(field) || field->use == USE_TIME;
}

/* The source of the view's exits; -1: it shows other counts. */
static int source_of_exits(const struct query *query, const struct facts *facts)
{
	const struct view_type *type = query->type;
	bool is_by_guest = type == &view_guests; /* may show any counter of exits */
	struct exits exits;

	if (type == &view_events || !(type->is_timed || type->has_events) ||
	    (is_by_guest && query->filter))
		return -1;
	exits = is_by_guest ? exits_choose(facts, true, false) : query_exits(query, facts, true);
	return exits.rank ? (int)exits.source : -1;
}

/* A view may need several sources: its rows are of the source of the fields that it wants. */
uint64_t query_elapsed_ns(const struct query *query, const struct facts *facts)
{
	const uint64_t *elapsed_ns = facts->stats->elapsed_ns;
	int source = source_of_exits(query, facts);
	uint64_t ns = source < 0 ? 0 : elapsed_ns[(uint32_t)source], other_ns = 0;

	for (uint32_t i = 0; !ns && i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (!field_set_has(facts->wanted, i))
			continue;
		if (query->type->wants && query->type->wants(query, field))
			ns = elapsed_ns[field->source];
		else if (!other_ns)
			other_ns = elapsed_ns[field->source];
	}
	ns = ns ? ns : other_ns;
	for (uint32_t i = 0; !ns && i < SAMPLE_SOURCES; i++) /* the query selects nothing */
		ns = elapsed_ns[i];
	return ns;
}

const char *query_lacks(const struct query *query, const struct facts *facts)
{
	return facts_lack(facts, query->type->source_need);
}

/* In a tree of calls a row is as large as all that it calls, not only as its own part. */
size_t query_default_sort(const struct query *query)
{
	const struct view_type *type = query->type;

	return query->children && type->has_calls ? (size_t)view_column(type, type->then) :
						    view_default_sort(type);
}

uint64_t query_wants_longer(const struct query *query)
{
	return query->type == &view_long_exits ? query->longer_ns : 0;
}

uint32_t query_wants_stacks(const struct query *query)
{
	return query->type == &view_where ? query->stack_hz : 0;
}

bool query_wants_guest_code(const struct query *query)
{
	return query_wants_stacks(query) && query->has_guest_code;
}

bool query_has_guest(const struct query *query, uint32_t guest)
{
	bool is_listed = !query->nr_only;

	for (size_t i = 0; !is_listed && i < query->nr_only; i++)
		is_listed = query->only[i].guest == guest;
	return is_listed && (query->guest == GUEST_ALL || query->guest == guest);
}

bool query_is_of_ended(const struct query *query, const struct facts *facts)
{
	return query->guest != GUEST_ALL && !guests_by_id(facts->guests, query->guest);
}

void query_narrow(struct query *query, uint32_t guest)
{
	query->guest = guest;
	query->has_vcpu = false;
	query_widen(query);
}

void query_widen(struct query *query)
{
	query->has_reason = query->has_cpu = query->has_argument = query->has_function = false;
}
