// SPDX-License-Identifier: GPL-2.0-or-later
/* What the views of guests, hosts, vCPUs and host CPUs show of an owner. */
#include "core/views/fill.h"
#include "core/views/view.h"

/* ---- which exits */

/*
 * A filter that names all exits, as "exit" does, counts them all; a filter that names reasons
 * counts these reasons. The costliest reason is one that the filter names. A query for one reason
 * counts only that reason.
 */
static void choose_field(struct rollup *sums, const struct query *query,
			 const struct fields *fields, const struct exits *exits, uint32_t id)
{
	const struct field *field = fields_get(fields, id), *parent = field;
	bool is_reason = field->parent != FIELD_NONE;

	if (is_reason)
		parent = fields_get(fields, field->parent);
	if (query->has_reason && id != query->reason)
		return;
	if (field->use != USE_EXIT || !exits_has(exits, parent))
		return;
	if (!is_reason) {
		if (query_names(query, field))
			field_set_add(&sums->counted, id);
		return;
	}
	if (!query_selects(query, fields, field))
		return;
	if (query->has_reason || !query_names(query, parent))
		field_set_add(&sums->counted, id);
	field_set_add(&sums->reasons, id);
}

void owners_choose_exits(struct rollup *sums, const struct query *query,
			 const struct facts *facts)
{
	struct exits exits = query_exits(query, facts, true);

	for (uint32_t i = 0; i < fields_count(facts->fields); i++)
		choose_field(sums, query, facts->fields, &exits, i);
}

/* A counter of KVM's with a key for each vCPU. */
static bool is_vcpu_counter(const struct field *field)
{
	return field_is_by_vcpu(field) && field->kind == FIELD_COUNTER &&
	       field->parent == FIELD_NONE;
}

bool vcpus_want(const struct query *query, const struct field *field)
{
	return field->use == USE_EXIT ||
	       (is_vcpu_counter(field) && (query->filter || field->exit_rank));
}

bool vcpus_show_counters(const struct query *query, const struct fields *fields)
{
	bool has_counters = false;

	if (query->has_reason)
		return false;
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_EXIT && !field->is_abandoned &&
		    query_selects(query, fields, field))
			return false;
		has_counters |= is_vcpu_counter(field) && !field->is_abandoned &&
				query_names(query, field);
	}
	return has_counters;
}

void vcpus_choose_exits(struct rollup *sums, const struct query *query, const struct facts *facts)
{
	bool has_counters = vcpus_show_counters(query, facts->fields);

	owners_choose_exits(sums, query, facts);
	for (uint32_t i = 0; has_counters && i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (is_vcpu_counter(field) && vcpus_want(query, field) &&
		    query_names(query, field))
			field_set_add(&sums->counted, i);
	}
}

/* ---- of an owner: where its time went, and the host's numbers */

/* A part of an owner's time, in percent of the whole; absent when it was not measured. */
static struct cell owner_share(const struct owner *owner, enum time_part part)
{
	/* Shares are of whole intervals: the first sample, without a rate, ends none. */
	if (!owner->time[part].nr_rates)
		return cell_none();
	return cell_percent(owner->time[part].delta, owner->time[TIME_WHOLE].delta);
}

/* Where exits to user space are not known, their time is KVM's. */
static struct cell exit_cost(const struct owner *owner)
{
	const struct sum *time = owner->time;

	if (!time[TIME_KVM].nr_rates)
		return cell_none();
	return cell_percent(time[TIME_KVM].delta + time[TIME_USER].delta, time[TIME_WHOLE].delta);
}

static struct cell split_of(struct owner *owner)
{
	const struct sum *time = owner->time;
	const uint64_t ns[SPLIT_PARTS] = {
		[SPLIT_GUEST] = time[TIME_GUEST].delta,
		[SPLIT_KVM] = time[TIME_KVM].delta,
		[SPLIT_USER] = time[TIME_USER].delta,
		[SPLIT_POLL] = time[TIME_POLL].delta,
		[SPLIT_BLOCK] = time[TIME_BLOCK].delta,
		[SPLIT_WAIT] = time[TIME_WAIT].delta,
		[SPLIT_IDLE] = time[TIME_IDLE].delta,
	};

	if (!time[TIME_GUEST].nr_rates || !time[TIME_WHOLE].delta)
		return cell_none();
	for (int i = 0; i < SPLIT_PARTS; i++)
		owner->shares[i] = (double)ns[i] / (double)time[TIME_WHOLE].delta;
	return (struct cell){ .type = CELL_SPLIT, .split = owner->shares };
}

