// SPDX-License-Identifier: GPL-2.0-or-later
/* What each kind of source lacks, and the choice of the counter of VM exits. */
#include <stddef.h>

#include "core/facts/facts.h"

#define COUNTED_EARLIER "What is shown was counted earlier: this key needs a live machine"

#define STACKS_ELSEWHERE "Code is sampled live: kvmtop where on the host."

static const char *const lacks[SOURCE_KINDS][SOURCE_NEEDS] = {
	[SOURCE_RECORDING] = {
		[NEED_NOW] = COUNTED_EARLIER,
		[NEED_HOST] = "A recording has nothing about host CPUs; a history has.",
		[NEED_WAITS] = "A recording does not say what had the CPU while vCPUs waited.",
		[NEED_INTERRUPTS] = "A recording does not say how long interrupts were pending.",
	},
	[SOURCE_MACHINE] = {
		[NEED_WAITS] = ("A captured machine does not say what had the CPU while vCPUs "
				"waited."),
		[NEED_INTERRUPTS] = ("A captured machine does not say how long interrupts were "
				     "pending."),
		[NEED_STACKS] = STACKS_ELSEWHERE,
	},
	[SOURCE_HISTORY] = {
		[NEED_NOW] = COUNTED_EARLIER,
	},
	[SOURCE_PROMETHEUS] = {
		[NEED_NOW] = COUNTED_EARLIER,
		[NEED_STACKS] = STACKS_ELSEWHERE,
		[NEED_EVENTS] = ("A Prometheus is not asked for events: kvmtop on the host shows "
				 "them. Where it exports them (kvmtop export --metrics "
				 "events), they are kvmtop_events_total."),
		[NEED_HOST] = ("A Prometheus is not asked for the host's CPUs: kvmtop on the host "
			       "shows them. How busy they are is "
			       "kvmtop_host_cpu_busy_seconds_total."),
		[NEED_ARGUMENTS] = ("A Prometheus does not have the arguments of exits: kvmtop on "
				    "the host shows hot spots."),
		[NEED_SINGLE] = ("A Prometheus has no single exits: kvmtop on the host lists long "
				 "ones."),
		[NEED_VCPU_EXITS] = "A Prometheus has the exits of each guest, not of each vCPU.",
		[NEED_WAITS] = ("A Prometheus is not asked what had the CPU while vCPUs waited: "
				"kvmtop who on the host says it."),
		[NEED_INTERRUPTS] = ("A Prometheus is not asked how long interrupts were pending: "
				     "kvmtop who --interrupts on the host says it."),
	},
};

const char *source_lacks(enum source_kind kind, enum source_need need)
{
	return lacks[kind][need];
}

#define NO_TIMES "Times of exits are not measured: kvmtop --cost times measures them."
#define NO_STACKS "Exits are not timed and code is not sampled: kvmtop --cost times does both."
#define NO_ARGUMENTS "Arguments of exits are not counted: kvmtop --cost times counts them."

static const char *const cost_lacks[COSTS][SOURCE_NEEDS] = {
	[COST_EVENTS] = {
		[NEED_TIMES] = (NO_TIMES " Counts by reason are in the view Events."),
		[NEED_ARGUMENTS] = NO_ARGUMENTS,
		[NEED_STACKS] = NO_STACKS,
		[NEED_SINGLE] = NO_TIMES,
	},
	[COST_NONE] = {
		[NEED_TIMES] = ("Exits are neither counted by reason nor timed: kvmtop --cost "
				"times does both, --cost events counts reasons."),
		[NEED_ARGUMENTS] = NO_ARGUMENTS,
		[NEED_STACKS] = NO_STACKS,
		[NEED_SINGLE] = NO_TIMES,
	},
};

const char *facts_lack(const struct facts *facts, enum source_need need)
{
	const char *lack = source_lacks(facts->source, need);

	return lack ? lack : cost_lacks[facts->cost][need];
}

bool source_has_now(enum source_kind kind)
{
	return !lacks[kind][NEED_NOW];
}

/* ---- the counter of exits */

/*
 * Lower is better: a counter that is not 0, then a low rank, then one with times, then an early
 * provider.
 */
static uint32_t score(const struct field *field, bool has_counted)
{
	return (uint32_t)!has_counted << 16 | (uint32_t)field->exit_rank << 8 |
	       (uint32_t)(field->use != USE_EXIT) << 7 | field->source;
}

static bool is_counter(const struct field *field, bool is_timed)
{
	return field->exit_rank && field->parent == FIELD_NONE &&
	       (!is_timed || field->use == USE_EXIT);
}

