// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums for each guest or vCPU, and the cells of their rows. */
#include <errno.h>
#include <stdlib.h>

#include "core/facts/exit_counter.h"
#include "core/views/owners.h"

/* ---- the list ---- */

int owners_init(struct owners *owners, struct view *view, size_t nr)
{
	*owners = (struct owners){ 0 };
	owners->list = view_scratch_grow(view, (nr + 1) * sizeof(*owners->list));
	return owners->list ? 0 : -ENOMEM;
}

struct owner *owners_add(struct owners *owners, uint32_t guest, int32_t vcpu)
{
	struct owner *owner = &owners->list[owners->nr++];

	*owner = (struct owner){ .guest = guest, .vcpu = vcpu };
	return owner;
}

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->guest != y->guest)
		return x->guest < y->guest ? -1 : 1;
	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

void owners_end(struct owners *owners)
{
	owners_add(owners, STATS_ENDED, -1);
	qsort(owners->list, owners->nr, sizeof(*owners->list), compare_owners);
	owners->latest = owners->list;
}

struct owner *owners_find(struct owners *owners, uint32_t guest, int32_t vcpu)
{
	struct owner wanted = { .guest = guest, .vcpu = vcpu }, *owner = owners->latest;

	if (owner->guest == guest && owner->vcpu == vcpu)
		return owner;
	owner = bsearch(&wanted, owners->list, owners->nr, sizeof(wanted), compare_owners);
	owners->latest = owner ? owner : &owners->list[owners->nr - 1];
	return owners->latest;
}

/* ---- sums ---- */

void owner_add_reason(struct owner *owner, uint32_t field, uint64_t ns, uint64_t count)
{
	bool is_costlier = ns > owner->top_ns;

	if (ns == owner->top_ns)
		is_costlier = count > owner->top_count ||
			      (count == owner->top_count && field < owner->top);
	owner->all_count += count;
	if (!is_costlier)
		return;
	owner->top = field;
	owner->top_ns = ns;
	owner->top_count = count;
}

void owner_add_open(struct owner *owner, uint64_t open_ns)
{
	if (open_ns > owner->open_ns)
		owner->open_ns = open_ns;
}

/*
 * Times are read one after another, and the clock once before them: on a busy host the time that a
 * thread ran may be of some ms more. A host of a fleet has one key for all vCPUs.
 */
static double time_rate(const struct stats_item *stat)
{
	return stat->key.vcpu >= 0 && stat->rate_per_s > 1e9 ? 1e9 : stat->rate_per_s;
}

void thread_sum_add(struct thread_sum *sum, const struct field *field,
		    const struct stats_item *stat)
{
	bool is_time = field->part == HOST_RUN || field->part == HOST_THROTTLED;

	if (!stat->has_rate)
		return;
	if (field->use == USE_TIME && field->part == TIME_WAIT) {
		sum->nr_waits++;
		sum->wait_per_s += time_rate(stat);
	}
	if (field->use == USE_HOST && field->part <= HOST_THREAD) {
		sum->has_sums |= field->part == HOST_THROTTLED && stat->key.vcpu < 0;
		sum->nr[field->part]++;
		sum->per_s[field->part] += is_time ? time_rate(stat) : stat->rate_per_s;
	}
}

/* ---- which exits ---- */

/*
 * A filter that names all exits, as "exit" does, counts them all; a filter that names reasons
 * counts these reasons. The costliest reason is one that the filter names. A query for one reason
 * counts only that reason.
 */
static void choose_field(const struct query *query, const struct facts *facts,
			 const struct exits *exits, uint32_t id, struct chosen_exits *ret_chosen)
{
	const struct field *field = fields_get(facts->fields, id), *parent = field;
	bool is_reason = field->parent != FIELD_NONE;

	if (is_reason)
		parent = fields_get(facts->fields, field->parent);
	if (query->has_reason && id != query->reason)
		return;
	if (field->use != USE_EXIT || !exits_has(exits, parent))
		return;
	if (!is_reason) {
		if (query_names(query, field))
			field_set_add(&ret_chosen->exits, id);
		return;
	}
	if (!query_selects(query, facts->fields, field))
		return;
	if (query->has_reason || !query_names(query, parent))
		field_set_add(&ret_chosen->exits, id);
	field_set_add(&ret_chosen->reasons, id);
}

int chosen_exits_find(const struct query *query, const struct facts *facts,
		      struct chosen_exits *ret_chosen)
{
	struct exits exits = query_exits(query, facts, true);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++)
		choose_field(query, facts, &exits, i, ret_chosen);
	return 0;
}

void chosen_exits_release(struct chosen_exits *chosen)
{
	field_set_release(&chosen->exits);
	field_set_release(&chosen->reasons);
}

/* ---- cells ---- */

static struct cell percent(double ns_per_s, uint32_t nr)
{
	if (!nr)
		return cell_none();
	return (struct cell){
		.type = CELL_PERCENT,
		.whole = (float)nr * 1e9F,
		.number = ns_per_s / nr / 1e7,
	};
}

