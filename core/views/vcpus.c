// SPDX-License-Identifier: GPL-2.0-or-later
/* The vCPUs view: a row for each vCPU, with its exits, its time split, its costliest reason. */
#include <errno.h>

#include "core/facts/key_sums.h"
#include "core/views/list.h"
#include "core/views/owners.h"

enum { GUEST, VCPU, THREAD, TID, CPU, AFFINITY = OWNER_COLUMN_END, REMOTE };

static const struct column columns[] = {
	[GUEST] = { "guest", "Guest", "as its VMM names it", CELL_TEXT, 24,
		    COLUMN_LEAST(19) | COLUMN_OF_GUEST },
	[VCPU] = { "vcpu", "vCPU", "its number in the guest", CELL_COUNT, 5, COLUMN_KEY },
	[THREAD] = { "thread", "Thread", "what else the VMM runs, beside vCPUs", CELL_TEXT, 15,
		     COLUMN_KEY | COLUMN_LEAST(8) },
	[TID] = { "tid", "TID", "its thread", CELL_COUNT, 7, COLUMN_KEY | COLUMN_SPARE(73) },
	[CPU] = { "cpu", "CPU", "the host CPU that it is on, or was on last", CELL_COUNT, 4,
		  COLUMN_SPARE(105) },
	OWNER_COLUMNS("of all vCPUs"),
	[AFFINITY] = { "affinity", "Affinity", "on how many host CPUs it may run", CELL_COUNT, 8,
		       COLUMN_SPARE(180) },
	[REMOTE] = { "remote_percent", "Remote%",
		     "share of the guest's memory on other NUMA nodes than the CPU it is on",
		     CELL_PERCENT, 7, COLUMN_SPARE(76) },
	{ 0 },
};

/* A counter with a key for each vCPU, as the kernel's statistics have. */
static bool is_counter(const struct field *field)
{
	return field->use == USE_EVENT && field->part == EVENT_BY_VCPU &&
	       field->kind == FIELD_COUNTER && field->parent == FIELD_NONE;
}

static bool wants(const struct query *query, const struct field *field)
{
	return field->use == USE_EXIT ||
	       (is_counter(field) && (query->filter || field->exit_rank));
}

static bool needs(const struct field *field)
{
	return field->use == USE_EXIT || field->use == USE_TIME || field->use == USE_CPU ||
	       (field->use == USE_HOST && !host_is_of_cpu(field->part));
}

/*
 * The vCPUs that have ended, also in running guests: their keys are left. Keys of one vCPU follow
 * each other. 0 or -ENOMEM.
 */
static int find_ended(const struct facts *facts, struct key_sums *ret_ended)
{
	struct key latest = { GUEST_ANY, -1, FIELD_ANY };

	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct key *key = &stats_at(facts->stats, i)->key;

		if (key->vcpu < 0 || (key->guest == latest.guest && key->vcpu == latest.vcpu))
			continue;
		latest = (struct key){ key->guest, key->vcpu, FIELD_ANY };
		if (!guest_vcpu(guests_by_id(facts->guests, key->guest), key->vcpu) &&
		    guests_find(facts->guests, key->guest) && !key_sums_get(ret_ended, &latest))
			return -ENOMEM;
	}
	return 0;
}

static void add_ended(struct owners *owners, const struct facts *facts,
		      const struct key_sums *ended)
{
	for (size_t i = 0; i < ended->nr; i++) {
		const struct key *key = &ended->list[i].key;
		struct owner *owner = owners_add(owners, key->guest, key->vcpu);

		owner->of = guests_find(facts->guests, key->guest);
		owner->has_ended = true;
		owner->tid = vcpu_last_tid(guest_vcpu(owner->of, key->vcpu));
	}
}

static void add_running(struct owners *owners, const struct guest *guest)
{
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		struct owner *owner = owners_add(owners, guest->id, guest->vcpus[i].index);

		owner->of = guest;
		owner->tid = vcpu_last_tid(&guest->vcpus[i]);
	}
}

static int init(struct owners *owners, struct view *view, const struct facts *facts)
{
	struct key_sums ended = { 0 };
	const struct guest *guest;
	int err = find_ended(facts, &ended);

	if (!err)
		err = owners_init(owners, view, guests_count_vcpus(facts->guests) + ended.nr);
	for (size_t i = 0; !err && (guest = guests_at(facts->guests, i)); i++)
		add_running(owners, guest);
	if (!err) {
		add_ended(owners, facts, &ended);
		owners_end(owners);
	}
	key_sums_release(&ended);
	return err;
}

