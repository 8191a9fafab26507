// SPDX-License-Identifier: GPL-2.0-or-later
/* One pass over the keys of stats. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "core/views/rollup.h"

bool keys_list(const struct keys *keys, const struct key *key)
{
	for (size_t i = 0; i < keys->nr_only; i++) {
		const struct vcpu_key *only = &keys->only[i];

		if (only->guest == key->guest &&
		    (only->vcpu == VCPU_ANY || only->vcpu == key->vcpu))
			return true;
	}
	return false;
}

void rollup_begin(struct rollup *rollup, unsigned int by)
{
	rollup->keys = (struct keys){ .guest = GUEST_ALL };
	rollup->by = by;
	rollup->is_since_start = rollup->joins_names = false;
	rollup->joined = rollup->joined_as = GUEST_ALL;
	field_set_clear(&rollup->counted);
	field_set_clear(&rollup->reasons);
	rollup->all = (struct owner){ .key = { GUEST_ALL, -1, FIELD_ANY } };
	rollup->all_groups = (struct group){ .key = rollup->all.key };
	rollup->nr_owners = rollup->nr_groups = rollup->nr_spreads = 0;
	rollup->nr_costs = rollup->latest = 0;
	key_index_clear(&rollup->owner_index);
	key_index_clear(&rollup->group_index);
	key_index_clear(&rollup->cost_index);
}

void rollup_choose_reasons(struct rollup *rollup, const struct facts *facts, struct exits exits)
{
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use == USE_EXIT && field->parent != FIELD_NONE &&
		    exits_has(&exits, fields_get(facts->fields, field->parent)))
			field_set_add(&rollup->reasons, i);
	}
}

void rollup_release(struct rollup *rollup)
{
	free(rollup->owners);
	free(rollup->groups);
	free(rollup->spreads);
	free(rollup->costs);
	field_set_release(&rollup->counted);
	field_set_release(&rollup->reasons);
	key_index_release(&rollup->owner_index);
	key_index_release(&rollup->group_index);
	key_index_release(&rollup->cost_index);
	*rollup = (struct rollup){ .by = 0 };
}

/* ---- owners and groups */

static struct owner *find_owner(struct rollup *rollup, const struct key *key)
{
	size_t at = key_index_add(&rollup->owner_index, rollup->owners, sizeof(struct owner),
				  rollup->nr_owners, key);

	if (at == rollup->nr_owners) {
		array_grow_unset(&rollup->owners, &rollup->room_owners, at + 1);
		rollup->owners[rollup->nr_owners++] = (struct owner){ .key = *key };
	}
	rollup->latest = at;
	return &rollup->owners[at];
}

void rollup_expect(struct rollup *rollup, uint32_t guest, int32_t vcpu)
{
	find_owner(rollup, &(struct key){ guest, vcpu, FIELD_ANY });
}

/* The first guest that bears the name of a guest: one that is there, or else one that has ended. */
static uint32_t first_of_name(const struct guests *guests, uint32_t id)
{
	const struct guest *of = guests_find(guests, id), *guest;
	const char *name;

	if (!of)
		return STATS_ENDED;
	name = guest_shared_name(of);
	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		if (strcmp(guest_shared_name(guest), name) == 0)
			return guest->id;
	}
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++) {
		if (strcmp(guest_shared_name(guest), name) == 0)
			return guest->id;
	}
	return id;
}

static uint32_t joined_guest(struct rollup *rollup, const struct facts *facts, uint32_t guest)
{
	if (!rollup->joins_names || guest == GUEST_NONE)
		return guest;
	if (rollup->joined != guest)
		rollup->joined_as = first_of_name(facts->guests, guest);
	rollup->joined = guest;
	return rollup->joined_as;
}

/* The owner of a key; keys of an owner follow each other. NULL: none. */
static struct owner *owner_of(struct rollup *rollup, const struct facts *facts,
			      const struct key *of)
{
	struct key key = { rollup->by & GROUP_GUEST ? joined_guest(rollup, facts, of->guest) :
						      GUEST_ALL,
			   rollup->by & GROUP_VCPU ? of->vcpu : -1, FIELD_ANY };

	if (rollup->nr_owners && key_equal(&rollup->owners[rollup->latest].key, &key))
		return &rollup->owners[rollup->latest];
	if (!rollup->has_groups && key.guest != GUEST_NONE) {
		/* All guests that the inventory has forgotten are one owner. */
		if (key.guest != STATS_ENDED && !guests_find(facts->guests, key.guest))
			key = (struct key){ STATS_ENDED, -1, FIELD_ANY };
		/* Facts of a guest as a whole belong to no vCPU. */
		if (rollup->by & GROUP_VCPU && key.vcpu < 0 && key.guest != STATS_ENDED)
			return NULL;
	}
	return find_owner(rollup, &key);
}

