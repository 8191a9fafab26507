// SPDX-License-Identifier: GPL-2.0-or-later
/* A binary heap. */
#include "lib/array.h"
#include "trace/recording/perf/heap.h"

static bool is_before(const struct perf_entry *a, const struct perf_entry *b)
{
	if (a->sample.time != b->sample.time)
		return a->sample.time < b->sample.time;
	return a->order < b->order;
}

/* Puts an entry at the place i, or above it. */
static void put(struct perf_heap *heap, size_t i, const struct perf_entry *entry)
{
	for (; i > 0 && is_before(entry, &heap->list[(i - 1) / 2]); i = (i - 1) / 2)
		heap->list[i] = heap->list[(i - 1) / 2];
	heap->list[i] = *entry;
}

void perf_heap_push(struct perf_heap *heap, const struct perf_entry *entry)
{
	array_grow(&heap->list, &heap->room, heap->nr + 1);
	put(heap, heap->nr++, entry);
	if (entry->block)
		perf_block_hold(entry->block);
}

/* The last entry is a late one, as a rule: its place is looked for from the bottom. */
void perf_heap_pop(struct perf_heap *heap, struct perf_entry *ret_entry)
{
	const struct perf_entry last = heap->list[--heap->nr];
	size_t i = 0, child;

	*ret_entry = heap->list[0];
	for (; (child = 2 * i + 1) < heap->nr; i = child) {
		if (child + 1 < heap->nr && is_before(&heap->list[child + 1], &heap->list[child]))
			child++;
		heap->list[i] = heap->list[child];
	}
	put(heap, i, &last);
}
