// SPDX-License-Identifier: GPL-2.0-or-later
/* What a query needs counted, and the parts of building a view that all views share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "views/view.h"

static const struct view_type *const types[] = {
	&view_events,
	&view_guests,
	&view_vcpus,
	&view_exits,
	&view_hotspots,
};

const struct view_type *view_type_at(size_t i)
{
	return i < sizeof(types) / sizeof(types[0]) ? types[i] : NULL;
}

const struct view_type *view_type_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	}
	return NULL;
}

size_t view_columns(const struct view_type *type)
{
	size_t n = 0;

	while (type->columns[n].id)
		n++;
	return n;
}

int view_column_by_id(const struct view_type *type, const char *id)
{
	for (int i = 0; type->columns[i].id; i++) {
		if (strcmp(type->columns[i].id, id) == 0)
			return i;
	}
	return -ENOENT;
}

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

struct view_row *view_add(struct view *view)
{
	if (view->nr_rows == view->cap_rows) {
		size_t cap = view->cap_rows ? 2 * view->cap_rows : 128;
		struct view_row *rows = reallocarray(view->rows, cap, sizeof(*rows));

		if (!rows)
			return NULL;
		view->rows = rows;
		view->cap_rows = cap;
	}

	struct view_row *row = &view->rows[view->nr_rows++];

	*row = (struct view_row){ .field = FIELD_NONE, .vcpu = -1 };
	return row;
}

void *view_scratch(struct view *view, size_t size)
{
	size += !size; /* no rows to come is no lack of memory */
	if (view->scratch_size < size) {
		void *scratch = realloc(view->scratch, size);

		if (!scratch)
			return NULL;
		view->scratch = scratch;
		view->scratch_size = size;
	}
	memset(view->scratch, 0, size);
	return view->scratch;
}

struct cell cell_percent(uint64_t part, uint64_t whole)
{
	if (!whole)
		return cell_none();
	return (struct cell){ CELL_PERCENT, { .number = (double)part * 100 / (double)whole } };
}

struct cell cell_rate(const struct stat_sum *sum)
{
	if (!sum->has_rate)
		return cell_none();
	return (struct cell){ CELL_RATE, { .number = sum->rate_per_s } };
}

struct cell cell_spark(const struct stat_sum *sum)
{
	if (!sum->nr)
		return cell_none();
	return (struct cell){ CELL_SPARK, { .spark = sum->history } };
}

int cell_compare(const struct cell *a, const struct cell *b)
{
	int order;

	if (a->type == CELL_NONE || b->type == CELL_NONE)
		return (a->type != CELL_NONE) - (b->type != CELL_NONE);
	if (a->type != b->type) /* a word in the place of a number */
		return (a->type != CELL_TEXT) - (b->type != CELL_TEXT);
	switch (a->type) {
	case CELL_TEXT:
		order = strcmp(a->text, b->text);
		return (order > 0) - (order < 0);
	case CELL_COUNT:
		return (a->count > b->count) - (a->count < b->count);
	case CELL_PERCENT:
	case CELL_RATE:
		return (a->number > b->number) - (a->number < b->number);
	case CELL_NS:
		return (a->ns > b->ns) - (a->ns < b->ns);
	case CELL_NONE:
	case CELL_SPARK:
	case CELL_HIST:
	case CELL_SPLIT:
		break;
	}
	return 0;
}

/* What the comparisons need to know; the number of columns is counted once. */
struct order {
	const struct query *query;
	const struct column *columns;
	size_t nr_columns;
};

/*
 * Equal ones by the other counts and rates from the right (rate before total, as kvm_stat does),
 * then by what names them, so that rows at rest stay where they are. Shares have different wholes
 * and order nothing.
 */