/* The best score that any counter can have: when it is found, the search ends. */
static uint32_t best_possible(const struct facts *facts, bool is_timed)
{
	const struct field_set *counted = facts->counted ? facts->counted : facts->wanted;
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (!is_counter(field, is_timed) || (counted && !field_set_has(counted, i)))
			continue;
		if (score(field, true) < best)
			best = score(field, true);
	}
	return best;
}

struct exits exits_choose(const struct facts *facts, bool by_guest, bool is_timed)
{
	uint32_t best_score = UINT32_MAX, enough = best_possible(facts, is_timed);
	struct exits best = { 0 };

	for (size_t i = 0; i < facts->stats->nr && best_score != enough; i++) {
		const struct stats_item *stat = &facts->stats->list[i];
		const struct field *field = fields_get(facts->fields, stat->key.field);
		uint32_t this_score;

		if (!is_counter(field, is_timed) || (by_guest && stat->key.guest == GUEST_NONE))
			continue;
		/* A timed exit's key exists only if it happened; key r zeroes its total. */
		this_score = score(field, field->use == USE_EXIT || stat->total || stat->delta);
		if (this_score < best_score) {
			best_score = this_score;
			best = (struct exits){ field->source, field->exit_rank };
		}
	}
	return best;
}

bool exits_has(const struct exits *exits, const struct field *field)
{
	return exits->rank && field->exit_rank == exits->rank && field->source == exits->source &&
	       field->parent == FIELD_NONE;
}

bool fields_have_exits(const struct fields *fields)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_EXIT && !field->is_abandoned)
			return true;
	}
	return false;
}

bool fields_have_vcpu_exits(const struct fields *fields)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field_is_by_vcpu(field) && field->exit_rank && !field->is_abandoned)
			return true;
	}
	return fields_have_exits(fields);
}

bool exits_are_untimed(const struct facts *facts)
{
	if (exits_choose(facts, false, true).rank != 2)
		return false;
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_timing *timing = facts->stats->list[i].timing;
		const struct field *field =
			fields_get(facts->fields, facts->stats->list[i].key.field);

		if (field->use == USE_EXIT && timing && timing->total_ended_ns)
			return false;
	}
	return true;
}

const char *exits_note(const struct facts *facts)
{
	if (exits_choose(facts, false, true).rank != 2)
		return NULL;
	return "KVM does not trace the VM exits of these guests: the event kvm_exit never happens. "
	       "Their exits to user space are counted.";
}

const uint64_t *facts_of_host(const struct facts *facts, enum host_part part)
{
	const struct stats_item *stat = NULL;

	for (uint32_t i = 0; i < fields_count(facts->fields) && !stat; i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use == USE_HOST && field->part == part)
			stat = stats_find(facts->stats, &(struct key){ GUEST_NONE, -1, i });
	}
	return stat ? &stat->total : NULL;
}

uint64_t facts_own_ns(const struct stats_item *exits, uint64_t exit_ns)
{
	uint64_t all_ns = exits->delta * exit_ns;

	if (exits->timing && exits->timing->delta_ns && exits->timing->delta_ns < all_ns)
		return exits->timing->delta_ns;
	return all_ns;
}

/* Where exits have no times, the time of the vCPUs is the time that passes. */
struct own_cost facts_cost(const struct facts *facts)
{
	const uint64_t *exit_ns = facts_of_host(facts, HOST_COST);
	struct own_cost cost = { .exit_ns = exit_ns ? *exit_ns : 0 };
	struct exits exits = exits_choose(facts, false, false);
	double own_per_s = 0, vcpus_per_s = 0;
	uint64_t own_ns = 0, nr = 0;

	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *stat = &facts->stats->list[i];
		const struct field *field = fields_get(facts->fields, stat->key.field);

		if (exits_has(&exits, field) && stat->has_rate && stat->delta) {
			uint64_t ns = facts_own_ns(stat, cost.exit_ns);

			own_ns += ns;
			nr += stat->delta;
			own_per_s += (double)ns * stat->rate_per_s / (double)stat->delta;
		} else if (field->use == USE_TIME && field->part == TIME_WHOLE) {
			vcpus_per_s += stat->has_rate ? stat->rate_per_s : 0;
		}
	}
	if (!(vcpus_per_s > 0))
		vcpus_per_s = 1e9 * (double)guests_count_vcpus(facts->guests);
	cost.has_share = own_per_s > 0 && vcpus_per_s > 0;
	if (cost.has_share)
		cost.share = own_per_s / vcpus_per_s;
	if (nr)
		cost.exit_ns = (own_ns + nr / 2) / nr;
	return cost;
}
