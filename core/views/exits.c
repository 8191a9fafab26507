// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The views of exits: Exits has a row for each reason, or for what the query says, and is the table
 * of `kvmtop exits` and `kvmtop report`, too; Hot spots has one for each argument (a port, an MSR,
 * an address) and guest. They differ in what they count, by what they group, and in their columns.
 */
#include <stdio.h>
#include <string.h>

#include "arch/argument.h"
#include "lib/text.h"
#include "core/views/fill.h"
#include "core/views/view.h"

#define NAME_SIZE 96

/* The columns that name a row are there for each of query.groups. */
static const struct column exits_columns[] = {
	{ COL_REASON, .least = 18 },
	{ COL_PID, .rank = 7, .is_key = true },
	{ COL_TID, .rank = 3, .is_key = true },
	{ COL_GUEST, .least = 14, .is_key = true },
	{ COL_VCPU, .is_key = true },
	{ COL_TOTAL, .rank = 9 },
	{ COL_DELTA, .is_for_machines = true },
	{ COL_RATE, .title = "Count/s" },
	{ COL_SHARE, .rank = 8, .width = 6, .title = "%Count",
	  .help = "share of all exits between the last two samples" },
	{ COL_TIME, .rank = 16 },
	{ COL_WAIT_TIME, .is_for_machines = true },
	{ COL_TIME_SHARE, .rank = 1 },
	{ COL_RUN_SHARE, .rank = 5 },
	{ COL_POLL_SHARE, .rank = 15 },
	{ COL_BLOCK_SHARE, .rank = 7 },
	{ COL_WAIT_SHARE, .rank = 6 },
	{ COL_IDLE_SHARE, .rank = 13 },
	{ COL_SHORTEST, .rank = 12 },
	{ COL_AVERAGE, .rank = 2 },
	{ COL_DEVIATION, .rank = 12, .is_of_recording = true },
	{ COL_P50, .rank = 11 },
	{ COL_P99, .rank = 4 },
	{ COL_CUR_LONGEST, .is_for_machines = true },
	{ COL_LONGEST, .rank = 3 },
	{ .id = COL_OPEN },
	{ COL_HIST, .rank = 17 },
	{ COL_ENDED, .is_for_machines = true, .is_marked = true, .is_of_live = true },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(exits_columns);

static const struct column hotspots_columns[] = {
	{ COL_WHAT, .rank = 3, .least = 14, .is_of_reason = true },
	{ COL_ARGUMENT, .least = 22, .width = 32, .is_key = true },
	{ COL_TOTAL, .rank = 8 },
	{ COL_DELTA, .is_for_machines = true },
	{ COL_RATE, .title = "Count/s" },
	{ COL_TIME_OF_ALL, .rank = 1 },
	{ COL_TIME, .is_for_machines = true },
	{ COL_SHORTEST, .rank = 10, .is_of_recording = true },
	{ COL_AVERAGE, .rank = 4 },
	{ COL_DEVIATION, .rank = 11, .is_of_recording = true },
	{ COL_P50, .rank = 7 },
	{ COL_P99, .rank = 5 },
	{ COL_CUR_LONGEST, .is_for_machines = true },
	{ COL_LONGEST, .rank = 6 },
	{ .id = COL_OPEN },
	{ COL_GUEST, .rank = 2, .least = 14, .is_key = true, .is_of_guest = true },
	{ COL_PID, .rank = 12, .is_key = true, .is_of_guest = true },
	{ COL_HIST, .rank = 13 },
	{ COL_ENDED, .is_for_machines = true, .is_marked = true, .is_of_live = true },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(hotspots_columns);

/* ---- which fields are counted */

/*
 * Whether the argument belongs to the reason that the query asks for. Where kvm_exit never fires,
 * the reason of an argument is not known, and its kind decides: an exit to user space for I/O has
 * only I/O arguments, one for MMIO only MMIO arguments.
 */
static bool is_of_reason(const struct query *query, const struct fields *fields,
			 const struct field *field)
{
	const struct argument *argument;
	const struct field *reason;

	if (!query->has_reason || field->reason == query->reason)
		return true;
	reason = fields_get(fields, query->reason);
	if (reason->exit_rank != 2 || field->reason != FIELD_NONE)
		return false;
	argument = argument_by_name(fields_get(fields, field->parent)->name);
	return argument && strcmp(argument->what, reason->label) == 0;
}

static bool is_argument(const struct query *query, const struct fields *fields, uint32_t id)
{
	const struct field *field = fields_get(fields, id);

	return field->use == USE_ARGUMENT && field->parent != FIELD_NONE &&
	       is_of_reason(query, fields, field) && query_selects(query, fields, field);
}

/* Whether the field is one of the reasons, or of the arguments, that the query is about. */
static bool is_of_event(const struct query *query, const struct fields *fields,
			const struct exits *exits, uint32_t id)
{
	const struct field *field = fields_get(fields, id), *parent;
	uint32_t reason = field->use == USE_ARGUMENT ? field->reason : id;

	if (field->parent == FIELD_NONE || (query->has_reason && reason != query->reason) ||
	    !query_selects(query, fields, field))
		return false;
	parent = fields_get(fields, field->parent);
	if (query->event == EXITS_VMEXIT)
		return field->use == USE_EXIT && exits_has(exits, parent);
	if (query->event == EXITS_USERSPACE)
		return field->use == USE_EXIT && parent->exit_rank == 2;
	return field->use == USE_ARGUMENT &&
	       strcmp(parent->name, exit_kind_name(query->event)) == 0;
}

static void choose(struct rollup *sums, const struct query *query, const struct facts *facts)
{
	struct exits exits = query_exits(query, facts, false);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		if (query->type == &view_hotspots ? is_argument(query, facts->fields, i) :
						    is_of_event(query, facts->fields, &exits, i))
			field_set_add(&sums->counted, i);
	}
}

/* ---- rows */

/* "MSR_WRITE 0x6e0" of "msr(MSR_WRITE 0x6e0)". */
static const char *name_of_argument(struct view *view, const struct field *field)
{
	const char *inner = strchr(field->name, '(');
	char name[NAME_SIZE];

	if (!inner || !inner[1])
		return field->label;
	name_put(name, sizeof(name), "%.*s", (int)strlen(inner + 1) - 1, inner + 1);
	return view_text(view, name);
}

static bool is_shown(const struct query *query, const struct group *group)
{
	return query->zeros || group->sum.total || group->sum.delta || group->timing.delta_ns;
}

static void add_rows(struct view *view, struct row_of *of)
{
	struct rollup *sums = &view->sums;
	bool has_arguments = of->query->event >= EXITS_FIRST_ARGUMENT;

	for (size_t i = 0; i < sums->nr_groups; i++) {
		const struct group *group = &sums->groups[i];

		if (!is_shown(of->query, group))
			continue;
		of->group = group;
		of->owner = &sums->owners[group->owner];
		of->guest = guests_find(of->facts->guests, group->key.guest);
		of->field = sums->by & GROUP_REASON ?
				    fields_get(of->facts->fields, group->key.field) : NULL;
		of->name = of->field && has_arguments ? name_of_argument(view, of->field) : NULL;
		fill_row(view, of)->is_idle = of->field && of->field->is_idle;
	}
}

static void build_groups(struct view *view, const struct query *query, const struct facts *facts,
			 unsigned int by)
{
	struct row_of of = { .facts = facts, .query = query, .rollup = &view->sums };

	rollup_begin(&view->sums, by);
	view->sums.keys = query_keys(query);
	view->sums.is_since_start = query->since_ns;
	view->sums.joins_names = query->joins_names;
	choose(&view->sums, query, facts);
	rollup_groups(&view->sums, facts);
	rollup_sum_groups(&view->sums);
	add_rows(view, &of);
}

static bool has_part(const struct fields *fields, unsigned int part)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_TIME && field->part == part)
			return true;
	}
	return false;
}

