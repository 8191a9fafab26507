// SPDX-License-Identifier: GPL-2.0-or-later
/* The Host view: a row for each host CPU, with what the vCPUs that are on it want and get. */
#include <errno.h>

#include "core/facts/key_sums.h"
#include "core/views/list.h"
#include "core/views/owners.h"

enum { CPU, NODE, CORE, SIBLING, BUSY, VCPU_BUSY, VCPUS, WANT, WAIT, THROTTLED, RATE, KVM };

static const struct column columns[] = {
	[CPU] = { "cpu", "CPU", "a CPU of the host that is online", CELL_COUNT, 5, COLUMN_KEY },
	[NODE] = { "node", "Node", "its NUMA node", CELL_COUNT, 4,
		   COLUMN_KEY | COLUMN_SPARE(3) },
	[CORE] = { "core", "Core", "its core; numbers begin anew in each socket", CELL_COUNT, 4,
		   COLUMN_KEY | COLUMN_SPARE(5) },
	[SIBLING] = { "sibling", "Sibling", "another CPU of the same core", CELL_COUNT, 7,
		      COLUMN_KEY | COLUMN_SPARE(4) },
	[BUSY] = { "busy_percent", "Busy%", "share of its time in which it ran "
					    "anything", CELL_PERCENT, 6, COLUMN_MEAN },
	[VCPU_BUSY] = { "vcpu_percent", "vCPU%",
			"share of its time in which it ran vCPUs; a vCPU counts where it is "
			"now", CELL_PERCENT, 6,
			COLUMN_SPARE(1) | COLUMN_MEAN },
	[VCPUS] = { "vcpus", "vCPUs", "how many vCPUs are on it", CELL_COUNT, 6, COLUMN_SUM },
	[WANT] = { "want_percent", "Want%",
		   "the time that its vCPUs ran or waited for it, as a share of its time",
		   CELL_PERCENT, 6, COLUMN_MEAN },
	[WAIT] = { "wait_percent", "Wait%", "the part of Want% in which they "
					    "waited", CELL_PERCENT, 6,
		   COLUMN_WARN(OWNER_WAIT_WARN) | COLUMN_MEAN },
	[THROTTLED] = { "throttled_percent", "Throt%",
			"share of its vCPUs' time in which a quota (cpu.max) kept them from "
			"running; no part of Want%",
			CELL_PERCENT, 6, COLUMN_SPARE(6) | COLUMN_MEAN },
	[RATE] = { "rate", "CurAvg/s", "exits of its vCPUs a second, between the last two samples",
		   CELL_RATE, 9, COLUMN_SPARE(2) | COLUMN_SUM },
	[KVM] = { "kvm_percent", "KVM%", "share of its vCPUs' time in which KVM handled "
					 "exits", CELL_PERCENT, 6,
		  COLUMN_SPARE(2) | COLUMN_WARN(OWNER_KVM_WARN) | COLUMN_MEAN },
	{ 0 },
};

#define CPUS_MAX (1 << 16) /* a damaged history may have any number */

/* What is known of a CPU. */
struct cpu_sum {
	uint32_t has; /* enum host_part, as bits */
	uint64_t node, core, sibling;
	double busy_per_s;
	bool has_busy;
	uint64_t nr_vcpus;
	struct thread_sum threads;
	struct stat_sum exits;
	struct time_split split;
};

struct cpu_list {
	struct cpu_sum *list; /* the view's, by number */
	size_t nr;
	struct key_sums numbers; /* by vCPU, FIELD_ANY: 1 + its CPU; 0: none */
	struct key latest;	 /* the vCPU that was looked up last, */
	struct cpu_sum *found;	 /* and its CPU */
};

static bool needs(const struct field *field)
{
	return field->use == USE_EXIT || field->use == USE_TIME ||
	       (field->use == USE_HOST && field->part != HOST_THREAD);
}

static bool is_part(const struct field *field, enum host_part part)
{
	return field->use == USE_HOST && field->part == part;
}

static const struct field *field_at(const struct facts *facts, const struct stats_item *stat)
{
	return fields_get(facts->fields, stat->key.field);
}

/* Whether the latest sample has the key: a CPU that went offline has none. */
static bool is_now(const struct facts *facts, const struct stats_item *stat)
{
	return stat->seen == stats_tick(facts->stats);
}