static struct cell percent(double part, double whole, bool is_known)
{
	if (!is_known || whole <= 0)
		return cell_none();
	return (struct cell){
		.type = CELL_PERCENT, .whole = (float)whole, .number = part * 100 / whole,
	};
}

/* In percent of one host CPU. */
static struct cell of_one_cpu(const struct sum *part)
{
	return percent(part->rate_per_s, 1e9, part->nr_rates);
}

static struct cell of_thousandths(const struct sum *part)
{
	return part->nr ? cell_percent(part->total, 1000) : cell_none();
}

/* Where exits have no times, the scheduler's sum of the threads, as a share of the interval. */
static struct cell wait_share(const struct owner *owner, bool is_gone)
{
	const struct sum *waited = &owner->host[HOST_WAITED];

	if (owner->time[TIME_GUEST].nr_rates && owner->time[TIME_WAIT].nr_rates)
		return owner_share(owner, TIME_WAIT);
	if (is_gone)
		return cell_none();
	return percent(waited->rate_per_s, 1e9 * waited->nr_rates, waited->nr_rates);
}

/* The number of vCPUs for the average of throttled time; vCPUs without a quota count, too. */
static uint32_t throttled_vcpus(const struct owner *owner)
{
	uint32_t nr = owner->host[HOST_THROTTLED].nr_rates;

	return nr && owner->host[HOST_WAITED].nr_rates > nr ? owner->host[HOST_WAITED].nr_rates :
							      nr;
}

/* For a host of a fleet, which has one key for all vCPUs: at most the time that they wait. */
static struct cell throttled_share(const struct owner *owner)
{
	double ns_per_s = owner->host[HOST_THROTTLED].rate_per_s;
	double wait_per_s = owner->host[HOST_WAITED].rate_per_s;
	struct cell wait = wait_share(owner, false);

	if (owner->has_throttled_sums && wait.type == CELL_PERCENT && wait_per_s > 0) {
		wait.number = wait.number * ns_per_s / wait_per_s;
		return wait;
	}
	return percent(ns_per_s, 1e9 * throttled_vcpus(owner), throttled_vcpus(owner));
}

static struct cell top_share(const struct owner *owner)
{
	if (owner->top_ns)
		return cell_percent(owner->top_ns, owner->time[TIME_WHOLE].delta);
	return cell_percent(owner->top_count, owner->all_count);
}

static struct cell exits_of(enum column_id id, const struct row_of *of, bool is_gone)
{
	const struct sum *exits = &of->owner->exits;

	if (!exits->nr && (is_gone || !of->is_zero))
		return cell_none();
	switch (id) {
	case COL_TOTAL:
		return cell_count(exits->total);
	case COL_SHARE:
		return cell_percent(exits->total, of->total);
	case COL_DELTA:
		return cell_count(exits->delta);
	case COL_RATE:
		return !exits->nr && of->has_zero_rate ? (struct cell){ .type = CELL_RATE } :
							 cell_rate(exits);
	default:
		return cell_spark(exits, of->owner->history);
	}
}

/*
 * The host's numbers, and KVM's counters, by the column's type: a rate, a share of one host CPU, or
 * a level.
 */
static struct cell cell_of_host(const struct column_entry *column, const struct owner *owner)
{
	const struct sum *part = column->needs == NEEDS_EVENT ?
					      &owner->events[column->part] :
					      &owner->host[column->part];

	if (column->needs != NEEDS_HOST && column->needs != NEEDS_EVENT)
		return cell_none();
	switch (column->type) {
	case CELL_RATE:
		return cell_rate(part);
	case CELL_PERCENT:
		return of_one_cpu(part);
	default:
		return part->nr ? cell_count(part->total) : cell_none();
	}
}

_Static_assert(COL_POD - COL_UUID == WORD_POD - WORD_UUID, "a column for each word");

/* One of the words that a platform has for the guest. */
static struct cell word_of(const struct guest *guest, enum guest_word word)
{
	return guest && guest->words.text[word][0] ? cell_text(guest->words.text[word]) :
						     cell_none();
}

struct cell cell_of_owner(enum column_id id, const struct row_of *of, bool is_gone)
{
	static const enum time_part parts[COLUMNS] = {
		[COL_IN_GUEST] = TIME_GUEST, [COL_IN_L2] = TIME_L2, [COL_IN_KVM] = TIME_KVM,
		[COL_IN_USER] = TIME_USER, [COL_IN_IDLE] = TIME_IDLE, [COL_IN_POLL] = TIME_POLL,
		[COL_IN_BLOCK] = TIME_BLOCK, [COL_BLOCK_USER] = TIME_BLOCK_USER,
	};
	struct owner *owner = of->owner;
	const struct sum *host = owner->host;

