// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the time of exits goes: a row for each function, the tree of calls below each vCPU, or the
 * callers and callees of a chosen function.
 *
 * Shares are of the time of code; of exits that the query asks for, of all of their time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "core/views/where.h"
#include "lib/xalloc.h"

static const struct column columns[] = {
	{ COL_FUNCTION, .least = 24 },
	{ COL_SIDE, .least = 7, .rank = 3 },
	{ COL_DEPTH, .is_for_machines = true },
	{ COL_SELF_SHARE, .rank = 1 },
	{ .id = COL_STACK_SHARE },
	{ COL_SELF_TIME, .rank = 2 },
	{ COL_TIME, .rank = 4, .help = "the time in it, and in what it calls" },
	{ COL_SAMPLES, .rank = 5 },
	{ COL_MADE, .rank = 6 },
	{ COL_GUEST_KERNEL, .rank = 7 },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

/* With more stacks, small ones are left out of the tree: each may have 100 rows. */
#define TREE_STACKS 5000

/* The columns' order. */
enum { FUNCTION, SIDE, DEPTH, SELF_SHARE, SHARE, SELF, TIME, SAMPLES, MADE, GUEST_KERNEL };

/* Whether the query asks for exits by name: then all of their time is meant. */
static bool asks_for_exits(const struct query *query)
{
	return query->has_halts || query->has_reason || query->has_argument || query->filter;
}

/* No code: the thread had no CPU, or the guest ran, where not even its code is known. */
static bool is_code(const struct where_building *building, uint32_t node)
{
	const struct stack_node *of = stacks_node_at(building->stacks, node);
	enum function_side side = stacks_function_at(building->stacks, of->function)->side;

	return side != FUNCTION_OFF && (side != FUNCTION_GUEST || of->reason != FIELD_NONE);
}

static void add_other(struct where_building *building, const struct stack_item *item)
{
	const struct stack_node *node = stacks_node_at(building->stacks, item->key.field);

	if (stacks_function_at(building->stacks, node->function)->side == FUNCTION_OFF)
		stack_ns_add(&building->off_ns, item->ns);
	else
		stack_ns_add(&building->guest_ns, item->ns);
}

static bool names(const struct query *query, const struct facts *facts, uint32_t field)
{
	return field != FIELD_NONE &&
	       query_selects(query, facts->fields, fields_get(facts->fields, field));
}

static bool selects_exit(const struct query *query, const struct facts *facts,
			 const struct stack_node *node)
{
	if (query->has_argument && node->argument != query->argument)
		return false;
	if (query->has_reason && node->reason != query->reason)
		return false;
	if (query->filter)
		return names(query, facts, node->reason) || names(query, facts, node->argument);
	return !node->is_idle || query->has_halts || query->has_reason;
}

/* A node has a greater number than its parent. */
static void select_nodes(const struct where_building *building)
{
	const struct query *query = building->query;
	uint32_t nr = stacks_count_nodes(building->stacks);
	bool *has = xcalloc(nr, sizeof(*has)); /* the function is in the stack */

	for (uint32_t i = 1; i < nr; i++) {
		const struct stack_node *node = stacks_node_at(building->stacks, i);

		has[i] = has[node->parent] || node->function == query->function;
		building->selects[i] = (has[i] || !query->has_function) &&
				       selects_exit(query, building->facts, node);
	}
	free(has);
}

void where_sum_add(struct where_sum *sum, const struct where_sum *more)
{
	stack_ns_add(&sum->ns, more->ns);
	sum->samples += more->samples;
	sum->exits += more->exits;
	sum->kernel += more->kernel;
	sum->user += more->user;
}

static bool has_any(const struct where_sum *sum)
{
	return sum->ns || sum->samples || sum->exits;
}

/* ---- a row for each function */

/* Adds the time of a stack to each of its functions, once to one that calls itself. */
static void add_functions(struct where_building *building, uint32_t node)
{
	const struct where_sum *sum = &building->nodes[node];
	uint32_t stack = node + 1;

	if (!has_any(sum))
		return;
	stack_ns_add(&building->functions[stacks_node_at(building->stacks, node)->function].self_ns,
		     sum->ns);
	for (; node != STACK_ROOT; node = stacks_node_at(building->stacks, node)->parent) {
		uint32_t at = stacks_node_at(building->stacks, node)->function;
		struct where_sum *function = &building->functions[at];

		if (function->latest != stack)
			where_sum_add(function, sum);
		function->latest = stack;
	}
}

static const char *side_of(enum function_side side)
{
	static const char *const sides[] = {
		[FUNCTION_KERNEL] = "kernel",	   [FUNCTION_VMM] = "VMM",
		[FUNCTION_GUEST] = "guest",	   [FUNCTION_GUEST_KERNEL] = "guest",
		[FUNCTION_GUEST_USER] = "guest",   [FUNCTION_OFF] = "off CPU",
		[FUNCTION_EXIT] = "exit",
	};

	return sides[side];
}

/* What the sums have too much is in none of the rows. */
static uint64_t positive(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static struct view_row *add_named_row(const struct where_building *building, struct cell name)
{
	struct view_row *row = view_add(building->view);

	row->guest = building->query->guest;
	row->vcpu = building->query->has_vcpu ? building->query->vcpu : -1;
	row->cells[FUNCTION] = name;
	return row;
}

struct view_row *where_add_row(const struct where_building *building, const struct where_sum *sum,
			       struct cell name)
{
	struct view_row *row = add_named_row(building, name);
	uint64_t whole = positive(building->whole_ns);

	row->cells[SELF_SHARE] = cell_percent(positive(sum->self_ns), whole);
	row->cells[SHARE] = cell_percent(positive(sum->ns), whole);
	row->cells[SELF] = cell_ns(positive(sum->self_ns));
	row->cells[TIME] = cell_ns(positive(sum->ns));
	if (building->has_samples)
		row->cells[SAMPLES] = cell_count(sum->samples);
	if (sum->exits)
		row->cells[MADE] = cell_count(sum->exits);
	if (sum->kernel || sum->user)
		row->cells[GUEST_KERNEL] = cell_percent(sum->kernel, sum->kernel + sum->user);
	return row;
}

struct view_row *where_add_function(const struct where_building *building,
				    const struct where_sum *sum, uint32_t function)
{
	const struct stack_function *of = stacks_function_at(building->stacks, function);
	struct view_row *row = where_add_row(building, sum, cell_text(of->name));

	row->cells[SIDE] = cell_text(side_of(of->side));
	return row;
}

static bool is_exit(const struct where_building *building, uint32_t function)
{
	return stacks_function_at(building->stacks, function)->side == FUNCTION_EXIT;
}

static void build_functions(struct where_building *building)
{
	uint32_t nr = stacks_count_functions(building->stacks);

	for (uint32_t i = 1; i < stacks_count_nodes(building->stacks); i++)
		add_functions(building, i);
	for (uint32_t i = 1; i < nr; i++) {
		const struct where_sum *sum = &building->functions[i];

		if (!is_exit(building, i) && (sum->ns > 0 || sum->exits))
			where_add_function(building, sum, i)->number = i;
	}
}

/* ---- the callers and callees of a function */

enum relation { CALLER = 1, CALLEE };

/* The function that calls the node; 0: none does. An argument may be between the two. */
static uint32_t caller_of(const struct where_building *building, uint32_t node)
{
	uint32_t function = 0;

	do {
		node = stacks_node_at(building->stacks, node)->parent;
		function = stacks_node_at(building->stacks, node)->function;
	} while (node != STACK_ROOT && is_exit(building, function));
	return node == STACK_ROOT ? 0 : function;
}

/*
 * Adds the time of a stack to each function that calls the chosen one there, or that it calls; once
 * to one that does so twice.
 */
static void add_related(struct where_building *building, uint32_t node, enum relation relation)
{
	const struct where_sum *sum = &building->nodes[node];
	uint32_t stack = node + 1, called = 0;

	if (!has_any(sum))
		return;
	while (node != STACK_ROOT) {
		const struct stack_node *of = stacks_node_at(building->stacks, node);
		uint32_t related = relation == CALLER ? caller_of(building, node) : called;
		struct where_sum *function = &building->functions[related];

		if (of->function == building->query->function && related &&
		    function->latest != stack) {
			where_sum_add(function, sum);
			function->latest = stack;
		}
		if (!is_exit(building, of->function))
			called = of->function;
		node = of->parent;
	}
}

static void add_relations(struct where_building *building, enum relation relation,
			  const char *title)
{
	const uint64_t first = (uint64_t)relation << 32; /* of the rows' numbers */
	uint32_t nr = stacks_count_functions(building->stacks);
	bool has_title = false;

	memset(building->functions, 0, nr * sizeof(*building->functions));
	for (uint32_t i = 1; i < stacks_count_nodes(building->stacks); i++)
		add_related(building, i, relation);
	for (uint32_t i = 1; i < nr; i++) {
		struct view_row *row;

		if (building->functions[i].ns <= 0)
			continue;
		if (!has_title)
			add_named_row(building, cell_text(title))->number = first;
		has_title = true;
		row = where_add_function(building, &building->functions[i], i);
		row->number = first | i;
		row->depth = 1;
		row->cells[SELF_SHARE] = row->cells[SELF] = (struct cell){ 0 };
	}
}

static void build_relations(struct where_building *building)
{
	uint32_t function = building->query->function;

	for (uint32_t i = 1; i < stacks_count_nodes(building->stacks); i++)
		add_functions(building, i);
	where_add_function(building, &building->functions[function], function)->number = function;
	add_relations(building, CALLER, "called by");
	add_relations(building, CALLEE, "calls");
}

/* ---- the view */

static const char *note_of(const struct where_building *building)
{
	const struct stack_sums *sums = &building->facts->stats->stacks;

	if (sums->none[0])
		return sums->none;
	if (sums->lost_ns)
		return "Some time is missing: there were more different stacks than there is room "
		       "for.";
	if (sums->lost_exits)
		return "Some exits are missing: there were more different addresses of guests "
		       "than there is room for.";
	if (stacks_is_full(building->stacks))
		return "Some code is [unknown]: it has more different functions or stacks than "
		       "there is room for.";
	if (sums->lost)
		return "Some stacks found no room: their time is [unknown].";
	if (!sums->nr && building->facts->source == SOURCE_HISTORY)
		return "No code was kept: kvmtop -w FILE --keep where keeps it.";
	if (!sums->nr && building->facts->source == SOURCE_RECORDING)
		return building->facts->is_span ?
			       "No code was sampled: perf record -g -F 99 -e cycles -e 'kvm:*' "
			       "does it." :
			       "Code is shown for the entire recording: press End, or use kvmtop "
			       "report.";
	if (building->least_ns)
		return "Calls of less than 0.1 % of the time are left out: choose a guest, or an "
		       "exit.";
	return sums->clock;
}

static const char *lead_of(const struct where_building *building)
{
	uint64_t off = positive(building->off_ns), guest = positive(building->guest_ns);
	uint64_t code = positive(building->whole_ns), whole = off + guest + code;
	char text[160];

	if (!off && !guest)
		return NULL;
	snprintf(text, sizeof(text),
		 "Off the CPU %.1f %%, in the guest %.1f %% of the time; shares are of the rest.",
		 (double)off * 100 / (double)whole, (double)guest * 100 / (double)whole);
	return view_text(building->view, text);
}

/* With too many stacks, or rows, the calls with most time are there. */
static void build_tree(struct where_building *building, const uint32_t *selected, size_t nr)
{
	const int64_t least_ns = building->whole_ns / 1000 + 1;

	building->least_ns = nr > TREE_STACKS ? least_ns : 0;
	if (where_build_tree(building, selected, nr))
		return;
	building->least_ns = least_ns;
	view_begin(building->view, building->view->type);
	where_build_tree(building, selected, nr);
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	const struct stack_sums *sums = &facts->stats->stacks;
	struct where_building building = {
		.view = view, .query = query, .facts = facts, .stacks = facts->stacks,
	};
	uint32_t *selected;
	size_t nr = 0;

	if (!facts->stacks)
		return;
	selected = xcalloc(sums->nr + 1, sizeof(*selected));
	building.nodes = xcalloc(stacks_count_nodes(facts->stacks), sizeof(*building.nodes));
	building.functions =
		xcalloc(stacks_count_functions(facts->stacks), sizeof(*building.functions));
	building.selects = xcalloc(stacks_count_nodes(facts->stacks), sizeof(*building.selects));
	select_nodes(&building);
	for (size_t i = 0; i < sums->nr; i++) {
		const struct stack_item *item = &sums->list[i];

		if (!query_has_key(query, &item->key) || !building.selects[item->key.field])
			continue;
		if (!asks_for_exits(query) && !is_code(&building, item->key.field)) {
			add_other(&building, item);
			continue;
		}
		selected[nr++] = (uint32_t)i;
		where_sum_add(&building.nodes[item->key.field],
			      &(struct where_sum){ .ns = item->ns, .samples = item->count,
						   .exits = item->exits });
		stack_ns_add(&building.whole_ns, item->ns);
		building.has_samples |= item->count > 0;
	}
	if (query->children)
		build_tree(&building, selected, nr);
	else if (query->has_function && building.whole_ns > 0)
		build_relations(&building);
	else
		build_functions(&building);
	for (size_t i = 0; i < view->nr_rows; i++)
		view->rows[i].cells[DEPTH] = cell_count(view->rows[i].depth);
	view->note = note_of(&building);
	view->lead = lead_of(&building);
	free(selected);
	free(building.nodes);
	free(building.functions);
	free(building.selects);
}

static bool wants(const struct query *query, const struct field *field)
{
	return field->use == USE_EXIT ||
	       (field->use == USE_ARGUMENT && (query->by_argument || query->has_argument));
}

static bool needs(const struct field *field)
{
	return query_needs_exits(field) || field->use == USE_CODE;
}

/* The number of the row's function. A row of the tree has the number of a node, which has one. */
static uint32_t function_of(const struct query *query, const struct view_row *row,
			    const struct facts *facts)
{
	uint32_t number = (uint32_t)row->number;

	return query->children ? stacks_node_at(facts->stacks, number)->function : number;
}

/* In the tree: the exit or argument that the row is of. */
static void narrow_to_exit(struct query *query, const struct stack_node *node)
{
	query->has_reason = node->reason != FIELD_NONE;
	query->reason = node->reason;
	query->has_argument = node->argument != FIELD_NONE;
	query->argument = node->argument;
}

static void narrow_to_row(struct query *query, const struct view_row *row,
			  const struct facts *facts)
{
	uint32_t function = function_of(query, row, facts);

	query->guest = row->guest;
	query->has_vcpu = row->vcpu >= 0;
	query->vcpu = row->vcpu;
	if (!function) /* a guest or vCPU of the tree, or a heading */
		return;
	if (stacks_function_at(facts->stacks, function)->side == FUNCTION_EXIT) {
		narrow_to_exit(query, stacks_node_at(facts->stacks, (uint32_t)row->number));
		return;
	}
	query->has_function = true;
	query->function = function;
	query->children = false;
}

static bool is_narrower(const struct query *query, const struct query *before)
{
	return query->guest != before->guest || query->has_vcpu != before->has_vcpu ||
	       query->has_reason != before->has_reason ||
	       query->has_argument != before->has_argument ||
	       query->has_function != before->has_function ||
	       (query->has_function && query->function != before->function);
}

/*
 * Enter on a function leads to its callers and callees; in the tree, on a guest, vCPU, exit or
 * argument, to its code.
 */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	struct query narrowed = *query;

	(void)ret_sought;
	if (!row)
		return false;
	narrow_to_row(&narrowed, row, facts);
	if (!is_narrower(&narrowed, query))
		return false;
	*query = narrowed;
	return true;
}

/*
 * What a fault is for is known when its exit has ended: its samples have the reason only, as have
 * all samples of a recording.
 */
static bool has_samples(const struct facts *facts, const struct field *field)
{
	const char *name = fields_get(facts->fields, field->parent)->name;

	return facts->source != SOURCE_RECORDING &&
	       strcmp(name, exit_kind_name(EXITS_FAULT)) != 0;
}

bool query_enter_code(struct query *query, const struct view_row *row, const struct facts *facts)
{
	const struct field *field = row && row->field != FIELD_NONE ?
					    fields_get(facts->fields, row->field) : NULL;
	bool is_argument = field && field->use == USE_ARGUMENT;

	if (row && guests_by_id(facts->guests, row->guest) && row->guest != query->guest)
		query_narrow(query, row->guest);
	if (row && row->vcpu >= 0) {
		query->has_vcpu = true;
		query->vcpu = row->vcpu;
	}
	if (field)
		query->reason = is_argument ? field->reason : row->field;
	query->has_reason = query->reason != FIELD_NONE && (field || query->has_reason);
	query->has_argument = is_argument && has_samples(facts, field);
	query->argument = query->has_argument ? row->field : FIELD_NONE;
	query->has_cpu = query->has_function = query->has_halts = false;
	query->type = &view_where;
	return true;
}

const struct view_type view_where = {
	.name = "where",
	.key = '8',
	.title = "Where",
	.noun = "exit reason",
	.columns = columns,
	.sort = COL_SELF_SHARE,
	.then = COL_TIME,
	.by_guest = true,
	.is_timed = true,
	.has_trees = true,
	.has_calls = true,
	.takes_vcpu = true,
	.source_need = NEED_STACKS,
	.wants = wants,
	.needs = needs,
	.build = build,
	.enter = enter,
};