/* Where it runs. */
static void add_place(struct owner *owner, const struct field *field, uint64_t value)
{
	if (field->use == USE_CPU) {
		owner->has_latest_cpu = true;
		owner->latest_cpu = value;
	} else if (field->use == USE_HOST && field->part == HOST_CPU) {
		owner->has_cpu = true;
		owner->cpu = value;
	} else if (field->use == USE_HOST && field->part == HOST_AFFINITY) {
		owner->affinity = value;
	} else if (field->use == USE_HOST && field->part == HOST_REMOTE) {
		owner->has_remote = true;
		owner->remote = value;
	}
}

static void add_stats(struct owners *owners, const struct chosen_exits *chosen,
		      const struct facts *facts)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct owner *owner;
		uint64_t delta_ns;

		/* Where exits are known by guest only, they are of no vCPU. */
		if (stat->key.guest == GUEST_ANY || (!needs(field) && !is_counter(field)) ||
		    (field->use == USE_EXIT && stat->key.vcpu < 0 &&
		     stat->key.guest != STATS_ENDED) ||
		    (field->use == USE_HOST && field->part == HOST_THREAD))
			continue;
		owner = owners_find(owners, stat->key.guest, stat->key.vcpu);
		if (field->use != USE_EXIT) { /* most rows are exits */
			if (owner->of && !owner->has_ended)
				add_place(owner, field, stat->total);
			thread_sum_add(&owner->threads, field, stat);
		}
		if (field->use == USE_TIME)
			time_split_add(&owner->split, field, stat);
		if (field_set_has(&chosen->exits, stat->key.field))
			stat_sum_add(&owner->exits, stat, FIELD_COUNTER, stats_tick(facts->stats));
		if (!field_set_has(&chosen->reasons, stat->key.field))
			continue;
		halt_reason_look(&owner->halt, field, stat);
		owner_add_open(owner, stats_open_ns(facts->stats, facts->fields, stat));
		delta_ns = stat->timing ? stat->timing->delta_ns : 0;
		if ((stat->delta || delta_ns) && !field->is_idle)
			owner_add_reason(owner, stat->key.field, delta_ns, stat->delta);
	}
}

/* Whether counters are shown: where the filter names no exit, or exits are not timed. */
static bool shows_counters(const struct query *query, const struct fields *fields)
{
	bool has_counters = false;

	if (query->has_reason)
		return false;
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_EXIT && !field->is_abandoned &&
		    query_selects(query, fields, field))
			return false;
		has_counters |= is_counter(field) && !field->is_abandoned &&
				query_names(query, field);
	}
	return has_counters;
}

static void choose_counters(const struct query *query, const struct facts *facts,
			    struct field_set *ret_chosen)
{
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (is_counter(field) && wants(query, field) && query_names(query, field))
			field_set_add(ret_chosen, i);
	}
}

static int sum_up(struct owners *owners, const struct query *query, const struct facts *facts)
{
	struct chosen_exits chosen = { 0 };
	int err = chosen_exits_find(query, facts, &chosen);

	if (!err && shows_counters(query, facts->fields))
		choose_counters(query, facts, &chosen.exits);
	if (!err)
		add_stats(owners, &chosen, facts);
	owners_count_each(owners, query, facts, &chosen.exits);
	chosen_exits_release(&chosen);
	return err;
}

static int add_row(struct view *view, const struct facts *facts, const struct owners *owners,
		   struct owner *owner)
{
	struct view_row *row = owners_add_row(view, owners, owner, facts->fields);

	if (!row)
		return -ENOMEM;
	if (owner->vcpu >= 0)
		row->cells[VCPU] = cell_count((uint64_t)owner->vcpu);
	if (owner->tid)
		row->cells[TID] = cell_count((uint64_t)owner->tid);
	if (owner->has_cpu || owner->has_latest_cpu)
		row->cells[CPU] = cell_count(owner->has_cpu ? owner->cpu : owner->latest_cpu);
	if (owner->affinity)
		row->cells[AFFINITY] = cell_count(owner->affinity);
	if (owner->has_remote)
		row->cells[REMOTE] = cell_percent(owner->remote, 1000);
	return 0;
}

