// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the fields and the keys of a query. */
#include <errno.h>
#include <string.h>

#include "views/query.h"

/* Where the match of the filter ends in the name or the alias, the later end; -1: no match. */
static long filter_reach(const struct query *query, const struct field *field)
{
	long reach = pattern_match(query->filter, field->name);

	if (field->alias) {
		long by_alias = pattern_match(query->filter, field->alias);

		reach = by_alias > reach ? by_alias : reach;
	}
	return reach;
}

bool query_names(const struct query *query, const struct field *field)
{
	return !query->filter || filter_reach(query, field) >= 0;
}

static bool is_needed(const struct query *query, const struct field *field)
{
	return query->type->needs && query->type->needs(field);
}

static bool needs_any(const struct query *query, const struct fields *fields)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		if (is_needed(query, fields_get(fields, i)))
			return true;
	}
	return false;
}

static bool wants_root(const struct query *query, const struct field *field, bool skips_events)
{
	if (skips_events && field->use == USE_EVENT)
		return false;
	return query->type->wants(query, field) && (query->filter || !field->is_extra) &&
	       query_names(query, field);
}

static bool wants_child(const struct query *query, const struct field *child,
			const struct field *parent, bool wants_parent)
{
	const struct view_type *type = query->type;
	long reach = query->filter ? filter_reach(query, child) : -1;
	bool is_matched = reach >= 0, is_named;

	/* Most names begin with the parent's: "kvm_exit(HLT)". */
	if (strcmp(child->label, child->name) == 0)
		is_named = is_matched && !wants_parent;
	else
		is_named = reach > (long)strlen(parent->name);
	if (!type->wants(query, parent))
		return false;
	if (is_named)
		return true;
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
int query_wants(const struct query *query, const struct fields *fields, struct field_set *ret_set)
{
	bool skips_events = !query->filter && needs_any(query, fields);
	struct field_set roots = { 0 }; /* by the second rule */
	int err = 0;

	field_set_clear(ret_set);
	/* A field has a greater number than its parent. */
	for (uint32_t i = 0; !err && i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);
		uint32_t parent = field->parent;

		if (is_needed(query, field)) {
			err = field_set_add(ret_set, i);
		} else if (parent == FIELD_NONE) {
			if (wants_root(query, field, skips_events))
				err = field_set_add(&roots, i) < 0 ? -ENOMEM :
								     field_set_add(ret_set, i);
		} else if (wants_child(query, field, fields_get(fields, parent),
				       field_set_has(&roots, parent))) {
			err = field_set_add(ret_set, parent) < 0 ? -ENOMEM :
								   field_set_add(ret_set, i);
		}
	}
	field_set_release(&roots);
	return err;
}

bool query_is_counted(const struct query *query, const struct facts *facts)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct key *key = &stats_at(facts->stats, i)->key;

		if (!field_set_has(facts->wanted, key->field))
			continue;
		if (query->guest != GUEST_ANY ? key->guest == query->guest :
						key->guest != GUEST_ANY || !query->type->by_guest)
			return true;
	}
	return false;
}

bool query_has_key(const struct query *query, const struct key *key)
{
	if (query->guest != GUEST_ANY && key->guest != query->guest)
		return false;
	if (query->has_vcpu && key->vcpu != query->vcpu)
		return false;
	for (size_t i = 0; i < query->nr_only; i++) {
		if (query->only[i].guest == key->guest && query->only[i].vcpu == key->vcpu)
			return true;
	}
	return !query->nr_only;
}

bool query_is_of_ended(const struct query *query, const struct facts *facts)
{
	return query->guest != GUEST_ANY && !guests_by_id(facts->guests, query->guest);
}

bool query_has_name(const struct query *query, const struct field *field)
{
	return query_names(query, field) || pattern_match(query->filter, field->label) >= 0;
}

void query_narrow(struct query *query, uint32_t guest)
{
	query->guest = guest;
	query->has_vcpu = query->has_reason = false;
}
