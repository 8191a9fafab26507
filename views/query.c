// SPDX-License-Identifier: GPL-2.0-or-later
/* Which fields a query needs, and which keys it is about. */
#include <errno.h>
#include <string.h>

#include "views/query.h"

/* How far a match of the filter reaches into the field's name or alias; -1: no match. */
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

static bool needs(const struct query *query, const struct field *field)
{
	return query->type->needs && query->type->needs(field);
}

/* skips_events: the provider "exits" says it better, unless a filter asks for them. */
static bool wants_plain(const struct query *query, const struct field *field, bool skips_events)
{
	if (skips_events && field->use == USE_EVENT && !query->filter)
		return false;
	return query->type->wants(query, field) && (query->filter || !field->is_extra) &&
	       query_names(query, field);
}

/* The filter names this child itself, not just its parent. */
static bool is_named_itself(const struct field *parent, bool has_parent, const struct field *child,
			    long reach)
{
	/* "kvm_exit(HLT)": a match that ends behind "kvm_exit" saw more than the parent's name. */
	if (strcmp(child->label, child->name) == 0)
		return reach >= 0 && !has_parent;
	return reach > (long)strlen(parent->name);
}

/* plain: the fields without a parent that are wanted for themselves. */
static bool wants_child(const struct query *query, const struct fields *fields,
			const struct field_set *plain, const struct field *child)
{
	const struct field *parent = fields_get(fields, child->parent);
	bool has_parent = field_set_has(plain, child->parent);
	long reach = query->filter ? filter_reach(query, child) : -1;

	if (!query->type->wants(query, parent))
		return false;
	if (is_named_itself(parent, has_parent, child, reach))
		return true;
	if (!has_parent || (child->is_extra && reach < 0))
		return false;
	if (query->type->is_timed)
		return true;
	if (!query->type->has_trees)
		return false;
	if (field_set_has(&query->open, child->parent))
		return true;
	return query->children && (!query->filter || reach >= 0);
}

/* Adds the field if it is wanted for itself, or for one that has it as its parent. */
static int want_field(const struct query *query, const struct fields *fields, uint32_t id,
		      struct field_set *plain, struct field_set *ret_set)
{
	const struct field *field = fields_get(fields, id);
	int err;

	if (field->parent == FIELD_NONE) {
		err = field_set_add(plain, id);
		return err ? err : field_set_add(ret_set, id);
	}
	if (!wants_child(query, fields, plain, field))
		return 0;
	err = field_set_add(ret_set, field->parent);
	return err ? err : field_set_add(ret_set, id);
}

static bool needs_any(const struct query *query, const struct fields *fields)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		if (needs(query, fields_get(fields, i)))
			return true;
	}
	return false;
}

int query_wants(const struct query *query, const struct fields *fields, struct field_set *ret_set)
{
	bool skips_events = needs_any(query, fields);
	struct field_set plain = { 0 };
	int err = 0;

	field_set_clear(ret_set);
	/* A field has a greater number than its parent. */
	for (uint32_t i = 0; !err && i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (needs(query, field))
			err = field_set_add(ret_set, i);
		else if (field->parent != FIELD_NONE || wants_plain(query, field, skips_events))
			err = want_field(query, fields, i, &plain, ret_set);
	}
	field_set_release(&plain);
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
	return !query->has_vcpu || key->vcpu == query->vcpu;
}

bool query_is_of_ended(const struct query *query, const struct facts *facts)
{
	return query->guest != GUEST_ANY && !guests_by_id(facts->guests, query->guest);
}

bool query_has_name(const struct query *query, const struct field *field)
{
	return query_names(query, field) || pattern_match(query->filter, field->label) >= 0;
}