uint32_t thread_sum_throttled_of(const struct thread_sum *sum)
{
	uint32_t nr = sum->nr[HOST_THROTTLED];

	return nr && sum->nr_waits > nr ? sum->nr_waits : nr;
}

struct cell thread_sum_percent(const struct thread_sum *sum, enum host_part part)
{
	return percent(sum->per_s[part], sum->nr[part] ? 1 : 0);
}

/* For a host of a fleet, which has one key for all vCPUs: at most the time that they wait. */
static struct cell throttled_percent(const struct cell *wait, const struct thread_sum *sum)
{
	double ns_per_s = sum->per_s[HOST_THROTTLED];

	if (sum->has_sums && wait->type == CELL_PERCENT && sum->wait_per_s > 0)
		return (struct cell){
			.type = CELL_PERCENT,
			.whole = wait->whole,
			.number = wait->number * ns_per_s / sum->wait_per_s,
		};
	return percent(ns_per_s, thread_sum_throttled_of(sum));
}

/* Where exits have no times, or another source than the wait has them, it is of the interval. */
static void fill_threads(struct cell *cells, const struct thread_sum *sum)
{
	if (cells[OWNER_WAIT].type == CELL_NONE)
		cells[OWNER_WAIT] = percent(sum->wait_per_s, sum->nr_waits);
	cells[OWNER_CPU_TIME] = thread_sum_percent(sum, HOST_RUN);
	cells[OWNER_THROTTLED] = throttled_percent(&cells[OWNER_WAIT], sum);
	if (sum->nr[HOST_MIGRATIONS])
		cells[OWNER_MIGRATIONS] = (struct cell){
			.type = CELL_RATE,
			.number = sum->per_s[HOST_MIGRATIONS],
		};
}

/* The columns of the parts of time. */
static const int columns[TIME_PARTS] = {
	[TIME_GUEST] = OWNER_GUEST, [TIME_KVM] = OWNER_KVM,   [TIME_USER] = OWNER_USER,
	[TIME_HALT] = OWNER_HALT,   [TIME_WAIT] = OWNER_WAIT, [TIME_POLL] = OWNER_POLL,
	[TIME_L2] = OWNER_L2,
};

static void fill_split(struct cell *cells, const struct time_split *split)
{
	for (int part = TIME_GUEST; part < TIME_PARTS; part++)
		cells[columns[part]] = time_split_percent(split, (enum time_part)part);
	cells[OWNER_SLEEP] = time_split_sleep(split);
}

void owners_total(struct owners *owners, uint32_t guest)
{
	owners->total = 0;
	for (size_t i = 0; i < owners->nr; i++) {
		if (guest == GUEST_ANY || owners->list[i].guest == guest)
			owners->total += owners->list[i].exits.total;
	}
}

/* A field's rank as a counter of exits, or its parent's. */
static uint8_t rank_of(const struct facts *facts, const struct field *field)
{
	if (field->parent != FIELD_NONE)
		field = fields_get(facts->fields, field->parent);
	return field->exit_rank;
}

void owners_count_each(struct owners *owners, const struct query *query, const struct facts *facts,
		       const struct field_set *exits)
{
	/* An event of a lower rank than the best that happened never happens here. */
	uint8_t least_rank = exits_choose(facts, false, true).rank;
	bool is_none = true; /* nothing was counted yet, so no counter could be chosen */

	for (uint32_t i = 0; is_none && i < fields_count(facts->fields); i++)
		is_none = !field_set_has(exits, i);
	/* Of a fleet only the exits that there were are known. */
	if (facts->source == SOURCE_PROMETHEUS)
		return;
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);
		bool is_chosen = is_none ? !query->filter : field_set_has(exits, i);

		if (field->use != USE_EXIT || field->is_abandoned || !is_chosen ||
		    !stats_time_ns(facts->stats, field->source) ||
		    rank_of(facts, field) < least_rank)
			continue;
		owners->counts_each = true;
		owners->has_rates |= stats_elapsed_ns(facts->stats, field->source) > 0;
	}
}

/* Of a guest that runs and made no exits. */
static void fill_no_exits(struct cell *cells, const struct owners *owners)
{
	cells[OWNER_TOTAL] = cells[OWNER_DELTA] = cell_count(0);
	cells[OWNER_SHARE] = cell_percent(0, owners->total);
	if (owners->has_rates)
		cells[OWNER_RATE] = (struct cell){ .type = CELL_RATE };
}

static void fill_exits(struct cell *cells, const struct owner *owner, uint64_t whole)
{
	if (!owner->exits.nr)
		return;
	cells[OWNER_TOTAL] = cell_count(owner->exits.total);
	cells[OWNER_SHARE] = cell_percent(owner->exits.total, whole);
	cells[OWNER_DELTA] = cell_count(owner->exits.delta);
	cells[OWNER_RATE] = cell_rate(&owner->exits);
	cells[OWNER_HISTORY] = cell_spark(&owner->exits);
}

