// SPDX-License-Identifier: GPL-2.0-or-later
/* The vCPUs view: one row a vCPU, its exits, where its time goes, its costliest reason. */
#include <errno.h>
#include <stdlib.h>

#include "facts/exit_counter.h"
#include "views/timed.h"

enum { GUEST, VCPU, TID, CPU };

static const struct column columns[] = {
	[GUEST] = { "guest", "Guest", "as its VMM names it", CELL_TEXT, 24,
		    COLUMN_LEAST(20) },
	[VCPU] = { "vcpu", "vCPU", "its number in the guest", CELL_COUNT, 4, COLUMN_KEY },
	[TID] = { "tid", "TID", "its thread", CELL_COUNT, 7, COLUMN_KEY | COLUMN_SPARE(8) },
	[CPU] = { "cpu", "CPU", "where its latest exit was", CELL_COUNT, 4, COLUMN_SPARE(10) },
	LIFE_COLUMNS("exits since the start or r; with a filter, those it selects",
		     "of all vCPUs"),
	{ 0 },
};

struct vcpu_sum {
	uint32_t guest;
	int32_t vcpu;
	const struct guest *of;
	pid_t tid;
	bool has_cpu;
	uint64_t cpu;
	struct life_row life;
};

/*
 * All vCPUs, ascending, with those of the guest that is asked for should it have ended, and behind
 * them one for those that are gone.
 */
struct vcpu_sums {
	struct vcpu_sum *list;
	size_t nr;
	bool has_cpus;
	struct vcpu_sum *latest; /* found: keys of one vCPU follow each other */
};

static bool wants(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_EXIT;
}

static bool needs(const struct field *field)
{
	return field->use == USE_EXIT || field->use == USE_TIME || field->use == USE_CPU;
}

static void add_guest(struct vcpu_sums *sums, const struct guest *guest)
{
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		struct vcpu_sum *sum = &sums->list[sums->nr++];

		sum->guest = guest->id;
		sum->of = guest;
		sum->vcpu = guest->vcpus[i].index;
		sum->tid = guest->vcpus[i].tid;
	}
}

static int compare_sums(const void *a, const void *b)
{
	const struct vcpu_sum *x = a, *y = b;

	if (x->guest != y->guest)
		return x->guest < y->guest ? -1 : 1;
	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

/* How many keys there are of a guest: it has no more vCPUs than that. */
static size_t count_keys(const struct stats *stats, uint32_t guest)
{
	size_t nr = 0;

	for (size_t i = 0; i < stats_count(stats); i++)
		nr += stats_at(stats, i)->key.guest == guest;
	return nr;
}

static bool is_known(const struct vcpu_sum *list, const struct vcpu_sum *end, int32_t vcpu)
{
	while (list < end && list->vcpu != vcpu)
		list++;
	return list < end;
}

/* The vCPUs that a guest had, which is not in the inventory any more, by what they counted. */
static void add_ended(struct vcpu_sums *sums, const struct stats *stats, uint32_t guest)
{
	size_t first = sums->nr;

	for (size_t i = 0; i < stats_count(stats); i++) {
		const struct key *key = &stats_at(stats, i)->key;

		if (key->guest != guest ||
		    is_known(&sums->list[first], &sums->list[sums->nr], key->vcpu))
			continue;
		sums->list[sums->nr++] = (struct vcpu_sum){ .guest = guest, .vcpu = key->vcpu };
	}
}

static int sums_init(struct vcpu_sums *sums, struct view *view, const struct query *query,
		     const struct facts *facts)
{
	bool has_ended = query_is_of_ended(query, facts);
	const struct guest *guest;
	size_t nr = has_ended ? 1 + count_keys(facts->stats, query->guest) : 1;

	for (size_t i = 0; (guest = guests_at(facts->guests, i)); i++)
		nr += guest->nr_vcpus;
	sums->list = view_scratch(view, nr * sizeof(*sums->list));
	if (!sums->list)
		return -ENOMEM;
	sums->nr = 0;
	sums->has_cpus = false;
	for (size_t i = 0; (guest = guests_at(facts->guests, i)); i++)
		add_guest(sums, guest);
	if (has_ended)
		add_ended(sums, facts->stats, query->guest);
	sums->list[sums->nr++] = (struct vcpu_sum){ .guest = STATS_ENDED, .vcpu = -1 };
	qsort(sums->list, sums->nr, sizeof(*sums->list), compare_sums);
	sums->latest = sums->list;
	return 0;
}

/* What is nobody's goes with those that are gone. */
static struct vcpu_sum *sums_find(struct vcpu_sums *sums, const struct key *key)
{
	struct vcpu_sum wanted = { .guest = key->guest, .vcpu = key->vcpu }, *sum = sums->latest;

	if (sum->guest == key->guest && sum->vcpu == key->vcpu)
		return sum;
	sum = bsearch(&wanted, sums->list, sums->nr, sizeof(wanted), compare_sums);
	sums->latest = sum ? sum : &sums->list[sums->nr - 1];
	return sums->latest;
}

/* The fields that count: as exits; and as reasons that may be the costliest. */
struct chosen {
	struct field_set exits, reasons;
};

/*
 * A filter that names all exits, as "exit" does, counts them all; one that names reasons counts
 * those. The costliest reason is one that it names. A query for one reason counts nothing else.
 */
static int choose_field(const struct query *query, const struct facts *facts,
			const struct exits *exits, uint32_t id, struct chosen *ret_chosen)
{
	const struct field *field = fields_get(facts->fields, id), *parent = field;
	bool is_reason = field->parent != FIELD_NONE;
	int err = 0;

	if (is_reason)
		parent = fields_get(facts->fields, field->parent);
	if (query->has_reason && id != query->reason)
		return 0;
	if (field->use != USE_EXIT || !exits_has(exits, parent))
		return 0;
	if (!is_reason)
		return query_names(query, field) ? field_set_add(&ret_chosen->exits, id) : 0;
	if (!query_has_name(query, field))
		return 0;
	if (query->has_reason || !query_names(query, parent))
		err = field_set_add(&ret_chosen->exits, id);
	if (!err && !field->is_idle)
		err = field_set_add(&ret_chosen->reasons, id);
	return err;
}

static int choose(const struct query *query, const struct facts *facts, struct chosen *ret_chosen)
{
	struct exits exits = exits_choose(facts, true, true);
	int err = 0;

	for (uint32_t i = 0; !err && i < fields_count(facts->fields); i++)
		err = choose_field(query, facts, &exits, i, ret_chosen);
	return err;
}

static void add_stats(struct vcpu_sums *sums, const struct chosen *chosen,
		      const struct facts *facts)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct vcpu_sum *sum;
		struct life_row *life;

		if (stat->key.guest == GUEST_ANY || !needs(field))
			continue;
		sum = sums_find(sums, &stat->key);
		life = &sum->life;
		if (field->use == USE_CPU) {
			sum->has_cpu = sum->of != NULL;
			sum->cpu = stat->total;
			sums->has_cpus |= sum->has_cpu;
		}
		if (field->use == USE_TIME)
			life_add(&life->life, field, stat);
		if (field_set_has(&chosen->exits, stat->key.field))
			stat_sum_add(&life->exits, stat, FIELD_COUNTER, stats_tick(facts->stats));
		if (stat->delta && field_set_has(&chosen->reasons, stat->key.field))
			life_row_add_reason(life, stat->key.field,
					    stat->timing ? stat->timing->delta_ns : 0, stat->delta);
	}
}

