// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code in a history: each call of the tree is a field, and how long a vCPU was in it a counter. So
 * histories store it, add it up and play it as they do all else.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/facts/stats.h"
#include "lib/hash.h"

/* In the view Where a guest and a vCPU are above these, and the depth of a row is a byte. */
#define DEPTH_MAX (UINT8_MAX - 1)

/*
 * The field's name is of the whole stack, so that it is the same in each run that writes to a
 * history.
 */
static uint32_t add_field(const struct stacks *stacks, uint32_t node, uint32_t parent,
			  struct fields *fields, uint32_t source)
{
	const struct stack_node *of = stacks_node_at(stacks, node);
	const struct stack_function *function = stacks_function_at(stacks, of->function);
	bool is_exit = function->side == FUNCTION_EXIT;
	char name[32], side[2] = { (char)('0' + function->side) };
	uint64_t hash = hash_text(HASH_START, fields_get(fields, parent)->name);

	hash = hash_text(hash_text(hash, side), function->name);
	snprintf(name, sizeof(name), "code(%016" PRIx64 ")", hash);
	return fields_add(fields, &(struct field){
		.name = name,
		.label = *function->name ? function->name : "[unknown]",
		.parent = parent,
		.source = source,
		.use = USE_CODE,
		.part = function->side,
		.is_idle = of->is_idle,
		.reason = !is_exit ? FIELD_NONE :
			  of->argument != FIELD_NONE ? of->argument : of->reason,
	});
}

static uint32_t root_of(struct fields *fields, uint32_t source)
{
	return fields_add(fields, &(struct field){
		.name = "code", .parent = FIELD_NONE, .source = source, .use = USE_CODE,
		.part = FUNCTION_EXIT, .reason = FIELD_NONE,
	});
}

/* The field of a node, or, where there are too many, of the nearest caller that has one. */
static uint32_t field_of(struct stacks *stacks, uint32_t node, struct fields *fields,
			 uint32_t source, uint32_t *nr_fields)
{
	uint32_t field = *stacks_field(stacks, node), parent;

	if (field != FIELD_NONE)
		return field;
	if (node == STACK_ROOT) {
		field = root_of(fields, source);
	} else {
		parent = field_of(stacks, stacks_node_at(stacks, node)->parent, fields, source,
				  nr_fields);
		if (*nr_fields == STACKS_FIELDS)
			return parent;
		field = add_field(stacks, node, parent, fields, source);
		++*nr_fields;
	}
	*stacks_field(stacks, node) = field;
	return field;
}

static uint32_t count_fields(struct stacks *stacks)
{
	uint32_t nr = 0;

	for (uint32_t i = 1; i < stacks_count_nodes(stacks); i++)
		nr += *stacks_field(stacks, i) != FIELD_NONE;
	return nr;
}

static bool has_ended(const struct stats *stats, const struct key *key)
{
	return stats->guests && !guests_by_id(stats->guests, key->guest);
}

static void add_owed(struct stack_sums *rows, const struct stats *stats, struct stack_sums *owed)
{
	for (size_t i = 0; i < owed->nr; i++) {
		if (!has_ended(stats, &owed->list[i].key))
			stack_sums_add(rows, &owed->list[i]);
	}
	stack_sums_reset(owed);
}

/* A counter that is not in a sample begins at 0 when it comes back, see struct stats. */
void stacks_keep(struct stacks *stacks, const struct stats *stats, struct fields *fields,
		 uint32_t source, struct stack_sums *owed, struct sample *sample)
{
	uint32_t nr_fields = count_fields(stacks);
	struct stack_sums rows = { 0 };

	for (size_t i = 0; i < sample->stacks.nr; i++) {
		struct stack_item item = sample->stacks.list[i];

		item.key.field = field_of(stacks, item.key.field, fields, source, &nr_fields);
		stack_sums_add(&rows, &item);
	}
	add_owed(&rows, stats, owed);
	for (size_t i = 0; i < rows.nr; i++) {
		const struct stack_item *row = &rows.list[i];
		const struct stats_item *stat = stats_find(stats, &row->key);

		if (row->ns < 0)
			stack_sums_add(owed, row);
		else if (!row->ns)
			continue;
		else if (i < STACKS_ROWS)
			sample_add(sample, row->key, (stat ? stat->raw : 0) + (uint64_t)row->ns,
				   ROW_NEW);
		else
			sample->stacks.lost_ns += (uint64_t)row->ns;
	}
	stack_sums_release(&rows);
}

/* ---- playing */

static uint32_t call_of(struct stacks *stacks, uint32_t node, const struct field *field)
{
	enum function_side side = (enum function_side)field->part;

	if (side != FUNCTION_EXIT)
		return stacks_call(stacks, node, stacks_function(stacks, field->label, side));
	if (node != STACK_ROOT)
		return stacks_argument(stacks, node, field->label, field->reason);
	return stacks_exit(stacks, field->label, field->reason, field->is_idle);
}

/* A file's fields may be anything, but a parent has a lower number. */
static uint32_t node_of(struct stacks *stacks, const struct fields *fields, uint32_t id)
{
	const struct field *path[DEPTH_MAX];
	uint32_t node = STACK_ROOT;
	size_t nr = 0;

	for (; nr < DEPTH_MAX; id = path[nr - 1]->parent) {
		path[nr] = fields_get(fields, id);
		if (path[nr]->use != USE_CODE || path[nr]->parent == FIELD_NONE)
			break;
		nr++;
	}
	while (nr)
		node = call_of(stacks, node, path[--nr]);
	return node;
}

void stacks_play(struct stacks *stacks, const struct stats *stats, const struct fields *fields,
		 struct stack_sums *ret_sums)
{
	if (fields_find(fields, "code") == FIELD_NONE)
		return;
	stack_sums_reset(ret_sums);
	for (size_t i = 0; i < stats->nr; i++) {
		const struct stats_item *stat = &stats->list[i];
		struct stack_item item = {
			.key = stat->key,
			.ns = stat->delta < INT64_MAX ? (int64_t)stat->delta : INT64_MAX,
		};

		if (fields_get(fields, stat->key.field)->use != USE_CODE || item.ns <= 0)
			continue;
		item.key.field = node_of(stacks, fields, stat->key.field);
		if (item.key.field == STACK_ROOT)
			ret_sums->lost_ns += stat->delta;
		else
			stack_sums_add(ret_sums, &item);
	}
}