/* Whether the query is about all that a guest's VMM runs. */
static bool shows_threads(const struct query *query)
{
	return query->guest != GUEST_ANY && !query->has_vcpu && !query->has_cpu &&
	       !query->has_reason && !query->nr_only && !query->filter;
}

/* The other threads of the guest's VMM. */
static int add_threads(struct view *view, const struct query *query, const struct facts *facts)
{
	const struct guest *guest = guests_by_id(facts->guests, query->guest);

	for (size_t i = 0; guest && i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct thread_sum sum = { 0 };
		struct view_row *row;

		if (stat->key.guest != guest->id || field->use != USE_HOST ||
		    field->part != HOST_THREAD || field->parent == FIELD_NONE ||
		    stat->seen != stats_tick(facts->stats))
			continue;
		row = view_add(view);
		if (!row)
			return -ENOMEM;
		thread_sum_add(&sum, field, stat);
		row->guest = guest->id;
		row->field = stat->key.field;
		row->cells[GUEST] = cell_guest(guest);
		row->cells[THREAD] = cell_text(field->label);
		row->cells[OWNER_CPU_TIME] = thread_sum_percent(&sum, HOST_THREAD);
	}
	return 0;
}

static bool is_shown(const struct query *query, const struct owner *owner)
{
	struct key key = { owner->guest, owner->vcpu, FIELD_NONE };

	if (query->has_cpu && !(owner->has_cpu && owner->cpu == query->cpu))
		return false;
	return query_has_key(query, &key) &&
	       ((owner->of && !owner->has_ended) || owner->exits.total);
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct owners owners;
	bool has_counters = shows_counters(query, facts->fields);
	bool has_cpus = false, has_threads;
	size_t nr_vcpus;

	if (!has_counters || !query->filter)
		view->rate_title = "Exits/s";
	/* Without exits by vCPU there are no rows, and the caller says why. */
	if (!fields_have_exits(facts->fields) && !has_counters)
		return 0;
	if (init(&owners, view, facts) < 0 || sum_up(&owners, query, facts) < 0)
		return -ENOMEM;
	owners_total(&owners, query->guest);
	for (size_t i = 0; i < owners.nr; i++) {
		has_cpus |= owners.list[i].has_cpu || owners.list[i].has_latest_cpu;
		if (is_shown(query, &owners.list[i]) &&
		    add_row(view, facts, &owners, &owners.list[i]) < 0)
			return -ENOMEM;
	}
	nr_vcpus = view->nr_rows;
	if (shows_threads(query) && add_threads(view, query, facts) < 0)
		return -ENOMEM;
	has_threads = view->nr_rows > nr_vcpus;
	owners_absent(view, facts);
	view_absent_without(view, facts, HOST_AFFINITY, AFFINITY);
	view_absent_without(view, facts, HOST_REMOTE, REMOTE);
	if (!has_threads)
		view->absent |= 1u << THREAD;
	if (!has_cpus)
		view->absent |= 1u << CPU;
	if (view->nr_rows && !query_selects_any(query, facts->fields))
		view->note = "The filter matches no exit so far.";
	else if (view->nr_rows && source_lacks(facts->source, NEED_VCPU_EXITS))
		view->note = source_lacks(facts->source, NEED_VCPU_EXITS);
	else if (view->nr_rows && !owners.total && exits_note(facts))
		view->note = exits_note(facts);
	return 0;
}

/*
 * Enter on a vCPU leads to its exits. If vCPUs were compared by one reason, the row of that reason
 * is selected.
 */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	if (!row || row->vcpu < 0)
		return false;
	if (query->has_reason)
		*ret_sought = fields_get(facts->fields, query->reason)->label;
	query_narrow(query, row->guest);
	query->has_vcpu = true;
	query->vcpu = row->vcpu;
	query->type = &view_exits;
	return true;
}

const struct view_type view_vcpus = {
	.name = "vcpus",
	.key = '3',
	.title = "vCPUs",
	.noun = "exit so far",
	.groups = GROUP_GUEST | GROUP_VCPU,
	.columns = columns,
	.sort = OWNER_RATE,
	.by_guest = true,
	.is_timed = true,
	.has_host = true,
	.has_stats = true,
	.details = { &view_exits },
	.wants = wants,
	.needs = needs,
	.build = build,
	.enter = enter,
};
