/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_index - finds the elements of an array by their keys: open addressing, at least half of the
 * slots free.
 *
 * The caller owns the array. Each element begins with its key (struct key), and no key is there
 * twice.
 */
#ifndef KVMTOP_CORE_FACTS_KEY_INDEX_H
#define KVMTOP_CORE_FACTS_KEY_INDEX_H

#include <stdlib.h>
#include <string.h>

#include "core/facts/sample.h"

/* Zero-initialised is empty; after that `size` is set. */
struct key_index {
	size_t size;	 /* bytes of an element */
	uint32_t *slots; /* positions in the array with 1 added; 0: free */
	size_t nr_slots; /* a power of two */
};

static inline const struct key *key_index_at(const struct key_index *index, const void *array,
					     uint32_t slot)
{
	return (const void *)((const char *)array + (slot - 1) * index->size);
}

static inline size_t key_index_hash(const struct key *key)
{
	uint64_t word = ((uint64_t)key->guest << 32 | key->field) ^
			(uint64_t)(uint32_t)key->vcpu << 16;

	return (size_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The slot of a key, or the free slot for it. nr_slots is not 0. */
static inline uint32_t *key_index_slot(const struct key_index *index, const void *array,
				       const struct key *key)
{
	for (size_t at = key_index_hash(key);; at++) {
		uint32_t *slot = &index->slots[at & (index->nr_slots - 1)];

		if (!*slot || key_equal(key_index_at(index, array, *slot), key))
			return slot;
	}
}

/* Makes slots for nr elements, of which the array has nr_known now. */
void key_index_grow(struct key_index *index, const void *array, size_t nr_known, size_t nr);

/* Frees a slot that is used. */
void key_index_remove(struct key_index *index, const void *array, uint32_t *slot);

/* For an array that is empty again. */
static inline void key_index_clear(struct key_index *index)
{
	if (index->nr_slots)
		memset(index->slots, 0, index->nr_slots * sizeof(*index->slots));
}

void key_index_release(struct key_index *index);

#endif
