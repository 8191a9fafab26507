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

/* What is free when a process, or a guest, begins has so many parts, of which it may take one. */
#define SHARE 8
#define SHARE_SUMS 2

enum kind { FUNCTIONS, NODES, KINDS };

/* What a process may add. */
struct share {
	UT_hash_handle hh;
	uint32_t process;
	size_t left[KINDS];
};

struct stacks {
	struct share *shares, *payer; /* NULL: there is none */
	bool is_full;
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
	hash_free(stacks->shares, free);
	key_index_release(&stacks->index);
	free(stacks->functions);
	free(stacks->nodes);
	free(stacks);
}

/* ---- room */

void stacks_charge(struct stacks *stacks, uint32_t process)
{
	struct share *share = NULL;

	if (process)
		HASH_FIND(hh, stacks->shares, &process, sizeof(process), share);
	if (process && !share) {
		share = xcalloc(1, sizeof(*share));
		share->process = process;
		share->left[FUNCTIONS] = (STACKS_FUNCTIONS - stacks->nr_functions) / SHARE;
		share->left[NODES] = (STACKS_NODES - stacks->nr_nodes) / SHARE;
		hash_add(stacks->shares, process, share);
	}
	stacks->payer = share;
}

bool stacks_is_full(const struct stacks *stacks)
{
	return stacks->is_full;
}

/* Whether there is room for one more of code, beside what is left for exits; it is paid for. */
static bool take_room(struct stacks *stacks, enum kind kind)
{
	size_t nr = kind == NODES ? stacks->nr_nodes : stacks->nr_functions;
	size_t max = (kind == NODES ? STACKS_NODES : STACKS_FUNCTIONS) - STACKS_EXITS;
	size_t *left = stacks->payer ? &stacks->payer->left[kind] : NULL;
	bool has = nr < max && (!left || *left);

	if (has && left)
		--*left;
	stacks->is_full |= !has;
	return has;
}

#define UNKNOWN "[unknown]" /* of each side there is room for one */

static bool has_function_room(struct stacks *stacks, const char *name, bool is_exit)
{
	if (strcmp(name, UNKNOWN) == 0)
		return true;
	if (is_exit)
		return stacks->nr_functions + FUNCTION_SIDES < STACKS_FUNCTIONS;
	return take_room(stacks, FUNCTIONS);
}

static uint32_t add_function(struct stacks *stacks, const char *name, enum function_side side,
			     bool is_exit)
{
	size_t size = strlen(name) + 2;
	struct known_function *known, *made;

	made = xcalloc(1, sizeof(*made) + size);
	made->name[0] = (char)side;
	memcpy(made->name + 1, name, size - 1);
	HASH_FIND(hh, stacks->by_name, made->name, size, known);
	if (known || !has_function_room(stacks, name, is_exit)) {
		free(made);
		return known ? known->number : add_function(stacks, UNKNOWN, side, is_exit);
	}
	made->number = (uint32_t)stacks->nr_functions;
	HASH_ADD_KEYPTR(hh, stacks->by_name, made->name, size, made);
	*array_add(stacks->functions, stacks->nr_functions, stacks->room_functions) =
		(struct stack_function){ .name = made->name + 1, .side = side };
	return made->number;
}

uint32_t stacks_function(struct stacks *stacks, const char *name, enum function_side side)
{
	return add_function(stacks, name, side, false);
}

static bool has_name(const struct stacks *stacks, uint32_t function, const char *name)
{
	return strcmp(stacks->functions[function].name, name) == 0;
}

static bool has_node_room(struct stacks *stacks, const struct stack_node *node)
{
	size_t last = !has_name(stacks, node->function, UNKNOWN); /* is for the unknown exit */

	if (node->parent == STACK_ROOT)
		return stacks->nr_nodes + last < STACKS_NODES;
	return take_room(stacks, NODES);
}

