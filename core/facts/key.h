/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key - what a number is of: a guest, a vCPU and a field; and arrays with elements that are found
 * by their keys: open addressing, at least half of the slots free.
 *
 * The caller owns the array. Each element begins with its key, and no key is there twice.
 */
#ifndef KVMTOP_CORE_FACTS_KEY_H
#define KVMTOP_CORE_FACTS_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/number.h"

struct key {
	uint32_t guest; /* struct guest's id; GUEST_NONE: a value of the host, or of all guests */
	int32_t vcpu;	/* its index; -1: one value for all vCPUs */
	uint32_t field;
};

/* -1, 0, 1: by guest, vCPU, field */
static inline int key_compare(const struct key *a, const struct key *b)
{
	return compared(a->guest, b->guest) ?: compared(a->vcpu, b->vcpu) ?:
	       compared(a->field, b->field);
}

static inline bool key_equal(const struct key *a, const struct key *b)
{
	return a->field == b->field && a->guest == b->guest && a->vcpu == b->vcpu;
}

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

/*
 * The position of a key's element in an array of nr elements. nr: there is none yet, and the caller
 * adds one at once:
 *
 *	at = key_index_add(&index, list, sizeof(*list), nr, key);
 *	if (at == nr)
 *		list[nr++] = (struct element){ .key = *key };
 */
static inline size_t key_index_add(struct key_index *index, const void *array, size_t size,
				   size_t nr, const struct key *key)
{
	uint32_t *slot;

	index->size = size;
	if (2 * (nr + 1) > index->nr_slots)
		key_index_grow(index, array, nr, nr + 1);
	slot = key_index_slot(index, array, key);
	if (!*slot)
		*slot = (uint32_t)nr + 1;
	return *slot - 1;
}

#endif
