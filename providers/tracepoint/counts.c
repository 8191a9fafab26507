// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums by guest, as rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "lib/number.h"
#include "lib/xalloc.h"
#include "providers/tracepoint/engine.h"

struct guest_counts *counts_find(const struct counts *counts, uint32_t guest)
{
	struct guest_counts *counted = counts->first;

	while (counted && counted->guest != guest)
		counted = counted->next;
	return counted;
}

static void counts_drop(struct counts *counts, struct guest_counts *counted)
{
	LL_DELETE(counts->first, counted);
	free(counted->retired);
	free(counted->now);
	free(counted->was_sampled);
	free(counted->is_counted);
	free(counted);
}

struct guest_counts *counts_get(struct counts *counts, uint32_t guest, bool was_sampled)
{
	struct guest_counts *counted = counts_find(counts, guest);
	size_t n = counts->nr_counters;

	if (counted)
		return counted;
	counted = xcalloc(1, sizeof(*counted));
	counted->guest = guest;
	counted->retired = xcalloc(n, sizeof(*counted->retired));
	counted->now = xcalloc(n, sizeof(*counted->now));
	counted->was_sampled = xcalloc(n, sizeof(*counted->was_sampled));
	memset(counted->was_sampled, was_sampled, n * sizeof(*counted->was_sampled));
	counted->is_counted = xcalloc(n, sizeof(*counted->is_counted));
	LL_PREPEND(counts->first, counted);
	return counted;
}

void counts_release(struct counts *counts)
{
	while (counts->first)
		counts_drop(counts, counts->first);
}

/* Events that are still open keep their counts, so the next row does not count from zero. */
void counts_begin(struct counts *counts, uint32_t counter, bool is_running)
{
	for (struct guest_counts *counted = counts->first; counted; counted = counted->next) {
		counted->retired[counter] = 0;
		counted->is_counted[counter] = false;
		counted->was_sampled[counter] = is_running;
	}
}

void counts_clear_now(struct counts *counts)
{
	for (struct guest_counts *counted = counts->first; counted; counted = counted->next)
		memset(counted->now, 0, counts->nr_counters * sizeof(*counted->now));
}

static bool has_guest(const struct target *targets, size_t nr, uint32_t guest)
{
	for (size_t i = 0; i < nr; i++) {
		if (targets[i].guest == guest)
			return true;
	}
	return false;
}

void counts_end(struct counts *counts, const struct target *targets, size_t nr, uint32_t keep,
		bool is_new_want)
{
	struct guest_counts *counted, *next;

	LL_FOREACH_SAFE(counts->first, counted, next) {
		counted->is_ending = counted->guest != keep &&
				     !has_guest(targets, nr, counted->guest);
		if (counted->is_ending && is_new_want)
			counts_drop(counts, counted);
	}
}

static void guest_counts_emit(const struct counts *counts, struct guest_counts *counted,
			      const bool *is_wanted, const int *failed, struct sample *sample)
{
	for (uint32_t i = 0; i < counts->nr_counters; i++) {
		struct key key = { counted->guest, -1, counts->counters[i].field };
		uint32_t flags = counted->was_sampled[i] ? 0 : ROW_FROM_ZERO;

		if (!is_wanted[i] || !counted->is_counted[i] ||
		    (failed && failed[i] && !counted->was_sampled[i]))
			continue;
		sample_add(sample, key, counted->retired[i] + counted->now[i], flags);
		counted->was_sampled[i] = true;
	}
}

void counts_emit(struct counts *counts, const bool *is_wanted, const int *failed,
		 struct sample *sample)
{
	struct guest_counts *counted, *next;

	LL_FOREACH_SAFE(counts->first, counted, next) {
		guest_counts_emit(counts, counted, is_wanted, failed, sample);
		if (counted->is_ending)
			counts_drop(counts, counted);
	}
}

int target_compare(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return compared(x->is_thread, y->is_thread) ?: compared(x->id, y->id);
}
