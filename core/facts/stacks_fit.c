// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long exits took is measured, and which code they were in is sampled: a sample stands for the
 * time of its vCPU's exits of that reason since the sample before it.
 */
#include <stdlib.h>

#include "arch/argument.h"
#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/facts/stats.h"
#include "lib/array.h"
#include "lib/xalloc.h"

#define TIME_OFF UINT32_MAX /* in place of a position */

/* The time of a vCPU's exits of a reason, which is the field of the key; FIELD_NONE: of no exit. */
struct spent {
	struct key key;
	bool is_measured;
	int64_t left_ns; /* without a sample, up to the sample before this one */
	int64_t on_ns;	 /* the sum of what samples stand for by their clock */
	int64_t ns;	 /* what they stand for */
};

struct fit {
	struct stacks *stacks;
	const struct stats *stats;
	const struct fields *fields;
	struct sample *sample;
	struct spent *list;
	size_t nr, room;
	struct key_index index;
	uint32_t *spent_of; /* by the sample's item: its position; TIME_OFF: not sampled */
};

static struct spent *get(struct fit *fit, const struct key *key)
{
	size_t at;

	array_grow_unset(&fit->list, &fit->room, fit->nr + 1);
	at = key_index_add(&fit->index, fit->list, sizeof(*fit->list), fit->nr, key);
	if (at == fit->nr)
		fit->list[fit->nr++] = (struct spent){ .key = *key };
	return &fit->list[at];
}

static bool is_off(const struct fit *fit, const struct stack_item *item)
{
	uint32_t function = stacks_node_at(fit->stacks, item->key.field)->function;

	return stacks_function_at(fit->stacks, function)->side == FUNCTION_OFF;
}

/* Time off the CPU is measured, too. Before a thread's first exit it is in no time of exits. */
static void add_items(struct fit *fit)
{
	for (size_t i = 0; i < fit->sample->stacks.nr; i++) {
		const struct stack_item *item = &fit->sample->stacks.list[i];
		struct key key = item->key;
		struct spent *spent;

		key.field = stacks_node_at(fit->stacks, item->key.field)->reason;
		spent = get(fit, &key);
		fit->spent_of[i] = is_off(fit, item) ? TIME_OFF : (uint32_t)(spent - fit->list);
		if (fit->spent_of[i] != TIME_OFF)
			stack_ns_add(&spent->on_ns, item->ns);
		else if (key.field != FIELD_NONE)
			stack_ns_add(&spent->ns, -item->ns);
	}
}

static int64_t growth_of(const struct fit *fit, const struct row *row)
{
	const struct stats_item *stat = stats_find(fit->stats, &row->key);
	uint64_t now = row->timing ? fit->sample->timings[row->timing - 1].time_ns : row->count;
	uint64_t before = row->flags & ROW_FROM_ZERO ? 0 : now;

	if (stat)
		before = row->timing && stat->timing ? stat->timing->raw.time_ns : stat->raw;
	return now > before && now - before < INT64_MAX ? (int64_t)(now - before) : 0;
}

/*
 * Whether the row has the time of a reason, or of no exit. User space's part of exits is in their
 * time, except where KVM traces no exits: then samples have its reasons. What exits waited for a
 * CPU is beside their time: threads are off the CPU in both.
 */
static bool has_time(struct fit *fit, const struct row *row, uint32_t vmexit, struct key *ret_key)
{
	const struct field *field = fields_get(fit->fields, row->key.field);

	*ret_key = row->key;
	if (field->use == USE_EXIT_PART && field->part == EXIT_WAITED) {
		ret_key->field = field->reason;
		return fields_get(fit->fields, field->reason)->parent == vmexit;
	}
	if (field->use == USE_TIME && field->part == TIME_GUEST) {
		ret_key->field = FIELD_NONE;
		return true;
	}
	if (field->use != USE_EXIT || !row->timing || field->parent == FIELD_NONE)
		return false;
	return field->parent == vmexit ||
	       (fit->nr && *key_index_slot(&fit->index, fit->list, ret_key));
}

static void add_times(struct fit *fit)
{
	uint32_t vmexit = fields_find(fit->fields, exit_kind_name(EXITS_VMEXIT));
	struct key key;

	for (size_t i = 0; i < fit->sample->nr_rows; i++) {
		struct spent *spent;

		if (!has_time(fit, &fit->sample->rows[i], vmexit, &key))
			continue;
		spent = get(fit, &key);
		spent->is_measured |= key.field == fit->sample->rows[i].key.field ||
				      key.field == FIELD_NONE;
		stack_ns_add(&spent->ns, growth_of(fit, &fit->sample->rows[i]));
	}
}

static uint32_t node_of(const struct fit *fit, uint32_t reason)
{
	const struct field *field;

	if (reason == FIELD_NONE)
		return stacks_no_exit(fit->stacks);
	field = fields_get(fit->fields, reason);
	return stacks_exit(fit->stacks, field->label, reason, field->is_idle);
}

/* What has no sample is the exit's own time, until a sample comes. */
static void add_left(struct fit *fit, struct stack_sums *left)
{
	stack_sums_reset(left);
	for (size_t i = 0; i < fit->nr; i++) {
		const struct spent *spent = &fit->list[i];
		struct stack_item item = { .key = spent->key, .ns = -spent->left_ns };

		if (!spent->is_measured)
			continue;
		if (!spent->on_ns || spent->ns <= 0) {
			stack_sums_add(left,
				       &(struct stack_item){ .key = spent->key, .ns = spent->ns });
			stack_ns_add(&item.ns, spent->ns);
		}
		if (!item.ns)
			continue;
		item.key.field = node_of(fit, item.key.field);
		stack_sums_add(&fit->sample->stacks, &item);
	}
}

static void fit_items(struct fit *fit)
{
	for (size_t i = 0; i < fit->sample->stacks.nr; i++) {
		struct stack_item *item = &fit->sample->stacks.list[i];
		const struct spent *spent;

		if (fit->spent_of[i] == TIME_OFF || !item->ns)
			continue;
		spent = &fit->list[fit->spent_of[i]];
		if (spent->is_measured)
			item->ns = spent->ns <= 0 ? 0 :
						    (int64_t)((double)spent->ns * (double)item->ns /
							      (double)spent->on_ns);
	}
}

void stacks_fit(struct stacks *stacks, const struct stats *stats, const struct fields *fields,
		struct stack_sums *left, struct sample *sample)
{
	struct fit fit = {
		.stacks = stacks,
		.stats = stats,
		.fields = fields,
		.sample = sample,
	};

	if (!sample->stacks.has_off)
		return;
	fit.spent_of = xcalloc(sample->stacks.nr + 1, sizeof(*fit.spent_of));
	for (size_t i = 0; i < left->nr; i++) {
		const struct stack_item *item = &left->list[i];
		struct spent *spent;

		if (stats->guests && !guests_by_id(stats->guests, item->key.guest))
			continue;
		spent = get(&fit, &item->key);
		spent->ns = spent->left_ns = item->ns;
	}
	add_items(&fit);
	add_times(&fit);
	fit_items(&fit);
	add_left(&fit, left);
	key_index_release(&fit.index);
	free(fit.list);
	free(fit.spent_of);
}