/* The owner's group of the field. */
static struct group *group_of(struct rollup *rollup, const struct owner *owner, uint32_t field)
{
	struct key key = owner->key;
	size_t at;

	key.field = rollup->by & GROUP_REASON ? field : FIELD_ANY;
	at = key_index_add(&rollup->group_index, rollup->groups, sizeof(struct group),
			   rollup->nr_groups, &key);
	if (at == rollup->nr_groups) {
		array_grow_unset(&rollup->groups, &rollup->room_groups, at + 1);
		rollup->groups[rollup->nr_groups++] =
			(struct group){ .key = key, .owner = (uint32_t)(owner - rollup->owners) };
	}
	return &rollup->groups[at];
}

static int compare_owners(const void *a, const void *b)
{
	return key_compare(&((const struct owner *)a)->key, &((const struct owner *)b)->key);
}

/* Usually true: only ended guests break the order. */
static bool are_sorted(const struct rollup *rollup)
{
	for (size_t i = 1; i < rollup->nr_owners; i++) {
		if (compare_owners(&rollup->owners[i - 1], &rollup->owners[i]) > 0)
			return false;
	}
	return true;
}

/* ---- the numbers of an owner */

void owner_join(struct owner *owner, const struct owner *more)
{
	for (int i = 0; i < TIME_PARTS; i++)
		sum_join(&owner->time[i], &more->time[i]);
	for (int i = 0; i < HOST_PARTS; i++)
		sum_join(&owner->host[i], &more->host[i]);
	for (int i = 0; i < EVENT_KINDS; i++)
		sum_join(&owner->events[i], &more->events[i]);
	owner->has_throttled_sums |= more->has_throttled_sums;
	if (more->exits.nr)
		stats_rates_join(owner->history, !owner->exits.nr, more->history);
	sum_join(&owner->exits, &more->exits);
	if (more->open_ns > owner->open_ns)
		owner->open_ns = more->open_ns;
}

uint64_t owner_pages_kib(const struct owner *owner, enum event_kind least)
{
	uint64_t kib = 0;

	for (enum event_kind kind = least; kind <= EVENT_PAGES_1G; kind++)
		kib += event_pages_kib(kind, owner->events[kind].total);
	return kib;
}

static bool is_of_owner(const struct field *field)
{
	return field->use == USE_TIME || field->use == USE_CPU || field_event(field) ||
	       (field->use == USE_HOST && field->parent == FIELD_NONE);
}

static void owner_add(struct owner *owner, const struct field *field,
		      const struct stats_item *stat, uint64_t tick)
{
	if (field->use == USE_CPU) {
		owner->has_exit_cpu = true;
		owner->exit_cpu = stat->total;
	} else if (field->use == USE_EVENT) {
		sum_add(&owner->events[field_event(field)], stat, field->kind, tick);
	} else if (field->use == USE_HOST) {
		sum_add(&owner->host[field->part], stat, field->kind, tick);
		owner->has_throttled_sums |= field->part == HOST_THROTTLED && stat->key.vcpu < 0;
	} else if (field->use == USE_TIME) {
		sum_add(&owner->time[field->part], stat, field->kind, tick);
	}
}

/* ---- the costliest reason */

static void owner_add_cost(struct owner *owner, uint32_t field, uint64_t ns, uint64_t count)
{
	bool is_costlier = ns > owner->top_ns;

	if (ns == owner->top_ns)
		is_costlier = count > owner->top_count ||
			      (count == owner->top_count && field < owner->top);
	owner->all_ns += ns;
	owner->all_count += count;
	if (!is_costlier)
		return;
	owner->top = field;
	owner->top_ns = ns;
	owner->top_count = count;
}

static struct reason_cost *cost_of(struct rollup *rollup, const struct owner *owner,
				   uint32_t reason)
{
	const struct key key = { owner->key.guest, owner->key.vcpu, reason };
	size_t at = key_index_add(&rollup->cost_index, rollup->costs, sizeof(struct reason_cost),
				  rollup->nr_costs, &key);

	if (at == rollup->nr_costs) {
		array_grow_unset(&rollup->costs, &rollup->room_costs, at + 1);
		rollup->costs[rollup->nr_costs++] = (struct reason_cost){ .key = key };
	}
	return &rollup->costs[at];
}

