// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree of calls below each guest and vCPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/views/where.h"
#include "lib/xalloc.h"

/* Of one vCPU: the nodes that have time, and the calls of each, as lists. */
struct calls {
	uint32_t *first, *next; /* by node; 0: none */
	uint32_t *used, nr_used;
};

static void add_to(const struct where_building *building, struct where_sum *sum,
		   const struct stack_item *item)
{
	const struct stack_node *node = stacks_node_at(building->stacks, item->key.field);
	enum function_side side = stacks_function_at(building->stacks, node->function)->side;

	sum->ns += item->ns;
	sum->samples += item->count;
	sum->exits += item->exits;
	sum->kernel += side == FUNCTION_GUEST_KERNEL ? item->exits : 0;
	sum->user += side == FUNCTION_GUEST_USER ? item->exits : 0;
}

static void add_item(struct where_building *building, struct calls *calls,
		     const struct stack_item *item)
{
	uint32_t node = item->key.field;

	building->nodes[node].self_ns += item->ns;
	for (;; node = stacks_node_at(building->stacks, node)->parent) {
		uint32_t parent = stacks_node_at(building->stacks, node)->parent;
		struct where_sum *sum = &building->nodes[node];

		add_to(building, sum, item);
		if (node == STACK_ROOT)
			return;
		if (!sum->latest) { /* the first time */
			calls->used[calls->nr_used++] = node;
			calls->next[node] = calls->first[parent];
			calls->first[parent] = node;
		}
		sum->latest = 1;
	}
}

static void forget_calls(struct where_building *building, struct calls *calls)
{
	calls->used[calls->nr_used++] = STACK_ROOT;
	while (calls->nr_used) {
		uint32_t node = calls->used[--calls->nr_used];

		building->nodes[node] = (struct where_sum){ 0 };
		calls->first[node] = calls->next[node] = 0;
	}
}

/* This call, or the next one beside it, that has enough time for a row; 0: there is none. */
static uint32_t first_shown(const struct where_building *building, const struct calls *calls,
			    uint32_t node)
{
	while (node && building->nodes[node].ns < building->least_ns)
		node = calls->next[node];
	return node;
}

/* The rows of the calls below the root, each before its own calls. */
static void add_calls(const struct where_building *building, const struct calls *calls,
		      const struct key *key)
{
	uint32_t node = first_shown(building, calls, calls->first[STACK_ROOT]), below;
	unsigned int depth = 2;

	while (node) {
		struct view_row *row = where_add_function(building, &building->nodes[node],
					stacks_node_at(building->stacks, node)->function);

		row->guest = key->guest;
		row->vcpu = key->vcpu;
		row->number = node;
		row->depth = (uint8_t)depth;
		below = first_shown(building, calls, calls->first[node]);
		if (below) {
			node = below;
			depth++;
			continue;
		}
		while (node && !first_shown(building, calls, calls->next[node])) {
			node = stacks_node_at(building->stacks, node)->parent;
			depth--;
		}
		node = first_shown(building, calls, calls->next[node]); /* of the root: none */
	}
}

static void add_parent(struct where_building *building, const struct where_sum *sum,
		       const struct key *key, bool is_guest)
{
	const struct guest *guest = guests_find(building->facts->guests, key->guest);
	char *name = building->names[building->nr_names];
	struct view_row *row;

	if (!is_guest)
		snprintf(building->names[building->nr_names++], sizeof(building->names[0]),
			 "vCPU %d", (int)key->vcpu);
	row = where_add_row(building, sum, is_guest ? cell_guest(guest) : cell_text(name));
	row->guest = key->guest;
	row->vcpu = is_guest ? -1 : key->vcpu;
	row->depth = !is_guest;
	row->is_gone = !guest || guest->has_ended;
}

static int compare_keys(const void *a, const void *b)
{
	return key_compare(&((const struct stack_item *)a)->key,
			   &((const struct stack_item *)b)->key);
}

/* Items of one vCPU. */
static void add_vcpu(struct where_building *building, struct calls *calls,
		     const struct stack_item *items, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (items[i].ns || items[i].count || items[i].exits)
			add_item(building, calls, &items[i]);
	}
	add_parent(building, &building->nodes[STACK_ROOT], &items[0].key, false);
	add_calls(building, calls, &items[0].key);
	forget_calls(building, calls);
}

static void add_guest(struct where_building *building, const struct stack_item *items, size_t nr)
{
	struct where_sum sum = { 0 };

	for (size_t i = 0; i < nr; i++) {
		add_to(building, &sum, &items[i]);
	}
	add_parent(building, &sum, &items[0].key, true);
}

/* How many of the items have the same guest, and with by_vcpu the same vCPU, as the first. */
static size_t count_like_first(const struct stack_item *items, size_t nr, bool by_vcpu)
{
	size_t n = 1;

	while (n < nr && items[n].key.guest == items[0].key.guest &&
	       (!by_vcpu || items[n].key.vcpu == items[0].key.vcpu))
		n++;
	return n;
}

void where_build_tree(struct where_building *building, struct stack_item *items, size_t nr)
{
	uint32_t nr_nodes = stacks_count_nodes(building->stacks);
	struct calls calls = {
		.first = xcalloc(nr_nodes, sizeof(*calls.first)),
		.next = xcalloc(nr_nodes, sizeof(*calls.next)),
		.used = xcalloc(nr_nodes, sizeof(*calls.used)),
	};

	memset(building->nodes, 0, nr_nodes * sizeof(*building->nodes));
	qsort(items, nr, sizeof(*items), compare_keys);
	for (size_t i = 0, of_guest; i < nr; i += of_guest) {
		of_guest = count_like_first(items + i, nr - i, false);
		add_guest(building, items + i, of_guest);
		for (size_t at = i, n; at < i + of_guest; at += n) {
			n = count_like_first(items + at, i + of_guest - at, true);
			add_vcpu(building, &calls, items + at, n);
		}
	}
	free(calls.first);
	free(calls.next);
	free(calls.used);
}
