/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_sums - sums by key: a hash table that grows.
 */
#ifndef KVMTOP_FACTS_KEY_SUMS_H
#define KVMTOP_FACTS_KEY_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "facts/sample.h"

struct key_sum {
	struct key key; /* the field is FIELD_NONE: this slot is free */
	uint64_t count, ns;
};

/* Zero-initialised is empty. */
struct key_sums {
	struct key_sum *slots;
	size_t nr_slots, nr;
};

/*
 * The sum of a key; the key's field is not FIELD_NONE. A new sum is 0. NULL: no memory for a new
 * key.
 */
struct key_sum *key_sums_get(struct key_sums *sums, struct key key);
void key_sums_release(struct key_sums *sums);

#endif
