// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Who view: a row for each vCPU that waited for a CPU, and below it a row for each thread, or
 * interrupt, that had the CPU meanwhile. The rows below a vCPU add up to its waits; the small ones
 * are one row, unless all are asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/views/fill.h"
#include "core/views/view.h"
#include "core/views/who.h"

static const struct column columns[] = {
	{ COL_RAN, .least = 20 },
	{ COL_RAN_KIND, .least = 7, .rank = 6 },
	{ COL_RAN_OWNER, .is_for_machines = true },
	{ COL_RAN_THREAD, .is_for_machines = true },
	{ COL_GUEST, .is_for_machines = true, .is_key = true },
	{ COL_PID, .is_for_machines = true, .is_key = true },
	{ COL_VCPU, .is_for_machines = true, .is_key = true },
	{ COL_ON_CPU, .rank = 7 },
	{ .id = COL_WAITED_SHARE, .warn = OWNER_WAIT_WARN },
	{ COL_TOTAL, .is_for_machines = true },
	{ COL_DELTA, .is_for_machines = true },
	{ COL_RATE, .rank = 2, .title = "Count/s",
	  .help = "waits per second; of a row below a vCPU, how often this had the CPU" },
	{ COL_TIME, .rank = 4 },
	{ COL_AVERAGE, .rank = 8 },
	{ COL_P50, .rank = 5 },
	{ COL_P99, .rank = 3 },
	{ COL_CUR_LONGEST, .is_for_machines = true },
	{ COL_LONGEST, .rank = 1 },
	{ COL_PREEMPTED, .rank = 9 },
	{ COL_IN_KERNEL, .rank = 10 },
	{ COL_SKEW, .rank = 11 },
	{ COL_HIST, .rank = 12 },
	{ COL_ENDED, .is_for_machines = true, .is_marked = true, .is_of_live = true },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

/* What had less than this part of the vCPU's waits, or of the time: Wait% is 0.0. */
#define SMALL 100
#define SMALL_OF_TIME 2000

/* Rows of a vCPU where query.most_rows is exceeded; the others are one row. */
#define NAMED 4

static bool is_wait(const struct field *field)
{
	return field->use == USE_WAIT;
}

static bool needs(const struct field *field)
{
	return is_wait(field) || (field->use == USE_HOST && field->part == HOST_CPU);
}

static bool wants(const struct query *query, const struct field *field)
{
	(void)query;
	return is_wait(field);
}

static enum wait_part part_of(const struct facts *facts, const struct group *group)
{
	return (enum wait_part)fields_get(facts->fields, group->key.field)->part;
}

/* By guest and vCPU; first its waits, then what it says of them, then what ran. */
static int by_vcpu(const void *a, const void *b, void *facts)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

	if (x->key.guest != y->key.guest)
		return x->key.guest < y->key.guest ? -1 : 1;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return (int)part_of(facts, x) - (int)part_of(facts, y);
}

void who_name_vcpu(char name[WHO_NAME_SIZE], const struct guest *guest, int32_t vcpu)
{
	snprintf(name, WHO_NAME_SIZE, "%s vCPU %d", guest ? guest->name : "(ended)", (int)vcpu);
}

uint64_t who_ns(const struct query *query, const struct group *group)
{
	return query->since_ns ? group->timing.total_ns : group->timing.delta_ns;
}

/* How long the interval is, or the time since the start. */
static uint64_t whole_ns_of(const struct row_of *of)
{
	uint64_t since_ns = of->query->since_ns;

	return since_ns ? since_ns : of->facts->stats->elapsed_ns[of->field->source];
}

static struct cell share_of(const struct row_of *of, uint64_t ns)
{
	uint64_t whole_ns = whole_ns_of(of);

	return cell_percent(ns < whole_ns ? ns : whole_ns, whole_ns);
}

/*
 * What the groups after the vCPU's waits say of these. If none began in the guest's kernel, there
 * may be no group that says so.
 */
