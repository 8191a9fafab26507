// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses among the counters of exits. */
#include "exits.h"

/* The lower the better: one that counted anything, then by rank, then the provider listed first. */
static uint32_t score(const struct field *field, const struct stats_item *stat)
{
	bool has_counted = stat->total || stat->delta;

	return (uint32_t)!has_counted << 16 | (uint32_t)field->exit_rank << 8 | field->source;
}

struct exits exits_choose(const struct facts *facts, bool by_guest)
{
	struct exits best = { 0 };
	uint32_t best_score = UINT32_MAX;

	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);

		if (!field->exit_rank || (by_guest && stat->key.guest == GUEST_ANY))
			continue;
		if (score(field, stat) < best_score) {
			best_score = score(field, stat);
			best = (struct exits){ field->source, field->exit_rank };
		}
	}
	return best;
}

bool exits_has(const struct exits *exits, const struct field *field)
{
	return exits->rank && field->exit_rank == exits->rank && field->source == exits->source;
}

const char *exits_sum(const struct facts *facts, struct stat_sum *ret_sum)
{
	struct exits exits = exits_choose(facts, false);
	const char *name = NULL;

	*ret_sum = (struct stat_sum){ 0 };
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);

		if (!exits_has(&exits, field))
			continue;
		name = field->name;
		stat_sum_add(ret_sum, stat, field->kind, stats_tick(facts->stats));
	}
	return name;
}
