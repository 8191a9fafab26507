// SPDX-License-Identifier: GPL-2.0-or-later
/* What a query needs counted, and the parts of building a view that all views share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

static const struct view_type *const types[] = {
	&view_events,
	&view_guests,
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

static bool wants_plain(const struct query *query, const struct field *field)
{
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

int query_wants(const struct query *query, const struct fields *fields, struct field_set *ret_set)
{
	struct field_set plain = { 0 };
	int err = 0;

	field_set_clear(ret_set);
	/* A field has a greater number than its parent. */
	for (uint32_t i = 0; !err && i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);
		bool is_child = field->parent != FIELD_NONE;

		if (is_child ? !wants_child(query, fields, &plain, field) :
			       !wants_plain(query, field))
			continue;
		err = field_set_add(is_child ? ret_set : &plain, is_child ? field->parent : i);
		if (!err)
			err = field_set_add(ret_set, i);
	}
	field_set_release(&plain);
	return err;
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
		return (struct cell){ CELL_NONE, { 0 } };
	return (struct cell){ CELL_PERCENT, { .number = (double)part * 100 / (double)whole } };
}

struct cell cell_rate(const struct stat_sum *sum)
{
	if (!sum->has_rate)
		return (struct cell){ CELL_NONE, { 0 } };
	return (struct cell){ CELL_RATE, { .number = sum->rate_per_s } };
}

struct cell cell_spark(const struct stat_sum *sum)
{
	if (!sum->nr)
		return (struct cell){ CELL_NONE, { 0 } };
	return (struct cell){ CELL_SPARK, { .spark = sum->history } };
}

int cell_compare(const struct cell *a, const struct cell *b)
{
	int order;

	if (a->type == CELL_NONE || b->type == CELL_NONE)
		return (a->type != CELL_NONE) - (b->type != CELL_NONE);
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

/*
 * Numbers sort from the largest, names from A. Equal ones by the other counts and rates from the
 * right (rate before total, as kvm_stat does), then by name, so that rows at rest stay where they
 * are. Shares have different wholes and order nothing.
 */
static int compare_siblings(const struct view_row *a, const struct view_row *b,
			    const struct query *query)
{
	const struct column *columns = query->type->columns;
	bool by_text = columns[query->sort].type == CELL_TEXT;
	int order = cell_compare(&a->cells[query->sort], &b->cells[query->sort]);

	if (a->is_rest != b->is_rest)
		return a->is_rest - b->is_rest;
	if (order)
		return by_text == query->reverse ? -order : order;
	for (size_t i = view_columns(query->type); i-- > 0;) {
		if (columns[i].type == CELL_COUNT || columns[i].type == CELL_RATE)
			order = cell_compare(&b->cells[i], &a->cells[i]);
		if (order)
			return order;
	}
	return cell_compare(&a->cells[0], &b->cells[0]);
}

static int compare_flat(const void *a, const void *b, void *query)
{
	return compare_siblings(a, b, query);
}

/* A run of siblings, each with the rows below it. */
struct branch {
	struct view_row *rows;
	size_t nr_rows;
};

static int compare_branches(const void *a, const void *b, void *query)
{
	const struct branch *x = a, *y = b;

	return compare_siblings(x->rows, y->rows, query);
}

/* Sorts trees by their roots, and the leaves of each: two levels are all there are. */
static int view_sort_trees(struct view *view, const struct query *query)
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

		qsort_r(leaves, nr_leaves, sizeof(*leaves), compare_flat, (void *)(uintptr_t)query);
		if (nr_leaves)
			leaves[nr_leaves - 1].is_last = true;
	}
	qsort_r(branches, nr, sizeof(*branches), compare_branches, (void *)(uintptr_t)query);
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

int view_build(struct view *view, const struct query *query, const struct facts *facts)
{
	int err;

	view->type = query->type;
	view->nr_rows = 0;
	view->total = (struct view_row){ .field = FIELD_NONE };
	err = query->type->build(view, query, facts);
	if (err || !view->nr_rows)
		return err;
	if (!query->flat)
		return view_sort_trees(view, query);
	qsort_r(view->rows, view->nr_rows, sizeof(*view->rows), compare_flat,
		(void *)(uintptr_t)query);
	return 0;
}

void view_release(struct view *view)
{
	free(view->rows);
	free(view->scratch);
	*view = (struct view){ 0 };
}