static void fill_preemptions(const struct view *view, struct view_row *row,
			     const struct row_of *of, struct group *const *groups, size_t nr)
{
	const struct group *preempted = NULL;
	bool is_all = of->query->since_ns;
	uint64_t in_kernel = 0;

	for (size_t i = 0; i < nr && groups[i]->owner == of->group->owner; i++) {
		enum wait_part part = part_of(of->facts, groups[i]);

		if (part == WAIT_PREEMPTED)
			preempted = groups[i];
		if (part == WAIT_IN_KERNEL)
			in_kernel = is_all ? groups[i]->sum.total : groups[i]->sum.delta;
	}
	if (!preempted)
		return;
	*view_cell(view, row, COL_PREEMPTED) = cell_rate_of(of, preempted);
	*view_cell(view, row, COL_IN_KERNEL) =
		cell_percent(in_kernel, is_all ? preempted->sum.total :
						 preempted->sum.delta);
}

/* Interrupts, and what is no thread, have the name of their kind. */
static bool has_thread(enum wait_part part)
{
	return part < WAIT_IRQ;
}

static void add_row(struct view *view, struct row_of *of)
{
	bool is_vcpu = of->field->part == WAIT_ALL;
	char name[WHO_NAME_SIZE];
	struct view_row *row;

	if (is_vcpu)
		who_name_vcpu(name, of->guest, of->group->key.vcpu);
	else
		wait_name_culprit(name, sizeof(name), of->field);
	row = fill_row(view, of);
	row->depth = !is_vcpu;
	row->cells[0] = cell_text(view_text(view, name));
	*view_cell(view, row, COL_RAN_KIND) =
		cell_text(wait_part_name((enum wait_part)of->field->part));
	*view_cell(view, row, COL_WAITED_SHARE) = share_of(of, who_ns(of->query, of->group));
	if (is_vcpu) {
		*view_cell(view, row, COL_ON_CPU) = cell_of_owner(COL_ON_CPU, of, row->is_gone);
		return;
	}
	if (has_thread((enum wait_part)of->field->part))
		*view_cell(view, row, COL_RAN_THREAD) = cell_text(of->field->label);
	if (of->field->alias)
		*view_cell(view, row, COL_RAN_OWNER) = cell_text(of->field->alias);
}

/*
 * ---- what had the CPU: a list of keys for each vCPU. They may be many, so most have no group.
 */

struct culprit {
	const struct stats_item *stat;
	uint32_t next; /* of the same vCPU: the position, plus 1 */
};

struct culprits {
	struct culprit *list;
	size_t nr, room;
	uint32_t *first; /* by owner; 0: none */
};

static bool is_culprit(const struct field *field)
{
	return field->use == USE_WAIT && field->part >= WAIT_OWN;
}

static void find_culprits(const struct rollup *sums, const struct facts *facts,
			  struct culprits *ret_culprits)
{
	struct culprits culprits = { .first = xcalloc(sums->nr_owners + 1, sizeof(uint32_t)) };

	array_grow_unset(&culprits.list, &culprits.room, 1); /* a list, also of none */
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *stat = &facts->stats->list[i];
		size_t owner;

		if (!is_culprit(fields_get(facts->fields, stat->key.field)) ||
		    !keys_have(&sums->keys, &stat->key))
			continue;
		owner = rollup_owner(sums, &stat->key);
		array_grow_unset(&culprits.list, &culprits.room, culprits.nr + 1);
		culprits.list[culprits.nr++] = (struct culprit){ stat, culprits.first[owner] };
		culprits.first[owner] = (uint32_t)culprits.nr;
	}
	*ret_culprits = culprits;
}

static uint64_t culprit_ns(const struct query *query, const struct culprit *culprit)
{
	const struct stats_timing *timing = culprit->stat->timing;

	if (!timing)
		return 0;
	return query->since_ns ? timing->total_ns : timing->delta_ns;
}

/* The time of the last of a vCPU's culprits that has a name, if only so many have one. */
static uint64_t least_named(const struct query *query, const struct culprits *culprits,
			    uint32_t owner)
{
	uint64_t longest[NAMED] = { 0 };

	for (uint32_t at = culprits->first[owner]; at; at = culprits->list[at - 1].next) {
		uint64_t ns = culprit_ns(query, &culprits->list[at - 1]);

		for (size_t i = 0; i < NAMED && ns; i++) {
			uint64_t shorter = longest[i];

			if (ns < shorter)
				continue;
			longest[i] = ns;
			ns = shorter;
		}
	}
	return longest[NAMED - 1];
}

