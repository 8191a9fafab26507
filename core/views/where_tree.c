// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree of calls below each guest and vCPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/views/where.h"
#include "lib/array.h"
#include "lib/xalloc.h"

/* The stacks of one exit of a vCPU. */
struct exit {
	struct key key; /* the exit's node as the field */
	struct where_sum sum;
	uint32_t first; /* of its items: the position, plus 1 */
};

struct tree {
	struct where_building *building;
	const struct stack_item *items;
	uint32_t *next_item; /* of the same exit: the position, plus 1 */
	struct exit *exits;
	size_t nr_exits, room_exits;
	/* The nodes of one exit that have time, each before its calls; and the calls, as lists. */
	uint32_t *used, nr_used;
	uint32_t *first, *next; /* by node; 0: none */
};

/* ---- the stacks by their exits */

static struct where_sum sum_of(const struct where_building *building,
			       const struct stack_item *item)
{
	const struct stack_node *node = stacks_node_at(building->stacks, item->key.field);
	enum function_side side = stacks_function_at(building->stacks, node->function)->side;

	return (struct where_sum){
		.ns = item->ns,
		.samples = item->count,
		.exits = item->exits,
		.kernel = side == FUNCTION_GUEST_KERNEL ? item->exits : 0,
		.user = side == FUNCTION_GUEST_USER ? item->exits : 0,
	};
}

/* By node: the exit that it is below. A node has a greater number than its parent. */
static uint32_t *find_exits(const struct stacks *stacks)
{
	uint32_t nr = stacks_count_nodes(stacks), *exit_of = xcalloc(nr, sizeof(*exit_of));

	for (uint32_t i = 1; i < nr; i++) {
		uint32_t parent = stacks_node_at(stacks, i)->parent;

		exit_of[i] = parent == STACK_ROOT ? i : exit_of[parent];
	}
	return exit_of;
}

static int compare_exits(const void *a, const void *b)
{
	return key_compare(&((const struct exit *)a)->key, &((const struct exit *)b)->key);
}

/* Makes the list of exits, each with its stacks. */
static void group_items(struct tree *tree, const uint32_t *selected, size_t nr)
{
	uint32_t *exit_of = find_exits(tree->building->stacks);
	struct key_index index = { 0 };

	array_grow_unset(&tree->exits, &tree->room_exits, 1);
	for (size_t i = 0; i < nr; i++) {
		const struct stack_item *item = &tree->items[selected[i]];
		const struct key key = { item->key.guest, item->key.vcpu,
					 exit_of[item->key.field] };
		size_t at = key_index_add(&index, tree->exits, sizeof(*tree->exits),
					  tree->nr_exits, &key);
		struct where_sum sum;

		if (at == tree->nr_exits) {
			array_grow_unset(&tree->exits, &tree->room_exits, at + 1);
			tree->exits[tree->nr_exits++] = (struct exit){ .key = key };
		}
		sum = sum_of(tree->building, item);
		where_sum_add(&tree->exits[at].sum, &sum);
		if (!item->ns && !item->count && !item->exits)
			continue;
		tree->next_item[selected[i]] = tree->exits[at].first;
		tree->exits[at].first = selected[i] + 1;
	}
	qsort(tree->exits, tree->nr_exits, sizeof(*tree->exits), compare_exits);
	key_index_release(&index);
	free(exit_of);
}

/* ---- the calls below an exit */

static uint32_t parent_of(const struct tree *tree, uint32_t node)
{
	return stacks_node_at(tree->building->stacks, node)->parent;
}

/* Adds the stack's time to its last node, and links the nodes to their callers. */
static void add_stack(struct tree *tree, const struct stack_item *item)
{
	struct where_sum *nodes = tree->building->nodes, sum = sum_of(tree->building, item);
	uint32_t node = item->key.field, parent;

	stack_ns_add(&nodes[node].self_ns, item->ns);
	where_sum_add(&nodes[node], &sum);
	for (; node != STACK_ROOT && !nodes[node].is_linked; node = parent) {
		parent = parent_of(tree, node);
		nodes[node].is_linked = true;
		tree->next[node] = tree->first[parent];
		tree->first[parent] = node;
	}
}

/* Lists the nodes below the root, each before its calls. */
static void list_nodes(struct tree *tree)
{
	uint32_t node = tree->first[STACK_ROOT];

	tree->nr_used = 0;
	while (node) {
		tree->used[tree->nr_used++] = node;
		if (tree->first[node]) {
			node = tree->first[node];
			continue;
		}
		while (node && !tree->next[node])
			node = parent_of(tree, node);
		node = tree->next[node]; /* of the root: none */
	}
}

