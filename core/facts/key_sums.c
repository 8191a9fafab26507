// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums by key, in a list with an index. */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/facts/key_sums.h"

struct key_sum *key_sums_get(struct key_sums *sums, const struct key *key)
{
	uint32_t *slot;

	sums->index.size = sizeof(*sums->list);
	key_index_grow(&sums->index, sums->list, sums->nr, sums->nr + 1);
	slot = key_index_slot(&sums->index, sums->list, key);
	if (!*slot) {
		array_grow_unset(&sums->list, &sums->room, sums->nr + 1);
		sums->list[sums->nr++] = (struct key_sum){ .key = *key };
		*slot = (uint32_t)sums->nr;
	}
	return &sums->list[*slot - 1];
}

void key_sums_clear(struct key_sums *sums)
{
	sums->nr = 0;
	key_index_clear(&sums->index);
}

void key_sums_release(struct key_sums *sums)
{
	free(sums->list);
	key_index_release(&sums->index);
	*sums = (struct key_sums){ 0 };
}