/* Whether it is a small part of what the vCPU waited. */
static bool is_small(const struct row_of *of, uint64_t ns, uint64_t waited_ns)
{
	const struct query *query = of->query;

	return !query->children && !query->zeros && !query->filter &&
	       (ns < waited_ns / SMALL || ns < whole_ns_of(of) / SMALL_OF_TIME);
}

/* What is small, of one vCPU, as one row. */
static void add_rest(struct view *view, struct row_of *of, const struct group *rest, size_t nr)
{
	struct view_row *row;
	char name[32];

	of->group = rest;
	snprintf(name, sizeof(name), "%zu others", nr);
	row = fill_row(view, of);
	row->field = FIELD_NONE;
	row->depth = 1;
	row->is_rest = true;
	row->cells[0] = cell_text(view_text(view, name));
	*view_cell(view, row, COL_WAITED_SHARE) = share_of(of, who_ns(of->query, of->group));
}

bool who_shows(const struct query *query, const struct group *group)
{
	return query->zeros || group->sum.total || group->sum.delta || group->timing.delta_ns;
}

/* The groups that follow the first one and are of its guest, or of its vCPU. */
static size_t count_same(struct group *const *groups, size_t nr, bool is_of_vcpu)
{
	size_t i = 1;

	while (i < nr && groups[i]->key.guest == groups[0]->key.guest &&
	       (!is_of_vcpu || groups[i]->owner == groups[0]->owner))
		i++;
	return i;
}

/* What the vCPU of a guest has waited that waited least; UINT64_MAX: the guest has one vCPU. */
static uint64_t least_of(const struct row_of *of, struct group *const *groups, size_t nr)
{
	uint64_t least_ns = UINT64_MAX;
	size_t nr_vcpus = 0;

	for (size_t i = 0; i < nr; i++) {
		if (part_of(of->facts, groups[i]) != WAIT_ALL)
			continue;
		nr_vcpus++;
		if (who_ns(of->query, groups[i]) < least_ns)
			least_ns = who_ns(of->query, groups[i]);
	}
	return nr_vcpus > 1 ? least_ns : UINT64_MAX;
}

static void add_culprit(struct view *view, struct row_of *of, const struct stats_item *stat)
{
	struct group *group = view_memory(view, sizeof(*group));

	*group = (struct group){ .key = stat->key, .owner = of->group->owner };
	group_add(&view->sums, group, of->facts, stat);
	of->field = fields_get(of->facts->fields, stat->key.field);
	of->group = group;
	add_row(view, of);
}

/* What had the CPU while a vCPU waited. least_ns: what had it for less is no row of its own. */
static void add_culprits(struct view *view, struct row_of *of, const struct culprits *culprits,
			 uint64_t least_ns)
{
	const struct group *waits = of->group;
	struct group *rest = view_memory(view, sizeof(*rest));
	const struct stats_item *small = NULL;
	size_t nr_small = 0;

	*rest = (struct group){ .key = waits->key, .owner = waits->owner };
	for (uint32_t at = culprits->first[waits->owner]; at; at = culprits->list[at - 1].next) {
		const struct stats_item *stat = culprits->list[at - 1].stat;
		uint64_t ns = culprit_ns(of->query, &culprits->list[at - 1]);

		/* In the interval: what ran earlier only is no answer. */
		if ((!ns && !of->query->zeros) ||
		    !query_selects(of->query, of->facts->fields,
				   fields_get(of->facts->fields, stat->key.field)))
			continue;
		if (ns >= least_ns && !is_small(of, ns, who_ns(of->query, waits))) {
			add_culprit(view, of, stat);
			continue;
		}
		small = stat;
		nr_small++;
		group_add(&view->sums, rest, of->facts, stat);
	}
	if (nr_small > 1)
		add_rest(view, of, rest, nr_small);
	else if (nr_small)
		add_culprit(view, of, small);
}

/* The row of one vCPU: the first of its groups has its waits. least_ns: as by least_of(). */
static void add_vcpu(struct view *view, struct row_of *of, struct group *const *groups, size_t nr,
		     uint64_t least_ns)
{
	const struct facts *facts = of->facts;
	struct view_row *row;

	of->owner = &view->sums.owners[groups[0]->owner];
	of->guest = guests_find(facts->guests, groups[0]->key.guest);
	of->field = fields_get(facts->fields, groups[0]->key.field);
	of->group = groups[0];
	add_row(view, of);
	row = &view->rows[view->nr_rows - 1];
	fill_preemptions(view, row, of, groups + 1, nr - 1);
	if (least_ns != UINT64_MAX)
		*view_cell(view, row, COL_SKEW) =
			share_of(of, who_ns(of->query, groups[0]) - least_ns);
}

