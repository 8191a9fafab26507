// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses among the counters of exits, and says in short what the host does. */
#include <errno.h>
#include <stdlib.h>

#include "facts/exit_counter.h"
#include "views/timed.h"

/* The lower the better: one that counted anything, then by rank, then the provider listed first. */
static uint32_t score(const struct field *field, bool has_counted)
{
	return (uint32_t)!has_counted << 16 | (uint32_t)field->exit_rank << 8 | field->source;
}

static bool is_counter(const struct field *field, bool is_timed)
{
	return field->exit_rank && field->parent == FIELD_NONE &&
	       (!is_timed || field->use == USE_EXIT);
}

/* What a counter can score at best: having found that, there is no need to look on. */
static uint32_t best_possible(const struct facts *facts, bool is_timed)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (!is_counter(field, is_timed) || !field_set_has(facts->wanted, i))
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
		this_score = score(field, stat->total || stat->delta);
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

const char *exits_note(const struct exits *exits)
{
	if (exits->rank != 2)
		return NULL;
	return "KVM traces no exits of these guests (kvm_exit never fires): these are the exits to "
	       "user space.";
}

/* Whether it is a reason of the exits chosen, and one that costs anything. */
static bool is_cost(const struct facts *facts, const struct exits *exits, const struct field *field)
{
	return field->use == USE_EXIT && field->parent != FIELD_NONE && !field->is_idle &&
	       exits_has(exits, fields_get(facts->fields, field->parent));
}

/* One pass over all keys: counts, parts of time, and the costs by guest and reason. */
static int add_up(const struct facts *facts, uint32_t guest, struct exits_summary *summary,
		  struct pairs *costs)
{
	struct exits exits = exits_choose(facts, false, false);

	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct pair *cost;

		if (guest != GUEST_ANY && stat->key.guest != guest)
			continue;
		if (exits_has(&exits, field)) {
			summary->name = field->name;
			stat_sum_add(&summary->sum, stat, field->kind, stats_tick(facts->stats));
		} else if (field->use == USE_TIME) {
			summary->part_ns[field->part] += stat->delta;
			summary->has_parts |= field->part == TIME_GUEST && stat->has_rate;
			summary->has_user |= field->part == TIME_USER;
		} else if (stat->delta && stat->timing && is_cost(facts, &exits, field)) {
			cost = pairs_get(costs, stat->key.guest, stat->key.field);
			if (!cost)
				return -ENOMEM;
			cost->count += stat->delta;
			cost->ns += stat->timing->delta_ns;
		}
	}
	return 0;
}

/* What each guest's exits cost. */
static int sum_guests(const struct pairs *costs, struct pairs *ret_guests)
{
	for (size_t i = 0; i < costs->nr_slots; i++) {
		const struct pair *cost = &costs->slots[i];
		struct pair *guest;

		if (cost->field == FIELD_NONE)
			continue;
		guest = pairs_get(ret_guests, cost->guest, 0);
		if (!guest)
			return -ENOMEM;
		guest->ns += cost->ns;
	}
	return 0;
}

/* The costliest of all, or of one guest; NULL: there is none. */
static const struct pair *costliest(const struct pairs *pairs, uint32_t guest)
{
	const struct pair *best = NULL;

	for (size_t i = 0; i < pairs->nr_slots; i++) {
		const struct pair *pair = &pairs->slots[i];

		if (pair->field != FIELD_NONE && (guest == GUEST_ANY || pair->guest == guest) &&
		    (!best || pair->ns > best->ns))
			best = pair;
	}
	return best;
}

static void take_hottest(const struct facts *facts, struct exits_summary *summary,
			 const struct pair *hottest)
{
	uint32_t source = fields_get(facts->fields, hottest->field)->source;
	uint64_t elapsed_ns = stats_elapsed_ns(facts->stats, source);

	summary->guest = hottest->guest;
	summary->reason = hottest->field;
	if (elapsed_ns)
		summary->rate_per_s = (double)hottest->count * 1e9 / (double)elapsed_ns;
}

int exits_summarize(const struct facts *facts, uint32_t guest, struct exits_summary *ret_summary)
{
	struct exits_summary summary = { .reason = FIELD_NONE };
	struct pairs costs = { 0 }, guests = { 0 };
	int err = add_up(facts, guest, &summary, &costs);

	if (!err)
		err = sum_guests(&costs, &guests);
	if (!err && guests.nr)
		take_hottest(facts, &summary,
			     costliest(&costs, costliest(&guests, GUEST_ANY)->guest));
	pairs_release(&costs);
	pairs_release(&guests);
	if (!err)
		*ret_summary = summary;
	return err;
}