static int init(struct cpu_list *cpus, struct view *view, const struct facts *facts)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);

		if (is_part(field_at(facts, stat), HOST_BUSY) && stat->key.vcpu < CPUS_MAX &&
		    stat->key.vcpu >= (int64_t)cpus->nr)
			cpus->nr = (size_t)stat->key.vcpu + 1;
	}
	cpus->list = view_scratch(view, (cpus->nr + 1) * sizeof(*cpus->list));
	return cpus->list ? 0 : -ENOMEM;
}

/* ---- what is known of the CPUs themselves, and which vCPUs are on them ---- */

static void add_to_cpu(struct cpu_sum *cpu, const struct field *field,
		       const struct stats_item *stat)
{
	uint64_t *const numbers[HOST_PARTS] = {
		[HOST_NODE] = &cpu->node,
		[HOST_CORE] = &cpu->core,
		[HOST_SIBLING] = &cpu->sibling,
	};

	cpu->has |= 1u << field->part;
	if (numbers[field->part])
		*numbers[field->part] = stat->total;
	if (field->part == HOST_BUSY) {
		/* The kernel counts ticks: in a measured interval these can be more than 100 %. */
		cpu->busy_per_s = stat->rate_per_s < 1e9 ? stat->rate_per_s : 1e9;
		cpu->has_busy = stat->has_rate;
	}
}

static void place_vcpu(struct cpu_list *cpus, const struct stats_item *stat)
{
	struct key key = { stat->key.guest, stat->key.vcpu, FIELD_ANY };
	struct key_sum *number;

	if (stat->total >= cpus->nr)
		return;
	number = key_sums_get(&cpus->numbers, &key);
	number->count = stat->total + 1;
	cpus->list[stat->total].nr_vcpus++;
}

static void take_cpus(struct cpu_list *cpus, const struct query *query, const struct facts *facts)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = field_at(facts, stat);

		if (field->use != USE_HOST || !is_now(facts, stat))
			continue;
		if (field->part == HOST_CPU && query_has_key(query, &stat->key))
			place_vcpu(cpus, stat);
		else if (host_is_of_cpu(field->part) && (size_t)stat->key.vcpu < cpus->nr)
			add_to_cpu(&cpus->list[stat->key.vcpu], field, stat);
	}
}

/* ---- what vCPUs do ---- */

/* The CPU of a vCPU in *ret_cpu; NULL: none. The keys of a vCPU follow each other. */
static void find_cpu(struct cpu_list *cpus, const struct key *of, struct cpu_sum **ret_cpu)
{
	struct key key = { of->guest, of->vcpu, FIELD_ANY };
	const struct key_sum *number;

	if (key.guest != cpus->latest.guest || key.vcpu != cpus->latest.vcpu) {
		number = key_sums_get(&cpus->numbers, &key);
		cpus->latest = key;
		cpus->found = number->count ? &cpus->list[number->count - 1] : NULL;
	}
	*ret_cpu = cpus->found;
}

static void add_of_vcpu(struct cpu_sum *cpu, const struct chosen_exits *chosen,
			const struct field *field, const struct stats_item *stat, uint64_t tick)
{
	thread_sum_add(&cpu->threads, field, stat);
	if (field->use == USE_TIME)
		time_split_add(&cpu->split, field, stat);
	if (field_set_has(&chosen->exits, stat->key.field))
		stat_sum_add(&cpu->exits, stat, FIELD_COUNTER, tick);
}

static void take_vcpus(struct cpu_list *cpus, const struct chosen_exits *chosen,
		       const struct facts *facts)
{
	cpus->latest = (struct key){ GUEST_ANY, -1, FIELD_ANY };
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = field_at(facts, stat);
		struct cpu_sum *cpu;

		if (stat->key.guest == GUEST_ANY || stat->key.vcpu < 0 || !needs(field))
			continue;
		find_cpu(cpus, &stat->key, &cpu);
		if (cpu)
			add_of_vcpu(cpu, chosen, field, stat, stats_tick(facts->stats));
	}
}

/* ---- rows ---- */

