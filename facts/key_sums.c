// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums by key: open addressing, at least half of the slots free. */
#include <errno.h>
#include <stdlib.h>

#include "facts/field.h"
#include "facts/key_sums.h"

/* The slot of a key, or the free slot for it. */
static struct key_sum *find_slot(const struct key_sums *sums, const struct key *key)
{
	uint64_t word = ((uint64_t)key->guest << 32 | key->field) ^
			(uint64_t)(uint32_t)key->vcpu << 16;
	size_t at = (size_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (;; at++) {
		struct key_sum *sum = &sums->slots[at & (sums->nr_slots - 1)];

		if (sum->key.field == FIELD_NONE || key_equal(&sum->key, key))
			return sum;
	}
}

static int key_sums_grow(struct key_sums *sums)
{
	struct key_sums more = { .nr_slots = sums->nr_slots ? 4 * sums->nr_slots : 256 };

	more.slots = calloc(more.nr_slots, sizeof(*more.slots));
	if (!more.slots)
		return -ENOMEM;
	for (size_t i = 0; i < more.nr_slots; i++)
		more.slots[i].key.field = FIELD_NONE;
	for (size_t i = 0; i < sums->nr_slots; i++) {
		const struct key_sum *sum = &sums->slots[i];

		if (sum->key.field != FIELD_NONE)
			*find_slot(&more, &sum->key) = *sum;
	}
	more.nr = sums->nr;
	free(sums->slots);
	*sums = more;
	return 0;
}

struct key_sum *key_sums_get(struct key_sums *sums, struct key key)
{
	struct key_sum *sum = sums->nr_slots ? find_slot(sums, &key) : NULL;

	if (sum && sum->key.field != FIELD_NONE)
		return sum;
	if (2 * (sums->nr + 1) > sums->nr_slots && key_sums_grow(sums) < 0)
		return NULL;
	sum = find_slot(sums, &key);
	*sum = (struct key_sum){ .key = key };
	sums->nr++;
	return sum;
}

void key_sums_release(struct key_sums *sums)
{
	free(sums->slots);
	*sums = (struct key_sums){ 0 };
}