/* A report says it in its last line. */
static void note_waits(struct view *view, const struct facts *facts)
{
	if (view->nr_rows && !view->note && !facts->is_span &&
	    has_part(facts->fields, TIME_GUEST) && !has_part(facts->fields, TIME_BLOCK))
		view->note = TIMES_WITH_WAITS;
}

static void build_hotspots(struct view *view, const struct query *query, const struct facts *facts)
{
	build_groups(view, query, facts, GROUP_GUEST | GROUP_REASON);
	note_waits(view, facts);
}

static void drop_exits(struct view *view, const struct query *query, unsigned int groups,
		       const struct facts *facts)
{
	bool is_argument = query->event >= EXITS_FIRST_ARGUMENT;

	/* Exact in recordings alone. */
	if (!facts->is_span)
		view_drop(view, COL_SHORTEST);
	if (!view->sums.all.time[TIME_POLL].nr || is_argument)
		view_drop(view, COL_POLL_SHARE);
	if (is_argument) {
		view_drop(view, COL_RUN_SHARE);
		view_drop(view, COL_BLOCK_SHARE);
		view_drop(view, COL_WAIT_SHARE);
		view_drop(view, COL_WAIT_TIME);
		view_drop(view, COL_IDLE_SHARE);
	}
	if (!(groups & GROUP_GUEST)) {
		view_drop(view, COL_PID);
		view_drop(view, COL_GUEST);
		view_drop(view, COL_ENDED);
	}
	if (!(groups & GROUP_VCPU)) {
		view_drop(view, COL_TID);
		view_drop(view, COL_VCPU);
	}
	if (!(groups & GROUP_REASON))
		view_drop(view, COL_REASON);
}

