// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of interrupts: a row for each vCPU that got any, and below it a row for each vector,
 * from pending to entered; and how late the vCPU's timer was.
 */
#include "core/views/fill.h"
#include "core/views/view.h"
#include "core/views/who.h"

static const struct column columns[] = {
	{ COL_INTERRUPT, .least = 16 },
	{ COL_GUEST, .is_for_machines = true, .is_key = true },
	{ COL_PID, .is_for_machines = true, .is_key = true },
	{ COL_VCPU, .is_for_machines = true, .is_key = true },
	{ COL_VECTOR, .is_for_machines = true, .is_key = true },
	{ COL_TOTAL, .is_for_machines = true },
	{ COL_DELTA, .is_for_machines = true },
	{ COL_RATE, .rank = 1, .title = "Count/s", .help = "interrupts per second" },
	{ COL_TIME, .rank = 4, .help = "how long they were pending in all" },
	{ COL_AVERAGE, .rank = 9 },
	{ COL_P50, .rank = 3 },
	{ COL_P99, .rank = 2 },
	{ COL_CUR_LONGEST, .is_for_machines = true },
	{ COL_LONGEST, .rank = 8 },
	{ COL_WAKING, .rank = 5 },
	{ COL_WAITING, .rank = 6 },
	{ COL_ENTERING, .rank = 7 },
	{ COL_HIST, .rank = 10 },
	{ COL_ENDED, .is_for_machines = true, .is_marked = true, .is_of_live = true },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

static bool is_interrupt(const struct field *field)
{
	return field->use == USE_INTERRUPT;
}

static bool wants(const struct query *query, const struct field *field)
{
	(void)query;
	return is_interrupt(field);
}

/* The field that the group has the times of, or a part of these. */
static uint32_t whole_of(const struct facts *facts, const struct group *group)
{
	const struct field *field = fields_get(facts->fields, group->key.field);

	return field->reason != FIELD_NONE ? field->reason : group->key.field;
}

/* By vCPU; first its sums; then by vector. The parts of the time of each are after it. */
static int by_vector(const void *a, const void *b, void *facts)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
	uint32_t x_of = whole_of(facts, x), y_of = whole_of(facts, y);

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x_of != y_of)
		return x_of < y_of ? -1 : 1;
	return (int)fields_get(((const struct facts *)facts)->fields, x->key.field)->part -
	       (int)fields_get(((const struct facts *)facts)->fields, y->key.field)->part;
}

/* The row's time is entering, except for the parts in which its thread slept or waited. */
static void begin_parts(const struct view *view, struct view_row *row, const struct row_of *of)
{
	uint64_t ns = who_ns(of->query, of->group);

	*view_cell(view, row, COL_WAKING) = cell_percent(0, ns);
	*view_cell(view, row, COL_WAITING) = cell_percent(0, ns);
	*view_cell(view, row, COL_ENTERING) = cell_percent(ns, ns);
}

static void fill_part(const struct view *view, struct view_row *row, const struct row_of *of,
		      const struct group *part)
{
	bool is_waiting =
		fields_get(of->facts->fields, part->key.field)->part == INTERRUPT_WAITING;
	uint64_t ns = of->query->since_ns ? part->sum.total : part->sum.delta;
	const struct cell share = cell_percent(ns, who_ns(of->query, of->group));
	struct cell *entering = view_cell(view, row, COL_ENTERING);

	*view_cell(view, row, is_waiting ? COL_WAITING : COL_WAKING) = share;
	entering->number -= share.number;
	if (entering->number < 0) /* the parts were read a moment later, or are rounded */
		entering->number = 0;
}

static struct view_row *add_row(struct view *view, const struct row_of *of)
{
	char name[WHO_NAME_SIZE];
	struct view_row *row = fill_row(view, of);

	if (of->field->part != INTERRUPT_LATE)
		begin_parts(view, row, of);
	if (of->field->part == INTERRUPT_ALL) {
		who_name_vcpu(name, of->guest, of->group->key.vcpu);
		row->cells[0] = cell_text(view_text(view, name));
		return row;
	}
	row->depth = 1;
	row->cells[0] = *view_cell(view, row, COL_VECTOR) = cell_text(of->field->label);
	return row;
}

static void add_rows(struct view *view, const struct query *query, const struct facts *facts,
		     struct group **groups, size_t nr)
{
	struct row_of of = { .facts = facts, .query = query, .rollup = &view->sums };
	struct view_row *row = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct field *field = fields_get(facts->fields, groups[i]->key.field);

		if (field->reason != FIELD_NONE) {
			if (row && row->field == field->reason &&
			    of.group->owner == groups[i]->owner)
				fill_part(view, row, &of, groups[i]);
			continue;
		}
		row = NULL;
		if (!who_shows(query, groups[i]) ||
		    (field->part != INTERRUPT_ALL && !query_selects(query, facts->fields, field)))
			continue;
		of.field = field;
		of.group = groups[i];
		of.owner = &view->sums.owners[groups[i]->owner];
		of.guest = guests_find(facts->guests, groups[i]->key.guest);
		row = add_row(view, &of);
	}
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	who_build(view, query, facts, by_vector, add_rows);
	if (!view->nr_rows)
		view->note = who_why_none(query, facts, USE_INTERRUPT,
					  "No interrupt that needs an entry was seen.",
					  facts->source == SOURCE_HISTORY ?
			"Interrupts were not measured: kvmtop -w FILE --keep interrupts keeps "
			"them." :
			"No interrupt was measured at this time: kvmtop measures interrupts while "
			"it shows them, if the kernel allows it.");
}

const struct view_type view_interrupts = {
	.name = "interrupts",
	.title = "Interrupts",
	.key = 'I',
	.noun = "vector that a vCPU got",
	.columns = columns,
	.sort = COL_TIME,
	.groups = GROUP_GUEST | GROUP_VCPU,
	.by_guest = true,
	.has_trees = true,
	.takes_vcpu = true,
	.source_need = NEED_INTERRUPTS,
	.wants = wants,
	.needs = is_interrupt,
	.build = build,
	.enter = who_enter,
};