/* Keys of a reason are added up first: its time and the idle part of it, of one vCPU or of many. */
static void add_reason(struct rollup *rollup, const struct stats *stats, struct owner *owner,
		       const struct field *field, const struct stats_item *stat)
{
	uint64_t open_ns = stats_open_ns(stats, field, stat);
	struct reason_cost *cost;

	if (field->use == USE_EXIT_PART) {
		if (field->part == EXIT_IDLE && stat->delta)
			cost_of(rollup, owner, field->reason)->idle_ns += stat->delta;
		return;
	}
	if (open_ns > owner->open_ns)
		owner->open_ns = open_ns;
	if (!stat->delta && !(stat->timing && stat->timing->delta_ns))
		return;
	cost = cost_of(rollup, owner, stat->key.field);
	cost->count += stat->delta;
	if (!stat->timing)
		return;
	cost->ns += stat->timing->delta_ns;
	if (field->is_idle && !rollup->has_parts)
		cost->idle_ns += stat->timing->delta_ns;
}

static void add_costs(struct rollup *rollup)
{
	for (size_t i = 0; i < rollup->nr_costs; i++) {
		const struct reason_cost *cost = &rollup->costs[i];
		struct key key = { cost->key.guest, cost->key.vcpu, FIELD_ANY };
		uint64_t ns = cost->ns > cost->idle_ns ? cost->ns - cost->idle_ns : 0;

		if (ns || cost->count)
			owner_add_cost(find_owner(rollup, &key), cost->key.field, ns,
				       cost->count);
	}
}

/* ---- the numbers of a group */

void group_add(struct rollup *rollup, struct group *group, const struct facts *facts,
	       const struct stats_item *stat)
{
	const struct field *field = fields_get(facts->fields, stat->key.field);
	uint64_t open_ns = stats_open_ns(facts->stats, field, stat);
	const struct stats_timing *timing = stat->timing;

	sum_add(&group->sum, stat, field->kind, facts->stats->tick);
	if (open_ns > group->open_ns)
		group->open_ns = open_ns;
	if (!timing)
		return;
	timing_sum_add(&group->timing, timing, rollup->is_since_start);
	if (field->is_idle && !rollup->has_parts) {
		group->parts[EXIT_IDLE].total += timing->total_ns;
		group->parts[EXIT_IDLE].delta += timing->delta_ns;
	}
	if (timing->raw.spread) {
		array_grow_unset(&rollup->spreads, &rollup->room_spreads, rollup->nr_spreads + 1);
		rollup->spreads[rollup->nr_spreads++] =
			(struct spread_of_group){ timing->raw.spread, group->spreads };
		group->spreads = (uint32_t)rollup->nr_spreads;
	}
}

/* But for the percentiles. */
static void group_join(struct group *all, const struct group *group)
{
	sum_join(&all->sum, &group->sum);
	if (group->open_ns > all->open_ns)
		all->open_ns = group->open_ns;
	timing_sum_join(&all->timing, &group->timing);
	for (int i = 0; i < EXIT_PARTS; i++)
		sum_join(&all->parts[i], &group->parts[i]);
}

static void set_percentiles(struct group *group, const struct buckets *buckets)
{
	static const double shares[] = { [PERCENTILE_50] = 0.5, [PERCENTILE_99] = 0.99 };
	const struct timing_sum *timing = &group->timing;

	group->has_percentiles = true;
	for (int i = 0; i < NR_PERCENTILES; i++) {
		uint64_t ns = buckets_percentile(buckets, shares[i]);

		if (ns < timing->spread.min_ns)
			ns = timing->spread.min_ns;
		group->percentiles_ns[i] = ns < timing->max_ns ? ns : timing->max_ns;
	}
}

/* For recordings. Spreads are numbered from 1; 0 ends a list. */
static void set_all_percentiles(struct rollup *rollup)
{
	struct buckets all = { .nr = 0 };

	if (!rollup->nr_spreads)
		return;
	for (size_t i = 0; i < rollup->nr_groups; i++) {
		struct group *group = &rollup->groups[i];
		struct buckets sum = { .nr = 0 };

		for (uint32_t at = group->spreads; at; at = rollup->spreads[at - 1].next)
			buckets_join(&sum, &rollup->spreads[at - 1].spread->buckets);
		if (group->spreads)
			set_percentiles(group, &sum);
		buckets_join(&all, &sum);
		buckets_release(&sum);
	}
	set_percentiles(&rollup->all_groups, &all);
	buckets_release(&all);
}