	if (parts[id])
		return owner_share(owner, parts[id]);
	switch (id) {
	case COL_TOTAL:
	case COL_SHARE:
	case COL_DELTA:
	case COL_RATE:
	case COL_HISTORY:
		return exits_of(id, of, is_gone);
	case COL_IN_WAIT:
		return wait_share(owner, is_gone);
	case COL_VCPU_TIME:
		return owner->time[TIME_WHOLE].nr_rates ? cell_ns(owner->time[TIME_WHOLE].delta) :
							  cell_none();
	case COL_EXIT_COST:
		return exit_cost(owner);
	case COL_SPLIT:
		return split_of(owner);
	case COL_TOP:
		return owner->top_ns || owner->top_count ?
			       cell_text(fields_get(of->facts->fields, owner->top)->label) :
			       cell_none();
	case COL_TOP_SHARE:
		return top_share(owner);
	case COL_OPEN:
		return owner->open_ns ? cell_ns(owner->open_ns) : cell_none();
	case COL_VCPUS:
		return of->guest ? cell_count(of->guest->nr_vcpus) : cell_none();
	case COL_UUID ... COL_POD:
		return word_of(of->guest, (enum guest_word)(id - COL_UUID));
	case COL_VMM:
		return of->guest && of->guest->vmm[0] ? cell_text(of->guest->vmm) : cell_none();
	default:
		break;
	}
	if (is_gone)
		return cell_none();
	switch (id) {
	case COL_THROTTLED:
		return throttled_share(owner);
	case COL_ON_CPU:
		if (host[HOST_CPU].nr)
			return cell_count(host[HOST_CPU].total);
		return owner->has_exit_cpu ? cell_count(owner->exit_cpu) : cell_none();
	case COL_HUGE:
		return cell_percent(owner_pages_kib(owner, EVENT_PAGES_2M),
				    owner_pages_kib(owner, EVENT_PAGES_4K));
	case COL_REMOTE:
	case COL_SWAPPED:
		return of_thousandths(&host[column_dictionary[id].part]);
	default:
		return cell_of_host(&column_dictionary[id], owner);
	}
}

/* ---- of a host CPU, with the vCPUs that are on it */

static struct cell number(const struct sum *part)
{
	return part->is_now ? cell_count(part->total) : cell_none();
}

/*
 * The kernel counts a throttled thread as one that waits for a CPU, but such a thread would not get
 * this CPU even if it were free. A CPU without vCPUs is wanted by none: 0.
 */
struct cell cell_of_cpu(enum column_id id, const struct owner *cpu)
{
	const struct sum *host = cpu->host;
	double run = host[HOST_RUN].rate_per_s, throttled = host[HOST_THROTTLED].rate_per_s;
	double all = host[HOST_WAITED].rate_per_s, wait = all > throttled ? all - throttled : 0;
	bool has_wait = host[HOST_WAITED].nr_rates;
	bool is_free = !host[HOST_CPU].nr && host[HOST_BUSY].nr_rates;

	switch (id) {
	case COL_CPU:
		return cell_count((uint64_t)cpu->key.vcpu);
	case COL_NODE:
		return number(&host[HOST_NODE]);
	case COL_CORE:
		return number(&host[HOST_CORE]);
	case COL_SIBLING:
		return number(&host[HOST_SIBLING]);
	case COL_BUSY:
		return of_one_cpu(&host[HOST_BUSY]);
	case COL_CPU_VCPUS:
		return cell_count(host[HOST_CPU].nr);
	case COL_VCPU_BUSY: /* a vCPU that came from another CPU has run on both */
		return percent(run < 1e9 ? run : 1e9, 1e9, host[HOST_RUN].nr_rates || is_free);
	case COL_WANT:
		return percent(run + wait, 1e9, has_wait || is_free);
	case COL_IN_WAIT:
		return wait_share(cpu, false);
	case COL_THROTTLED:
		return throttled_share(cpu);
	case COL_RATE:
		return cell_rate(&cpu->exits);
	case COL_IN_KVM:
		return owner_share(cpu, TIME_KVM);
	default:
		return cell_none();
	}
}

/* ---- rows */

/* A field's rank as a counter of exits, or its parent's. */
static uint8_t rank_of(const struct facts *facts, const struct field *field)
{
	if (field->parent != FIELD_NONE)
		field = fields_get(facts->fields, field->parent);
	return field->exit_rank;
}