/* The node's parent: there is no room. */
static uint32_t add_node(struct stacks *stacks, const struct stack_node *node)
{
	const struct key key = { node->parent, 0, node->function };
	uint32_t slot = stacks->index.nr_slots ?
				*key_index_slot(&stacks->index, stacks->nodes, &key) : 0;
	size_t at;

	if (slot)
		return slot - 1;
	if (!has_node_room(stacks, node))
		return node->parent;
	at = key_index_add(&stacks->index, stacks->nodes, sizeof(*stacks->nodes), stacks->nr_nodes,
			   &key);
	*array_add(stacks->nodes, stacks->nr_nodes, stacks->room_nodes) =
		(struct known_node){ .key = key, .node = *node, .field = FIELD_NONE };
	return (uint32_t)at;
}

/* Exits for which there is no room are one of no reason: never another exit. */
static uint32_t unknown_exit(struct stacks *stacks)
{
	const struct stack_node node = {
		.parent = STACK_ROOT,
		.function = add_function(stacks, UNKNOWN, FUNCTION_EXIT, true),
		.reason = FIELD_NONE,
		.argument = FIELD_NONE,
	};

	return add_node(stacks, &node);
}

uint32_t stacks_exit(struct stacks *stacks, const char *label, uint32_t reason, bool is_idle)
{
	const struct stack_node node = {
		.parent = STACK_ROOT,
		.function = add_function(stacks, label, FUNCTION_EXIT, true),
		.reason = reason,
		.argument = FIELD_NONE,
		.is_idle = is_idle,
	};
	uint32_t at = STACK_ROOT;

	if (has_name(stacks, node.function, label))
		at = add_node(stacks, &node);
	return at == STACK_ROOT ? unknown_exit(stacks) : at;
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
	return has_name(stacks, below.function, label) ? add_node(stacks, &below) : node;
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

/* The guest's room; the latest is asked for most. */
static struct stack_share *share_of(struct stack_sums *sums, uint32_t guest)
{
	struct stack_share *share;

	for (size_t i = sums->nr_shares; i-- > 0;) {
		if (sums->shares[i].guest == guest)
			return &sums->shares[i];
	}
	share = array_add(sums->shares, sums->nr_shares, sums->room_shares);
	*share = (struct stack_share){ guest, (uint32_t)((STACKS_SUMS - sums->nr) / SHARE_SUMS) };
	return share;
}

void stack_sums_add(struct stack_sums *sums, const struct stack_item *item)
{
	uint32_t slot = sums->index.nr_slots ?
				*key_index_slot(&sums->index, sums->list, &item->key) : 0;
	struct stack_share *share = slot ? NULL : share_of(sums, item->key.guest);

	if (slot) {
		stack_ns_add(&sums->list[slot - 1].ns, item->ns);
		sums->list[slot - 1].count += item->count;
		sums->list[slot - 1].exits += item->exits;
		return;
	}
	if (sums->nr == STACKS_SUMS || !share->left) {
		sums->lost_ns += item->ns > 0 ? (uint64_t)item->ns : 0;
		sums->lost_exits += item->exits;
		return;
	}
	share->left--;
	key_index_add(&sums->index, sums->list, sizeof(*sums->list), sums->nr, &item->key);
	*array_add(sums->list, sums->nr, sums->room) = *item;
}

void stack_sums_take(struct stack_sums *sums, const struct stack_sums *sample)
{
	for (size_t i = 0; i < sample->nr; i++)
		stack_sums_add(sums, &sample->list[i]);
	sums->lost_ns += sample->lost_ns;
	sums->lost += sample->lost;
	sums->lost_exits += sample->lost_exits;
	sums->clock = sample->clock;
	memcpy(sums->none, sample->none, sizeof(sums->none));
}

void stack_sums_reset(struct stack_sums *sums)
{
	key_index_clear(&sums->index);
	sums->nr = sums->nr_shares = 0;
	sums->lost_ns = sums->lost = sums->lost_exits = 0;
	sums->clock = NULL;
	sums->none[0] = '\0';
	sums->has_off = false;
}

void stack_sums_release(struct stack_sums *sums)
{
	key_index_release(&sums->index);
	free(sums->list);
	free(sums->shares);
	*sums = (struct stack_sums){ 0 };
}
