// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers functions and calls, and adds up the time in each stack. */
#include <stdlib.h>
#include <string.h>

#include "core/facts/field.h"
#include "core/facts/stacks.h"
#include "lib/array.h"
#include "lib/hash.h"

/* A function by its name and side; and a call by its parent and function. */
struct known_function {
	UT_hash_handle hh;
	uint32_t number;
	char name[]; /* the side, then the name */
};

struct known_node {
	struct key key; /* the parent as guest, the function as field */
	struct stack_node node;
	uint32_t field;
};

struct stacks {
	struct known_function *by_name;
	struct stack_function *functions;
	size_t nr_functions, room_functions;
	struct known_node *nodes;
	size_t nr_nodes, room_nodes;
	struct key_index index;
};

struct stacks *stacks_new(void)
{
	struct stacks *stacks = xcalloc(1, sizeof(*stacks));

	array_grow(&stacks->nodes, &stacks->room_nodes, 1);
	stacks->nodes[stacks->nr_nodes++].node = (struct stack_node){
		.function = stacks_function(stacks, "", FUNCTION_EXIT), .reason = FIELD_NONE,
		.argument = FIELD_NONE,
	};
	/* Differs from the key of each call: the root has no parent. */
	stacks->nodes[STACK_ROOT].key = (struct key){ UINT32_MAX, 0, UINT32_MAX };
	stacks->nodes[STACK_ROOT].field = FIELD_NONE;
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	hash_free(stacks->by_name, free);
	key_index_release(&stacks->index);
	free(stacks->functions);
	free(stacks->nodes);
	free(stacks);
}

uint32_t stacks_function(struct stacks *stacks, const char *name, enum function_side side)
{
	size_t size = strlen(name) + 2;
	struct known_function *known, *made;

	made = xcalloc(1, sizeof(*made) + size);
	made->name[0] = (char)side;
	memcpy(made->name + 1, name, size - 1);
	HASH_FIND(hh, stacks->by_name, made->name, size, known);
	if (known || stacks->nr_functions == STACKS_FUNCTIONS) {
		free(made);
		return known ? known->number : 0;
	}
	made->number = (uint32_t)stacks->nr_functions;
	HASH_ADD_KEYPTR(hh, stacks->by_name, made->name, size, made);
	array_grow_unset(&stacks->functions, &stacks->room_functions, stacks->nr_functions + 1);
	stacks->functions[stacks->nr_functions++] =
		(struct stack_function){ .name = made->name + 1, .side = side };
	return made->number;
}

static uint32_t add_node(struct stacks *stacks, const struct stack_node *node)
{
	const struct key key = { node->parent, 0, node->function };
	size_t at;

	if (stacks->nr_nodes == STACKS_NODES) {
		uint32_t slot = *key_index_slot(&stacks->index, stacks->nodes, &key);

		return slot ? slot - 1 : node->parent;
	}
	at = key_index_add(&stacks->index, stacks->nodes, sizeof(*stacks->nodes), stacks->nr_nodes,
			   &key);
	if (at < stacks->nr_nodes)
		return (uint32_t)at;
	array_grow_unset(&stacks->nodes, &stacks->room_nodes, at + 1);
	stacks->nodes[stacks->nr_nodes++] =
		(struct known_node){ .key = key, .node = *node, .field = FIELD_NONE };
	return (uint32_t)at;
}

uint32_t stacks_exit(struct stacks *stacks, const char *label, uint32_t reason, bool is_idle)
{
	const struct stack_node node = {
		.parent = STACK_ROOT,
		.function = stacks_function(stacks, label, FUNCTION_EXIT),
		.reason = reason,
		.argument = FIELD_NONE,
		.is_idle = is_idle,
	};

	return add_node(stacks, &node);
}

uint32_t stacks_no_exit(struct stacks *stacks)
{
	return stacks_exit(stacks, "[no exit]", FIELD_NONE, false);
}

uint32_t stacks_argument(struct stacks *stacks, uint32_t node, const char *label, uint32_t argument)
{
	struct stack_node below = stacks->nodes[node].node;

	below.parent = node;
	below.function = stacks_function(stacks, label, FUNCTION_EXIT);
	below.argument = argument;
	return add_node(stacks, &below);
}

uint32_t stacks_call(struct stacks *stacks, uint32_t node, uint32_t function)
{
	struct stack_node call = stacks->nodes[node].node;

	call.parent = node;
	call.function = function;
	return add_node(stacks, &call);
}

uint32_t *stacks_field(struct stacks *stacks, uint32_t node)
{
	return &stacks->nodes[node].field;
}

const struct stack_function *stacks_function_at(const struct stacks *stacks, uint32_t function)
{
	return &stacks->functions[function];
}

const struct stack_node *stacks_node_at(const struct stacks *stacks, uint32_t node)
{
	return &stacks->nodes[node].node;
}

uint32_t stacks_count_nodes(const struct stacks *stacks)
{
	return (uint32_t)stacks->nr_nodes;
}

uint32_t stacks_count_functions(const struct stacks *stacks)
{
	return (uint32_t)stacks->nr_functions;
}

/* ---- sums */

void stack_sums_add(struct stack_sums *sums, const struct stack_item *item)
{
	size_t at;

	if (sums->nr == STACKS_SUMS && !*key_index_slot(&sums->index, sums->list, &item->key)) {
		sums->lost_ns += item->ns > 0 ? (uint64_t)item->ns : 0;
		sums->lost_exits += item->exits;
		return;
	}
	at = key_index_add(&sums->index, sums->list, sizeof(*sums->list), sums->nr, &item->key);
	if (at < sums->nr) {
		stack_ns_add(&sums->list[at].ns, item->ns);
		sums->list[at].count += item->count;
		sums->list[at].exits += item->exits;
		return;
	}
	array_grow_unset(&sums->list, &sums->room, at + 1);
	sums->list[sums->nr++] = *item;
}

void stack_sums_take(struct stack_sums *sums, const struct stack_sums *sample)
{
	for (size_t i = 0; i < sample->nr; i++)
		stack_sums_add(sums, &sample->list[i]);
	sums->lost_ns += sample->lost_ns;
	sums->lost += sample->lost;
	sums->lost_exits += sample->lost_exits;
	sums->clock = sample->clock;
	sums->none = sample->none;
}

void stack_sums_reset(struct stack_sums *sums)
{
	key_index_clear(&sums->index);
	sums->nr = 0;
	sums->lost_ns = sums->lost = sums->lost_exits = 0;
	sums->clock = sums->none = NULL;
	sums->has_off = false;
}

void stack_sums_release(struct stack_sums *sums)
{
	key_index_release(&sums->index);
	free(sums->list);
	*sums = (struct stack_sums){ 0 };
}