static void add_rows(struct view *view, const struct query *query, const struct facts *facts,
		     struct group **groups, size_t nr)
{
	struct row_of of = { .facts = facts, .query = query, .rollup = &view->sums };
	struct culprits culprits;
	size_t guest_end = 0;
	uint64_t least_ns = 0;
	bool is_large;

	find_culprits(&view->sums, facts, &culprits);
	is_large = query->most_rows && culprits.nr > query->most_rows;
	for (size_t i = 0, nr_same; i < nr; i += nr_same) {
		if (i == guest_end) {
			guest_end += count_same(groups + i, nr - i, false);
			least_ns = least_of(&of, groups + i, guest_end - i);
		}
		nr_same = count_same(groups + i, nr - i, true);
		if (part_of(facts, groups[i]) != WAIT_ALL || !who_shows(query, groups[i]))
			continue;
		add_vcpu(view, &of, groups + i, nr_same, least_ns);
		add_culprits(view, &of, &culprits,
			     is_large ? least_named(query, &culprits, groups[i]->owner) : 0);
	}
	free(culprits.list);
	free(culprits.first);
}

typedef int compare_fn(const void *a, const void *b, void *facts);

/* A provider's rows have this order already, except after guests have come and gone. */
static void sort(struct group **groups, size_t nr, compare_fn *compare, void *facts)
{
	for (size_t i = 1; i < nr; i++) {
		if (compare(&groups[i - 1], &groups[i], facts) <= 0)
			continue;
		qsort_r(groups, nr, sizeof(struct group *), compare, facts);
		return;
	}
}

void who_build(struct view *view, const struct query *query, const struct facts *facts,
	       int (*order)(const void *a, const void *b, void *facts), who_rows_fn *add)
{
	struct rollup *sums = &view->sums;
	struct group **groups;

	rollup_begin(sums, GROUP_ALL);
	sums->keys = query_keys(query);
	sums->is_since_start = query->since_ns;
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (query->type->wants(query, field) && !is_culprit(field))
			field_set_add(&sums->counted, i);
	}
	rollup_groups(sums, facts);
	groups = xcalloc(sums->nr_groups + 1, sizeof(struct group *));
	for (size_t i = 0; i < sums->nr_groups; i++)
		groups[i] = &sums->groups[i];
	sort(groups, sums->nr_groups, order, (void *)(uintptr_t)facts);
	add(view, query, facts, groups, sums->nr_groups);
	free(groups);
}

const char *who_why_none(const struct query *query, const struct facts *facts, enum field_use use,
			 const char *none, const char *not_measured)
{
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct key *key = &facts->stats->list[i].key;

		if (fields_get(facts->fields, key->field)->use == use && query_has_key(query, key))
			return none;
	}
	return not_measured;
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	who_build(view, query, facts, by_vcpu, add_rows);
	if (!view->nr_rows)
		view->note = who_why_none(query, facts, USE_WAIT, "No vCPU waited for a CPU.",
					  facts->source == SOURCE_HISTORY ?
			"Waits were not measured: kvmtop -w FILE --keep who keeps them." :
			"No wait was measured at this time: kvmtop measures waits while it shows "
			"them, if it can (--list-providers).");
}

bool who_enter(struct query *query, const struct view_row *row, const struct facts *facts,
	       const char **ret_sought)
{
	(void)facts;
	(void)ret_sought;
	if (!row)
		return false;
	query_narrow(query, row->guest);
	query->type = &view_vcpus;
	return true;
}

const struct view_type view_who = {
	.name = "who",
	.title = "Who",
	.key = '7',
	.noun = "thread that ran while a vCPU waited",
	.columns = columns,
	.sort = COL_WAITED_SHARE,
	.by_guest = true,
	.has_trees = true,
	.has_host = true,
	.takes_vcpu = true,
	.source_need = NEED_WAITS,
	.wants = wants,
	.needs = needs,
	.build = build,
	.enter = who_enter,
};