static struct cell percent(double part, double whole, bool is_known)
{
	if (!is_known || whole <= 0)
		return cell_none();
	return (struct cell){
		.type = CELL_PERCENT, .whole = (float)whole, .number = part * 100 / whole,
	};
}

/*
 * The kernel counts a throttled thread as one that waits for a CPU, but such a thread would not get
 * this CPU even if it were free.
 */
static void fill_wants(struct cell *cells, const struct cpu_sum *cpu)
{
	double run = cpu->threads.per_s[HOST_RUN], throttled = cpu->threads.per_s[HOST_THROTTLED];
	double all = cpu->threads.wait_per_s, wait = all > throttled ? all - throttled : 0;
	bool has_wait = cpu->threads.nr_waits;

	/* A vCPU that came from another CPU has run on both: that may be more than there is. */
	cells[VCPU_BUSY] = percent(run < 1e9 ? run : 1e9, 1e9, cpu->threads.nr[HOST_RUN]);
	cells[WANT] = percent(run + wait, 1e9, has_wait);
	cells[WAIT] = percent(wait, run + wait, has_wait);
	cells[THROTTLED] = percent(throttled, 1e9 * thread_sum_throttled_of(&cpu->threads),
				   cpu->threads.nr[HOST_THROTTLED]);
}

static int add_row(struct view *view, size_t number, const struct cpu_sum *cpu)
{
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	row->vcpu = (int32_t)number;
	row->cells[CPU] = cell_count(number);
	if (cpu->has & 1u << HOST_NODE)
		row->cells[NODE] = cell_count(cpu->node);
	if (cpu->has & 1u << HOST_CORE)
		row->cells[CORE] = cell_count(cpu->core);
	if (cpu->has & 1u << HOST_SIBLING)
		row->cells[SIBLING] = cell_count(cpu->sibling);
	row->cells[BUSY] = percent(cpu->busy_per_s, 1e9, cpu->has_busy);
	row->cells[VCPUS] = cell_count(cpu->nr_vcpus);
	fill_wants(row->cells, cpu);
	if (!cpu->nr_vcpus) /* no vCPU: a known 0 */
		row->cells[VCPU_BUSY] = row->cells[WANT] = percent(0, 1e9, cpu->has_busy);
	row->cells[RATE] = cell_rate(&cpu->exits);
	row->cells[KVM] = time_split_percent(&cpu->split, TIME_KVM);
	return 0;
}

static void set_absent(struct view *view, const struct facts *facts)
{
	static const enum host_part parts[] = {
		[NODE] = HOST_NODE, [CORE] = HOST_CORE, [SIBLING] = HOST_SIBLING,
		[BUSY] = HOST_BUSY, [VCPU_BUSY] = HOST_RUN, [VCPUS] = HOST_CPU, [WANT] = HOST_RUN,
		[WAIT] = HOST_RUN, [THROTTLED] = HOST_THROTTLED,
	};

	for (size_t i = NODE; i <= THROTTLED; i++)
		view_absent_without(view, facts, parts[i], i);
	if (!fields_have_exits(facts->fields))
		view->absent |= 1u << RATE | 1u << KVM;
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct chosen_exits chosen = { 0 };
	struct cpu_list cpus = { 0 };
	int err = init(&cpus, view, facts);

	view->rate_title = "Exits/s";
	if (!err)
		take_cpus(&cpus, query, facts);
	if (!err)
		err = chosen_exits_find(query, facts, &chosen);
	if (!err)
		take_vcpus(&cpus, &chosen, facts);
	for (size_t i = 0; i < cpus.nr && !err; i++) {
		if (cpus.list[i].has & 1u << HOST_BUSY)
			err = add_row(view, i, &cpus.list[i]);
	}
	set_absent(view, facts);
	if (!view->nr_rows)
		view->note = facts->source == SOURCE_RECORDING ?
				     source_lacks(SOURCE_RECORDING, NEED_HOST) :
				     "No host CPU was read: can /proc/stat be read? An older "
				     "history or capture has none.";
	chosen_exits_release(&chosen);
	key_sums_release(&cpus.numbers);
	return err;
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
	.sort = WANT,
	.has_host = true,
	.is_of_host = true,
	.source_need = NEED_HOST,
	.wants = query_wants_exits,
	.needs = needs,
	.build = build,
	.enter = enter,
};