static int compare_equals(const struct view_row *a, const struct view_row *b,
			  const struct order *order)
{
	int by;

	for (size_t i = order->nr_columns; i-- > 0;) {
		const struct column *column = &order->columns[i];

		if ((column->type != CELL_COUNT && column->type != CELL_RATE) ||
		    column->flags & COLUMN_KEY)
			continue;
		by = cell_compare(&b->cells[i], &a->cells[i]);
		if (by)
			return by;
	}
	by = cell_compare(&a->cells[0], &b->cells[0]);
	for (size_t i = 1; !by && i < order->nr_columns; i++) {
		if (order->columns[i].flags & COLUMN_KEY)
			by = cell_compare(&a->cells[i], &b->cells[i]);
	}
	return by;
}

/* Numbers sort from the largest, names from A. */
static int compare_siblings(const struct view_row *a, const struct view_row *b,
			    const struct order *order)
{
	const struct query *query = order->query;
	const struct column *column = &order->columns[query->sort];
	int by;

	if (a->is_rest != b->is_rest)
		return a->is_rest - b->is_rest;
	if (column->flags & COLUMN_COST && a->is_idle != b->is_idle)
		return a->is_idle - b->is_idle;
	by = cell_compare(&a->cells[query->sort], &b->cells[query->sort]);
	if (by)
		return (column->type == CELL_TEXT) == query->reverse ? -by : by;
	return compare_equals(a, b, order);
}

static int compare_flat(const void *a, const void *b, void *order)
{
	return compare_siblings(a, b, order);
}

/* A run of siblings, each with the rows below it. */
struct branch {
	struct view_row *rows;
	size_t nr_rows;
};

static int compare_branches(const void *a, const void *b, void *order)
{
	const struct branch *x = a, *y = b;

	return compare_siblings(x->rows, y->rows, order);
}

/* Sorts trees by their roots, and the leaves of each: two levels are all there are. */
static int view_sort_trees(struct view *view, struct order *order)
{
	struct branch *branches = calloc(view->nr_rows, sizeof(*branches));
	struct view_row *sorted = calloc(view->nr_rows, sizeof(*sorted));
	size_t nr = 0, out = 0;

	if (!branches || !sorted) {
		free(branches);
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (view->rows[i].depth == 0)
			branches[nr++].rows = &view->rows[i];
		branches[nr - 1].nr_rows++;
	}
	for (size_t i = 0; i < nr; i++) {
		struct view_row *leaves = branches[i].rows + 1;
		size_t nr_leaves = branches[i].nr_rows - 1;

		qsort_r(leaves, nr_leaves, sizeof(*leaves), compare_flat, order);
		if (nr_leaves)
			leaves[nr_leaves - 1].is_last = true;
	}
	qsort_r(branches, nr, sizeof(*branches), compare_branches, order);
	branches[nr - 1].rows->is_last = true;
	for (size_t i = 0; i < nr; i++) {
		memcpy(sorted + out, branches[i].rows, branches[i].nr_rows * sizeof(*sorted));
		out += branches[i].nr_rows;
	}
	memcpy(view->rows, sorted, out * sizeof(*sorted));
	free(branches);
	free(sorted);
	return 0;
}

/* Columns as bits: of one interval there is nothing to draw. */
static uint32_t pictures_of_history(const struct view_type *type)
{
	uint32_t columns = 0;

	for (size_t i = 0; type->columns[i].id; i++)
		columns |= (uint32_t)(type->columns[i].type == CELL_SPARK) << i;
	return columns;
}

int view_build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct order order = { query, query->type->columns, view_columns(query->type) };
	int err;

	view->type = query->type;
	view->nr_rows = 0;
	view->total = (struct view_row){ .field = FIELD_NONE, .vcpu = -1 };
	view->absent = query->is_whole ? pictures_of_history(view->type) : 0;
	view->rate_title = view->note = NULL;
	err = query->type->build(view, query, facts);
	if (!view->nr_rows)
		view->note = NULL;
	if (err || !view->nr_rows)
		return err;
	if (!query->flat && query->type->has_trees)
		return view_sort_trees(view, &order);
	qsort_r(view->rows, view->nr_rows, sizeof(*view->rows), compare_flat, &order);
	return 0;
}

void view_release(struct view *view)
{
	free(view->rows);
	free(view->scratch);
	*view = (struct view){ 0 };
}