/* A row for each node with enough time, if its caller has one. */
static void add_rows(struct tree *tree, const struct key *key)
{
	const struct where_building *building = tree->building;

	for (uint32_t i = 0; i < tree->nr_used; i++) {
		uint32_t node = tree->used[i], parent = parent_of(tree, node);
		struct where_sum *sum = &building->nodes[node];
		uint32_t depth = parent == STACK_ROOT ? 2 : building->nodes[parent].depth;
		struct view_row *row;

		if (!depth || sum->ns < building->least_ns)
			continue;
		sum->depth = depth + 1;
		row = where_add_function(building, sum,
					 stacks_node_at(building->stacks, node)->function);
		row->guest = key->guest;
		row->vcpu = key->vcpu;
		row->number = node;
		row->depth = (uint8_t)depth;
	}
}

static void forget_nodes(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->nr_used; i++) {
		uint32_t node = tree->used[i];

		tree->building->nodes[node] = (struct where_sum){ 0 };
		tree->first[node] = tree->next[node] = 0;
	}
	tree->first[STACK_ROOT] = 0;
}

static bool is_full(const struct where_building *building)
{
	size_t most = building->query->most_rows;

	return most && building->view->nr_rows > most && !building->least_ns;
}

static void add_calls(struct tree *tree, const struct exit *exit)
{
	struct where_sum *nodes = tree->building->nodes;

	if (is_full(tree->building))
		return;
	for (uint32_t at = exit->first; at; at = tree->next_item[at - 1])
		add_stack(tree, &tree->items[at - 1]);
	list_nodes(tree);
	for (uint32_t i = tree->nr_used; i-- > 0;) {
		uint32_t node = tree->used[i], parent = parent_of(tree, node);

		if (parent != STACK_ROOT)
			where_sum_add(&nodes[parent], &nodes[node]);
	}
	add_rows(tree, &exit->key);
	forget_nodes(tree);
}

/* ---- guests and vCPUs */

static void add_parent(struct where_building *building, const struct where_sum *sum,
		       const struct key *key, bool is_guest)
{
	const struct guest *guest = guests_find(building->facts->guests, key->guest);
	struct cell name = cell_guest(guest);
	struct view_row *row;
	char text[16];

	snprintf(text, sizeof(text), "vCPU %d", (int)key->vcpu);
	if (!is_guest)
		name = cell_text(view_text(building->view, text));
	row = where_add_row(building, sum, name);
	row->guest = key->guest;
	row->vcpu = is_guest ? -1 : key->vcpu;
	row->depth = !is_guest;
	row->is_gone = !guest || guest->has_ended;
}

/* How many of the exits have the same guest, and with by_vcpu the same vCPU, as the first. */
static size_t count_like_first(const struct exit *exits, size_t nr, bool by_vcpu,
			       struct where_sum *ret_sum)
{
	size_t n = 0;

	*ret_sum = (struct where_sum){ 0 };
	while (n < nr && exits[n].key.guest == exits[0].key.guest &&
	       (!by_vcpu || exits[n].key.vcpu == exits[0].key.vcpu))
		where_sum_add(ret_sum, &exits[n++].sum);
	return n;
}

/* An exit with too little time for a row has no call with more. */
static void add_vcpu(struct tree *tree, const struct exit *exits, size_t nr,
		     const struct where_sum *sum)
{
	add_parent(tree->building, sum, &exits[0].key, false);
	for (size_t i = 0; i < nr; i++) {
		if (exits[i].sum.ns >= tree->building->least_ns)
			add_calls(tree, &exits[i]);
	}
}

static void add_guest(struct tree *tree, const struct exit *exits, size_t nr)
{
	struct where_sum sum;

	for (size_t at = 0, n; at < nr; at += n) {
		n = count_like_first(exits + at, nr - at, true, &sum);
		add_vcpu(tree, exits + at, n, &sum);
	}
}

bool where_build_tree(struct where_building *building, const uint32_t *selected, size_t nr)
{
	const struct stack_sums *sums = &building->facts->stats->stacks;
	uint32_t nr_nodes = stacks_count_nodes(building->stacks);
	struct tree tree = {
		.building = building,
		.items = sums->list,
		.next_item = xcalloc(sums->nr + 1, sizeof(*tree.next_item)),
		.used = xcalloc(nr_nodes, sizeof(*tree.used)),
		.first = xcalloc(nr_nodes, sizeof(*tree.first)),
		.next = xcalloc(nr_nodes, sizeof(*tree.next)),
	};
	struct where_sum sum;

	memset(building->nodes, 0, nr_nodes * sizeof(*building->nodes));
	group_items(&tree, selected, nr);
	for (size_t i = 0, of_guest; i < tree.nr_exits; i += of_guest) {
		of_guest = count_like_first(tree.exits + i, tree.nr_exits - i, false, &sum);
		add_parent(building, &sum, &tree.exits[i].key, true);
		add_guest(&tree, tree.exits + i, of_guest);
	}
	free(tree.next_item);
	free(tree.exits);
	free(tree.used);
	free(tree.first);
	free(tree.next);
	return !is_full(building);
}