void owners_look_for_zeros(const struct rollup *sums, const struct query *query,
			   const struct facts *facts, struct row_of *of)
{
	/* Counters of a lower rank than the best one that has counted stay 0 on this host. */
	uint8_t least_rank = exits_choose(facts, false, true).rank;
	bool is_none = true; /* nothing was counted yet, so no counter could be chosen */

	for (uint32_t i = 0; is_none && i < fields_count(facts->fields); i++)
		is_none = !field_set_has(&sums->counted, i);
	/* A Prometheus has only the exits that happened. */
	if (facts->source == SOURCE_PROMETHEUS)
		return;
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);
		bool is_chosen = is_none ? !query->filter : field_set_has(&sums->counted, i);

		if (field->use != USE_EXIT || field->is_abandoned || !is_chosen ||
		    !stats_time_ns(facts->stats, field->source) ||
		    rank_of(facts, field) < least_rank)
			continue;
		of->is_zero = true;
		of->has_zero_rate |= facts->stats->elapsed_ns[field->source] > 0;
	}
}

struct view_row *owners_add_row(struct view *view, struct owner *owner, const struct row_of *of)
{
	struct row_of this = *of;

	this.owner = owner;
	this.guest = guests_find(of->facts->guests, owner->key.guest);
	return fill_row(view, &this);
}

/* Whether a filter selects what the column has, or the column names the row. */
static bool is_filtered(const struct column *column)
{
	const struct column_entry *entry = &column_dictionary[column->id];

	switch (entry->needs) {
	case NEEDS_NOTHING:
		return true;
	case NEEDS_EXITS:
		return column->id != COL_VCPU_TIME;
	case NEEDS_VALUE:
		return entry->type == CELL_TEXT || entry->type == CELL_COUNT;
	default:
		return column->id == COL_GUESTS;
	}
}

/* Numbers of some exits beside numbers of all would look as if they were of the same. */
static void drop_unfiltered(struct view *view)
{
	for (size_t i = 0; view->type->columns[i].id; i++) {
		const struct column *column = &view->type->columns[i];
		bool is_empty = column_dictionary[column->id].needs;

		for (size_t at = 0; at < view->nr_rows; at++) {
			struct cell *cell = &view->rows[at].cells[i];

			if (!is_filtered(column))
				*cell = cell_none();
			is_empty &= cell->type == CELL_NONE;
		}
		if (is_empty)
			view_drop(view, column->id);
	}
}

void owners_finish(struct view *view, const struct query *query, const struct facts *facts)
{
	if (query->filter)
		drop_unfiltered(view);
	if (view->nr_rows && view_has(view, COL_IN_GUEST) && !view_has(view, COL_IN_BLOCK))
		view->note = TIMES_WITH_WAITS;
	if (view->nr_rows && facts_lack(facts, NEED_TIMES))
		view->note = facts_lack(facts, NEED_TIMES);
	if (view->nr_rows && view_has(view, COL_IN_GUEST) && !view_has(view, COL_IN_USER))
		view->note = "Exits to user space were not recorded: KVM's time includes user "
			     "space's.";
}

/* ---- a summary */

/* Chooses the counter of exits, and its reasons. */
static const char *choose(struct rollup *sums, const struct facts *facts)
{
	struct exits exits = exits_choose(facts, false, false);
	const char *name = NULL;

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (exits_has(&exits, field)) {
			field_set_add(&sums->counted, i);
			name = field->name;
		}
	}
	rollup_choose_reasons(sums, facts, exits);
	return name;
}

static const struct owner *costliest(const struct rollup *sums)
{
	const struct owner *best = NULL;

	for (size_t i = 0; i < sums->nr_owners; i++) {
		const struct owner *owner = &sums->owners[i];

		if ((owner->top_ns || owner->top_count) &&
		    (!best || owner->all_ns > best->all_ns))
			best = owner;
	}
	return best;
}

struct exits_summary exits_summarize(const struct facts *facts, uint32_t guest)
{
	struct exits_summary summary = { .reason = FIELD_NONE };
	struct rollup sums = { .by = 0 };
	const struct owner *hottest;
	uint64_t elapsed_ns;
	uint32_t source;

	rollup_begin(&sums, GROUP_GUEST);
	sums.keys.guest = guest;
	summary.name = choose(&sums, facts);
	rollup_owners(&sums, facts);
	for (size_t i = 0; i < sums.nr_owners; i++)
		owner_join(&summary.all, &sums.owners[i]);
	if (!summary.all.exits.nr)
		summary.name = NULL;
	hottest = costliest(&sums);
	if (hottest) {
		summary.guest = hottest->key.guest;
		summary.reason = hottest->top;
		source = fields_get(facts->fields, hottest->top)->source;
		elapsed_ns = facts->stats->elapsed_ns[source];
		if (elapsed_ns)
			summary.rate_per_s = (double)hottest->top_count * 1e9 / (double)elapsed_ns;
	}
	rollup_release(&sums);
	return summary;
}