/* ---- the pass */

static void add_key(struct rollup *rollup, const struct facts *facts,
		    const struct stats_item *stat)
{
	const struct field *field = fields_get(facts->fields, stat->key.field);
	bool is_part = field->use == USE_EXIT_PART;
	uint32_t of = is_part ? field->reason : stat->key.field;
	bool is_counted = field_set_has(&rollup->counted, of) &&
			  (!is_part || (rollup->has_groups && field->parent != FIELD_NONE));
	bool is_reason = field_set_has(&rollup->reasons, of);
	uint64_t tick = facts->stats->tick;
	struct owner *owner;

	if (!keys_have(&rollup->keys, &stat->key))
		return;
	if (!is_counted && !is_reason && !is_of_owner(field))
		return;
	owner = owner_of(rollup, facts, &stat->key);
	if (!owner)
		return;
	if (is_of_owner(field))
		owner_add(owner, field, stat, tick);
	if (is_reason)
		add_reason(rollup, facts->stats, owner, field, stat);
	if (!is_counted)
		return;
	if (is_part) {
		sum_add(&group_of(rollup, owner, of)->parts[field->part], stat, field->kind, tick);
	} else if (rollup->has_groups) {
		group_add(rollup, group_of(rollup, owner, stat->key.field), facts, stat);
	} else {
		stats_rates_add(owner->history, !owner->exits.nr, stat, tick);
		sum_add(&owner->exits, stat, field->kind, tick);
	}
}

/* Not of an older history, nor of what an exporter says. */
static bool knows_parts(const struct facts *facts)
{
	const struct stats *stats = facts->stats;

	for (size_t i = 0; i < stats->nr; i++) {
		if (fields_get(facts->fields, stats->list[i].key.field)->use == USE_EXIT_PART)
			return true;
	}
	return false;
}

static void add_keys(struct rollup *rollup, const struct facts *facts, bool has_groups)
{
	rollup->has_groups = has_groups;
	rollup->has_parts = knows_parts(facts);
	for (size_t i = 0; i < facts->stats->nr; i++)
		add_key(rollup, facts, &facts->stats->list[i]);
	add_costs(rollup);
}

void rollup_owners(struct rollup *rollup, const struct facts *facts)
{
	add_keys(rollup, facts, false);
	if (!are_sorted(rollup))
		qsort(rollup->owners, rollup->nr_owners, sizeof(*rollup->owners), compare_owners);
}

void rollup_groups(struct rollup *rollup, const struct facts *facts)
{
	add_keys(rollup, facts, true);
	for (size_t i = 0; i < rollup->nr_owners; i++)
		owner_join(&rollup->all, &rollup->owners[i]);
}

void rollup_sum_groups(struct rollup *rollup)
{
	for (size_t i = 0; i < rollup->nr_groups; i++)
		group_join(&rollup->all_groups, &rollup->groups[i]);
	set_all_percentiles(rollup);
}

struct owner *rollup_find(const struct rollup *rollup, uint32_t guest, int32_t vcpu)
{
	const struct owner wanted = { .key = { guest, vcpu, FIELD_ANY } };

	if (!rollup->nr_owners)
		return NULL;
	return bsearch(&wanted, rollup->owners, rollup->nr_owners, sizeof(wanted), compare_owners);
}

size_t rollup_owner(const struct rollup *rollup, const struct key *key)
{
	const struct key of = { key->guest, key->vcpu, FIELD_ANY };
	uint32_t slot = 0;

	if (rollup->owner_index.nr_slots)
		slot = *key_index_slot(&rollup->owner_index, rollup->owners, &of);
	return slot ? slot - 1 : rollup->nr_owners;
}

uint64_t rollup_total(const struct rollup *rollup, const struct keys *keys)
{
	uint64_t total = 0;

	for (size_t i = 0; i < rollup->nr_owners; i++) {
		const struct owner *owner = &rollup->owners[i];

		if (owner->key.guest != GUEST_NONE && keys_have(keys, &owner->key))
			total += owner->exits.total;
	}
	return total;
}
