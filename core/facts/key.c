// SPDX-License-Identifier: GPL-2.0-or-later
/* Grows the table of slots, and frees a slot. */
#include <stdlib.h>

#include "lib/xalloc.h"
#include "core/facts/key.h"

void key_index_grow(struct key_index *index, const void *array, size_t nr_known, size_t nr)
{
	size_t nr_slots = index->nr_slots ? index->nr_slots : 256;
	uint32_t *slots;

	if (2 * nr <= index->nr_slots)
		return;
	while (2 * nr > nr_slots)
		nr_slots *= 2;
	slots = xcalloc(nr_slots, sizeof(*slots));
	free(index->slots);
	index->slots = slots;
	index->nr_slots = nr_slots;
	for (uint32_t i = 1; i <= nr_known; i++)
		*key_index_slot(index, array, key_index_at(index, array, i)) = i;
}

/*
 * A search ends at a free slot. So a key after the gap moves into it if its search passes the gap,
 * and leaves a new gap.
 */
void key_index_remove(struct key_index *index, const void *array, uint32_t *slot)
{
	size_t mask = index->nr_slots - 1, gap = (size_t)(slot - index->slots);

	for (size_t at = (gap + 1) & mask; index->slots[at]; at = (at + 1) & mask) {
		size_t first = key_index_hash(key_index_at(index, array, index->slots[at]));

		if (((at - first) & mask) < ((at - gap) & mask))
			continue;
		index->slots[gap] = index->slots[at];
		gap = at;
	}
	index->slots[gap] = 0;
}

void key_index_release(struct key_index *index)
{
	free(index->slots);
	index->slots = NULL;
	index->nr_slots = 0;
}
