// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums by key: open addressing, at least half of the slots free. */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/facts/key_sums.h"

/* The slot of a key, or the free slot for it. */
static inline uint32_t *find_slot(const struct key_sums *sums, const struct key *key)
{
	uint64_t word = ((uint64_t)key->guest << 32 | key->field) ^
			(uint64_t)(uint32_t)key->vcpu << 16;
	size_t at = (size_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (;; at++) {
		uint32_t *slot = &sums->slots[at & (sums->nr_slots - 1)];

		if (!*slot || key_equal(&sums->list[*slot - 1].key, key))
			return slot;
	}
}

static int grow_slots(struct key_sums *sums)
{
	size_t nr_slots = sums->nr_slots ? 4 * sums->nr_slots : 256;
	uint32_t *slots = calloc(nr_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(sums->slots);
	sums->slots = slots;
	sums->nr_slots = nr_slots;
	for (size_t i = 0; i < sums->nr; i++)
		*find_slot(sums, &sums->list[i].key) = (uint32_t)i + 1;
	return 0;
}

struct key_sum *key_sums_get(struct key_sums *sums, const struct key *key)
{
	uint32_t *slot;

	if (2 * (sums->nr + 1) > sums->nr_slots && grow_slots(sums) < 0)
		return NULL;
	slot = find_slot(sums, key);
	if (!*slot) {
		if (array_grow(&sums->list, &sums->room, sums->nr + 1) < 0)
			return NULL;
		sums->list[sums->nr++] = (struct key_sum){ .key = *key };
		*slot = (uint32_t)sums->nr;
	}
	return &sums->list[*slot - 1];
}

void key_sums_release(struct key_sums *sums)
{
	free(sums->list);
	free(sums->slots);
	*sums = (struct key_sums){ 0 };
}