static void build_exits(struct view *view, const struct query *query, const struct facts *facts)
{
	unsigned int groups = query->groups ? query->groups : GROUP_REASON;
	const struct row_of all = {
		.facts = facts, .query = query, .rollup = &view->sums,
		.group = &view->sums.all_groups, .owner = &view->sums.all,
	};

	if (query->event == EXITS_VMEXIT)
		view->note = exits_note(facts);
	build_groups(view, query, facts, groups);
	note_waits(view, facts);
	drop_exits(view, query, groups, facts);
	fill_cells(view->total.cells, view->type, &all, false);
	view->has_total = true;
}

/* ---- the views */

static bool wants_arguments(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_ARGUMENT;
}

/* Exits are counted, too, while the user looks at their arguments. */
static bool needs_arguments(const struct field *field)
{
	return field->use == USE_ARGUMENT || query_needs_exits(field);
}

/* Arguments are counted only when the query asks for them. */
static bool wants_event(const struct query *query, const struct field *field)
{
	if (query->event < EXITS_FIRST_ARGUMENT)
		return query_wants_exits(query, field);
	return field->use == USE_ARGUMENT &&
	       strcmp(field->name, exit_kind_name(query->event)) == 0;
}

/* Enter on a reason leads to its arguments. */
static bool enter_reason(struct query *query, const struct view_row *row,
			 const struct facts *facts, const char **ret_sought)
{
	(void)facts;
	(void)ret_sought;
	if (!row)
		return false;
	query->has_reason = true;
	query->reason = row->field;
	query->type = &view_hotspots;
	return true;
}

/*
 * Enter on an argument leads to the code of its exits; where code cannot be sampled, to the vCPUs
 * of its guest, compared by the argument's exit reason.
 */
static bool enter_argument(struct query *query, const struct view_row *row,
			   const struct facts *facts, const char **ret_sought)
{
	bool has_reason = query->has_reason;

	(void)ret_sought;
	if (!row && !has_reason)
		return false;
	if (!facts_lack(facts, NEED_STACKS))
		return query_enter_code(query, row, facts);
	query_narrow(query, row ? row->guest : query->guest);
	if (!has_reason)
		query->reason = fields_get(facts->fields, row->field)->reason;
	query->has_reason = query->reason != FIELD_NONE;
	query->type = &view_vcpus;
	return true;
}

const struct view_type view_exits = {
	.name = "exits",
	.key = '4',
	.title = "Exits",
	.noun = "exit so far",
	.groups = GROUP_REASON,
	.takes_vcpu = true,
	.columns = exits_columns,
	.sort = COL_TIME_SHARE,
	.by_guest = true,
	.is_timed = true,
	.source_need = NEED_TIMES,
	.wants = wants_event,
	.needs = query_needs_exits,
	.build = build_exits,
	.enter = enter_reason,
};

const struct view_type view_hotspots = {
	.name = "hotspots",
	.key = '5',
	.title = "Hot spots",
	.noun = "argument of an exit so far",
	.takes_vcpu = true,
	.columns = hotspots_columns,
	.sort = COL_TIME_OF_ALL,
	.by_guest = true,
	.is_timed = true,
	.source_need = NEED_ARGUMENTS,
	.wants = wants_arguments,
	.needs = needs_arguments,
	.build = build_hotspots,
	.enter = enter_argument,
};