static int sum_up(struct vcpu_sums *sums, const struct query *query, const struct facts *facts)
{
	struct chosen chosen = { 0 };
	int err = choose(query, facts, &chosen);

	if (!err)
		add_stats(sums, &chosen, facts);
	field_set_release(&chosen.exits);
	field_set_release(&chosen.reasons);
	return err;
}

static int add_row(struct view *view, const struct facts *facts, struct vcpu_sum *sum,
		   uint64_t whole)
{
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	row->guest = sum->guest;
	row->vcpu = sum->vcpu;
	row->is_gone = !sum->of;
	row->is_rest = sum->guest == STATS_ENDED;
	row->cells[GUEST] = cell_text(sum->of ? sum->of->name : "(ended)");
	if (sum->vcpu >= 0)
		row->cells[VCPU] = cell_count((uint64_t)sum->vcpu);
	if (sum->tid)
		row->cells[TID] = cell_count((uint64_t)sum->tid);
	if (sum->has_cpu)
		row->cells[CPU] = cell_count(sum->cpu);
	life_row_fill(row, &sum->life, facts->fields, whole);
	return 0;
}

static bool names_any(const struct query *query, const struct facts *facts)
{
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use == USE_EXIT && query_has_name(query, field))
			return true;
	}
	return false;
}

static bool is_shown(const struct query *query, const struct vcpu_sum *sum)
{
	struct key key = { sum->guest, sum->vcpu, FIELD_NONE };

	return query_has_key(query, &key) && (sum->of || sum->life.exits.total);
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct life_row all = { 0 };
	struct vcpu_sums sums;

	view->rate_title = "Exits/s";
	/* A table of dashes says nothing; whoever shows it knows why. */
	if (!fields_have_exits(facts->fields))
		return 0;
	if (sums_init(&sums, view, query, facts) < 0 || sum_up(&sums, query, facts) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < sums.nr; i++) {
		if (query->guest == GUEST_ANY || sums.list[i].guest == query->guest)
			life_row_merge(&all, &sums.list[i].life);
	}
	life_row_total(view, &all);
	life_columns_absent(view, facts);
	if (!names_any(query, facts))
		view->note = "The filter matches no exit so far.";
	if (!sums.has_cpus)
		view->absent |= 1u << CPU;
	for (size_t i = 0; i < sums.nr; i++) {
		if (is_shown(query, &sums.list[i]) &&
		    add_row(view, facts, &sums.list[i], all.exits.total) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A vCPU leads to its exits. If vCPUs were compared by one reason, it is selected there. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	if (!row)
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
	.title = "vCPUs",
	.noun = "exit so far",
	.rows = ROWS_VCPUS,
	.columns = columns,
	.sort = LIFE_RATE,
	.by_guest = true,
	.is_timed = true,
	.wants = wants,
	.needs = needs,
	.build = build,
	.enter = enter,
};
