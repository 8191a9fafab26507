// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of perf.data that wait in a heap, sorted by time, until no earlier one can come. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "trace/recording/perf/perf.h"

#define KEPT_MAX 1024 /* bytes of an entry's memory that is used again */

struct perf_entry *perf_waiting_new(struct perf_waiting *waiting)
{
	struct perf_entry *entry = waiting->free;

	if (!entry)
		return xcalloc(1, sizeof(*entry));
	waiting->free = entry->next;
	return entry;
}

void perf_waiting_drop(struct perf_waiting *waiting, struct perf_entry *entry)
{
	if (!entry)
		return;
	if (entry->room > KEPT_MAX) {
		free(entry->bytes);
		entry->bytes = NULL;
		entry->room = 0;
	}
	entry->next = waiting->free;
	waiting->free = entry;
}

static bool is_before(const struct perf_slot *a, const struct perf_slot *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

/* Puts an entry at i, or above it. */
static void put(struct perf_slot *heap, size_t i, const struct perf_slot *slot)
{
	for (; i > 0 && is_before(slot, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = *slot;
}

void perf_waiting_add(struct perf_waiting *waiting, struct perf_entry *entry, int64_t lost)
{
	struct perf_sample *sample = &entry->sample;
	size_t raw_size = sample->raw ? sample->raw_size : 0;
	size_t counts_size = (size_t)sample->nr_counts * sample->count_size;
	const struct perf_slot slot = { sample->time, waiting->order++, entry };

	array_grow_unset(&entry->bytes, &entry->room, raw_size + counts_size);
	if (raw_size)
		sample->raw = memcpy(entry->bytes, sample->raw, raw_size);
	if (counts_size)
		sample->counts = memcpy(entry->bytes + raw_size, sample->counts, counts_size);
	entry->lost = lost;
	array_grow_unset(&waiting->heap, &waiting->room, waiting->nr + 1);
	put(waiting->heap, waiting->nr++, &slot);
	waiting->bytes += sizeof(*entry) + entry->room;
}

struct perf_entry *perf_waiting_take(struct perf_waiting *waiting)
{
	struct perf_slot *heap = waiting->heap, last = heap[--waiting->nr];
	struct perf_entry *first = heap[0].entry;
	size_t i = 0, child;

	/* The last entry is a late one, as a rule: it is put where it belongs from the bottom. */
	for (; (child = 2 * i + 1) < waiting->nr; i = child) {
		if (child + 1 < waiting->nr && is_before(&heap[child + 1], &heap[child]))
			child++;
		heap[i] = heap[child];
	}
	put(heap, i, &last);
	waiting->bytes -= sizeof(*first) + first->room;
	return first;
}

void perf_waiting_release(struct perf_waiting *waiting)
{
	while (waiting->nr > 0)
		perf_waiting_drop(waiting, waiting->heap[--waiting->nr].entry);
	while (waiting->free) {
		struct perf_entry *entry = perf_waiting_new(waiting);

		free(entry->bytes);
		free(entry);
	}
	free(waiting->heap);
	waiting->heap = NULL;
}
