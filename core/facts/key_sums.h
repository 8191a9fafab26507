/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_sums - sums by key: a list that grows, and a hash table of its keys.
 */
#ifndef KVMTOP_CORE_FACTS_KEY_SUMS_H
#define KVMTOP_CORE_FACTS_KEY_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "core/facts/key_index.h"

struct key_sum {
	struct key key;
	uint64_t count, ns;
};

/* Zero-initialised is empty. */
struct key_sums {
	struct key_sum *list; /* in the order in which the keys came */
	size_t nr, room;

	struct key_index index; /* key_sums' own */
};

/*
 * The sum of a key, valid until the next key comes. The sum of a new key is 0.
 */
struct key_sum *key_sums_get(struct key_sums *sums, const struct key *key);
/* Forgets the sums, but keeps the memory. */
void key_sums_clear(struct key_sums *sums);
void key_sums_release(struct key_sums *sums);

#endif
