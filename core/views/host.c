// SPDX-License-Identifier: GPL-2.0-or-later
/* The Host view: a row for each host CPU, with the time that its vCPUs want and get. */
#include "core/views/view.h"
#include "core/views/fill.h"

static const struct column columns[] = {
	{ COL_CPU, .width = 5, .is_key = true },
	{ COL_NODE, .rank = 3, .is_key = true },
	{ COL_CORE, .rank = 5, .is_key = true },
	{ COL_SIBLING, .rank = 4, .is_key = true },
	{ .id = COL_BUSY },
	{ COL_VCPU_BUSY, .rank = 1 },
	{ .id = COL_CPU_VCPUS },
	{ .id = COL_WANT },
	{ COL_IN_WAIT, .width = 6, .warn = OWNER_WAIT_WARN },
	{ COL_THROTTLED, .rank = 6 },
	{ COL_RATE, .rank = 2,
	  .help = "exits of its vCPUs a second, between the last two samples" },
	{ COL_IN_KVM, .rank = 2, .width = 6, .warn = OWNER_KVM_WARN,
	  .help = "share of its vCPUs' time in which KVM worked, on a CPU" },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

#define CPUS_MAX (1 << 16) /* a damaged history may have any number */

static bool needs(const struct field *field)
{
	return field_is_of_exits(field) || field->use == USE_TIME ||
	       (field->use == USE_HOST && field->part != HOST_THREAD);
}

/* A CPU that went offline is not in the latest sample. */
static bool is_cpu(const struct owner *owner)
{
	return owner->key.guest == GUEST_NONE && owner->key.vcpu >= 0 &&
	       owner->key.vcpu < CPUS_MAX && owner->host[HOST_BUSY].is_now;
}

/* Adds each vCPU to the CPU that it is on. Owners of GUEST_NONE come first. */
static void place_vcpus(struct rollup *sums, const struct query *query)
{
	for (size_t i = 0; i < sums->nr_owners; i++) {
		const struct owner *vcpu = &sums->owners[i];
		const struct sum *cpu = &vcpu->host[HOST_CPU];
		struct owner *on;

		if (vcpu->key.guest == GUEST_NONE || !cpu->is_now || cpu->total >= CPUS_MAX ||
		    !query_has_key(query, &vcpu->key))
			continue;
		on = rollup_find(sums, GUEST_NONE, (int32_t)cpu->total);
		if (on)
			owner_join(on, vcpu);
	}
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct rollup *sums = &view->sums;
	struct row_of of = { .facts = facts, .query = query, .rollup = sums };

	view->rate_title = "Exits/s";
	view->cost = facts_cost(facts);
	rollup_begin(sums, GROUP_GUEST | GROUP_VCPU);
	vcpus_choose_exits(sums, query, facts);
	rollup_owners(sums, facts);
	place_vcpus(sums, query);
	for (size_t i = 0; i < sums->nr_owners; i++) {
		of.owner = &sums->owners[i];
		if (is_cpu(of.owner))
			fill_row(view, &of);
	}
	view->note = facts_lack(facts, NEED_TIMES);
	if (!view->nr_rows)
		view->note = "No host CPU was read: can /proc/stat be read? An older history or "
			     "capture has none.";
}

/* Enter on a CPU leads to the vCPUs that are on it. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	(void)facts;
	(void)ret_sought;
	if (!row)
		return false;
	query->has_vcpu = query->has_reason = false;
	query->has_cpu = true;
	query->cpu = (uint32_t)row->vcpu;
	query->type = &view_vcpus;
	return true;
}

const struct view_type view_host = {
	.name = "host",
	.title = "Host",
	.key = '6',
	.noun = "exit so far",
	.columns = columns,
	.sort = COL_WANT,
	.has_host = true,
	.source_need = NEED_HOST,
	.wants = vcpus_want,
	.needs = needs,
	.build = build,
	.enter = enter,
};
