// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the best counter of VM exits, and sums up what the exits of a host cost. */
#include <errno.h>

#include "core/facts/exit_counter.h"
#include "core/facts/key_sums.h"

/*
 * Lower is better: a counter that has counted, then a low rank, then one that times what it counts,
 * then an early provider.
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

	for (size_t i = 0; i < stats_count(facts->stats) && best_score != enough; i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		uint32_t this_score;

		if (!is_counter(field, is_timed) || (by_guest && stat->key.guest == GUEST_ANY))
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

const char *exits_note(const struct facts *facts)
{
	if (exits_choose(facts, false, true).rank != 2)
		return NULL;
	return "KVM does not trace the VM exits of these guests: the event kvm_exit never happens. "
	       "Their exits to user space are counted.";
}

void halt_reason_look(struct halt_reason *halt, const struct field *field,
		      const struct stats_item *stat)
{
	if (!field->is_idle || field->exit_rank != 1 || !stat->timing ||
	    (halt->is_known && stat->timing->total_ns <= halt->ns))
		return;
	*halt = (struct halt_reason){ true, stat->key.field, stat->timing->total_ns };
}

/* Whether the field is a reason of the chosen counter, and not a halt. */
static bool is_cost(const struct facts *facts, const struct exits *exits, const struct field *field)
{
	return field->use == USE_EXIT && field->parent != FIELD_NONE && !field->is_idle &&
	       exits_has(exits, fields_get(facts->fields, field->parent));
}

/* What is summed up in one pass over all keys. */
struct exit_costs {
	struct key_sums costs; /* by guest and reason, without halts */
	struct key_sums halts; /* by guest: how many, and what was polled in them */
	struct halt_reason halt;
};

static void add_halt(struct exit_costs *sums, uint32_t guest, uint64_t count, uint64_t polled_ns)
{
	struct key_sum *halts = key_sums_get(&sums->halts, &(struct key){ guest, -1, 0 });

	halts->count += count;
	halts->ns += polled_ns;
}

/* What was polled is the cost of halts. */
static void add_polled(struct exit_costs *sums)
{
	for (size_t i = 0; sums->halt.is_known && i < sums->halts.nr; i++) {
		const struct key_sum *halts = &sums->halts.list[i];
		struct key_sum *cost;

		if (!halts->ns)
			continue;
		cost = key_sums_get(&sums->costs,
				    &(struct key){ halts->key.guest, -1, sums->halt.field });
		cost->count = halts->count;
		cost->ns = halts->ns;
	}
}

/* One pass over all keys: counts, parts of time, and the costs by guest and reason. */
static void add_up(const struct facts *facts, uint32_t guest, struct exits_summary *summary,
		   struct exit_costs *sums)
{
	struct exits exits = exits_choose(facts, false, false);

	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct key key = { stat->key.guest, -1, stat->key.field };
		struct key_sum *cost;

		if (guest != GUEST_ANY && stat->key.guest != guest)
			continue;
		if (exits_has(&exits, field)) {
			summary->name = field->name;
			stat_sum_add(&summary->sum, stat, field->kind, stats_tick(facts->stats));
		} else if (field->use == USE_TIME) {
			summary->part_ns[field->part] += stat->delta;
			summary->has_parts |= field->part == TIME_GUEST && stat->has_rate;
			summary->has_user |= field->part == TIME_USER;
			summary->has_polls |= field->part == TIME_POLL;
			if (field->part == TIME_POLL && stat->delta)
				add_halt(sums, key.guest, 0, stat->delta);
		} else if (stat->delta && field->is_idle && field->use == USE_EXIT) {
			halt_reason_look(&sums->halt, field, stat);
			add_halt(sums, key.guest, stat->delta, 0);
		} else if (stat->timing && (stat->delta || stat->timing->delta_ns) &&
			   is_cost(facts, &exits, field)) {
			cost = key_sums_get(&sums->costs, &key);
			cost->count += stat->delta;
			cost->ns += stat->timing->delta_ns;
		}
	}
	add_polled(sums);
}

/* The cost of each guest's exits. */
static void sum_guests(const struct key_sums *costs, struct key_sums *ret_guests)
{
	for (size_t i = 0; i < costs->nr; i++) {
		const struct key_sum *cost = &costs->list[i];
		struct key_sum *guest =
			key_sums_get(ret_guests, &(struct key){ cost->key.guest, -1, 0 });

		guest->ns += cost->ns;
	}
}

static bool is_costlier(const struct key_sum *a, const struct key_sum *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	if (a->key.guest != b->key.guest)
		return a->key.guest < b->key.guest;
	return a->key.field < b->key.field;
}

/* The costliest reason of all guests, or of one guest; NULL: no exit had a cost. */
static const struct key_sum *costliest(const struct key_sums *sums, uint32_t guest)
{
	const struct key_sum *best = NULL;

	for (size_t i = 0; i < sums->nr; i++) {
		const struct key_sum *sum = &sums->list[i];

		if ((guest == GUEST_ANY || sum->key.guest == guest) &&
		    (!best || is_costlier(sum, best)))
			best = sum;
	}
	return best;
}

static void take_hottest(const struct facts *facts, struct exits_summary *summary,
			 const struct key_sum *hottest)
{
	uint32_t source = fields_get(facts->fields, hottest->key.field)->source;
	uint64_t elapsed_ns = stats_elapsed_ns(facts->stats, source);

	summary->guest = hottest->key.guest;
	summary->reason = hottest->key.field;
	if (elapsed_ns)
		summary->rate_per_s = (double)hottest->count * 1e9 / (double)elapsed_ns;
}

void exits_summarize(const struct facts *facts, uint32_t guest, struct exits_summary *ret_summary)
{
	struct exits_summary summary = { .reason = FIELD_NONE };
	struct key_sums guests = { 0 };
	struct exit_costs sums = { .halt = { false } };

	add_up(facts, guest, &summary, &sums);
	sum_guests(&sums.costs, &guests);
	if (guests.nr)
		take_hottest(facts, &summary,
			     costliest(&sums.costs, costliest(&guests, GUEST_ANY)->key.guest));
	key_sums_release(&sums.costs);
	key_sums_release(&sums.halts);
	key_sums_release(&guests);
	*ret_summary = summary;
}
