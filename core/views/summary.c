// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up what the exits of a host cost. */
#include "core/views/summary.h"

/* What counts exits, and the reasons that have a time; of halts only what was polled is a cost. */
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
		if (field->use == USE_EXIT && field->parent != FIELD_NONE &&
		    exits_has(&exits, fields_get(facts->fields, field->parent)))
			field_set_add(&sums->reasons, i);
	}
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
	rollup(&sums, facts);
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