static void fill_top(struct cell *cells, struct owner *owner, const struct fields *fields)
{
	const uint64_t *ns = owner->split.ns;
	uint64_t polled_ns = ns[TIME_POLL], slept_ns = time_slept_ns(ns);
	uint64_t awake_ns = ns[TIME_WHOLE] > slept_ns ? ns[TIME_WHOLE] - slept_ns : 0;

	if (owner->halt.is_known && polled_ns)
		owner_add_reason(owner, owner->halt.field, polled_ns, 0);
	if (!owner->top_ns && !owner->top_count)
		return;
	cells[OWNER_TOP] = cell_text(fields_get(fields, owner->top)->label);
	if (owner->top_ns)
		cells[OWNER_TOP_SHARE] = cell_percent(owner->top_ns, awake_ns);
	else
		cells[OWNER_TOP_SHARE] = cell_percent(owner->top_count, owner->all_count);
}

struct view_row *owners_add_row(struct view *view, const struct owners *owners,
				struct owner *owner, const struct fields *fields)
{
	struct view_row *row = view_add(view);

	if (!row)
		return NULL;
	row->guest = owner->guest;
	row->vcpu = owner->vcpu;
	row->is_gone = !owner->of || owner->has_ended;
	row->is_rest = owner->guest == STATS_ENDED;
	row->cells[0] = cell_guest(owner->of);
	row->cells[0].has_ended = owner->of && row->is_gone;
	if (row->is_gone)
		row->cells[OWNER_ENDED] = cell_count(1);
	if (owners->counts_each && !row->is_gone && !owner->exits.nr)
		fill_no_exits(row->cells, owners);
	fill_exits(row->cells, owner, owners->total);
	fill_split(row->cells, &owner->split);
	if (!row->is_gone)
		fill_threads(row->cells, &owner->threads);
	if (owner->split.has & 1u << TIME_WHOLE)
		row->cells[OWNER_TIME] = cell_ns(owner->split.ns[TIME_WHOLE]);
	row->cells[OWNER_SPLIT] = time_split_cell(&owner->split);
	fill_top(row->cells, owner, fields);
	if (owner->open_ns)
		row->cells[OWNER_OPEN] = cell_ns(owner->open_ns);
	return row;
}

/* The parts of time that have fields, as bits. */
static uint32_t parts_of(const struct fields *fields)
{
	uint32_t parts = 0;

	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_TIME)
			parts |= 1u << field->part;
	}
	return parts;
}

/* Whether there are fields of this part of what the host says. */
static bool has_part(const struct fields *fields, enum host_part part)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_HOST && field->part == part)
			return true;
	}
	return false;
}

void view_absent_without(struct view *view, const struct facts *facts, enum host_part part,
			 size_t column)
{
	view->absent |= (uint32_t)!has_part(facts->fields, part) << column;
}

/*
 * What halts are shown as: sleep and polling, or, where it is not known what was polled, as a
 * whole. In a fleet it may be known of some hosts.
 */
static uint32_t absent_halts(const struct view *view, bool is_polled)
{
	const uint32_t whole = 1u << OWNER_HALT, split = 1u << OWNER_POLL | 1u << OWNER_SLEEP;
	size_t nr_whole = 0, nr_split = 0;

	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct cell *cells = view->rows[i].cells;

		nr_split += cells[OWNER_POLL].type == CELL_PERCENT;
		nr_whole += cells[OWNER_HALT].type == CELL_PERCENT &&
			    cells[OWNER_POLL].type == CELL_NONE;
	}
	if (!is_polled)
		return split;
	return !nr_whole ? whole : nr_split ? 0 : split;
}

void owners_absent(struct view *view, const struct facts *facts)
{
	/* Where kvm_exit never fires, the fields exist but have no times. */
	bool is_timed = exits_choose(facts, true, true).rank != 2;
	uint32_t known = parts_of(facts->fields), parts = is_timed ? known : 0;

	view_absent_without(view, facts, HOST_RUN, OWNER_CPU_TIME);
	view_absent_without(view, facts, HOST_THROTTLED, OWNER_THROTTLED);
	view_absent_without(view, facts, HOST_MIGRATIONS, OWNER_MIGRATIONS);
	view->absent |= (~known >> TIME_WAIT & 1) << OWNER_WAIT;
	view_absent_unless_any(view, OWNER_OPEN);
	if (!fields_have_exits(facts->fields)) {
		for (int i = OWNER_GUEST; i <= OWNER_TOP_SHARE; i++) {
			if (i < OWNER_WAIT || i > OWNER_MIGRATIONS)
				view->absent |= 1u << i;
		}
		return;
	}
	for (int part = TIME_GUEST; part < TIME_PARTS; part++) {
		if (part != TIME_WAIT && part != TIME_POLL)
			view->absent |= (~parts >> part & 1) << columns[part];
	}
	view->absent |= absent_halts(view, parts >> TIME_POLL & 1);
	if (!is_timed)
		view->absent |= 1u << OWNER_SPLIT;
	if (view->nr_rows && parts && !(parts >> TIME_USER & 1))
		view->note = "Exits to user space were not recorded: KVM's time includes user "
			     "space's.";
}
