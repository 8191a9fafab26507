// SPDX-License-Identifier: GPL-2.0-or-later
/* A growing array of rows, a list of long exits that forgets the oldest, and finding by keys. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/facts/sample.h"

void long_exits_reset(struct long_exits *exits)
{
	*exits = (struct long_exits){ .list = exits->list, .room = exits->room };
}

void sample_reset(struct sample *sample)
{
	sample->nr_rows = 0;
	sample->nr_timings = 0;
	sample->nr_givens = 0;
	sample->nr_pasts = 0;
	sample->is_given = false;
	long_exits_reset(&sample->long_exits);
	stack_sums_reset(&sample->stacks);
	sample->lost = 0;
	memset(sample->counted_ns, 0, sizeof(sample->counted_ns));
	memset(sample->elapsed_ns, 0, sizeof(sample->elapsed_ns));
	memset(sample->time_ns, 0, sizeof(sample->time_ns));
}

void sample_make_room(struct sample *sample)
{
	array_grow_unset(&sample->rows, &sample->room_rows, sample->nr_rows + 1);
}

void sample_add_timed(struct sample *sample, struct key key, uint64_t count, uint32_t flags,
		      const struct timing *timing)
{
	*array_add(sample->timings, sample->nr_timings, sample->room_timings) = *timing;
	sample_add(sample, key, count, flags);
	sample->rows[sample->nr_rows - 1].timing = (uint32_t)sample->nr_timings;
}

void sample_add_given(struct sample *sample, struct key key, uint64_t total,
		      const struct row_given *given)
{
	*array_add(sample->givens, sample->nr_givens, sample->room_givens) = *given;
	sample_add(sample, key, total, 0);
	sample->rows[sample->nr_rows - 1].given = (uint32_t)sample->nr_givens;
}

struct rates_before *sample_add_past(struct sample *sample)
{
	sample->givens[sample->nr_givens - 1].past = (uint32_t)sample->nr_pasts + 1;
	return array_add(sample->pasts, sample->nr_pasts, sample->room_pasts);
}

void sample_release(struct sample *sample)
{
	free(sample->rows);
	free(sample->timings);
	long_exits_release(&sample->long_exits);
	stack_sums_release(&sample->stacks);
	free(sample->givens);
	free(sample->pasts);
	*sample = (struct sample){ 0 };
}

void long_exits_add(struct long_exits *exits, const struct long_exit *exit)
{
	struct long_exit *slot;

	if (exits->nr < LONG_EXITS_MAX) {
		slot = array_add(exits->list, exits->nr, exits->room);
	} else {
		slot = &exits->list[exits->first];
		exits->first = (exits->first + 1) % exits->nr;
	}
	*slot = *exit;
	slot->number = ++exits->nr_ever;
}

const struct long_exit *long_exits_at(const struct long_exits *exits, size_t i)
{
	return &exits->list[(exits->first + i) % exits->nr];
}

void long_exits_take(struct long_exits *exits, const struct long_exits *sample)
{
	for (size_t i = 0; i < sample->nr; i++)
		long_exits_add(exits, long_exits_at(sample, i));
	exits->nr_latest = sample->nr;
	exits->nr_ever += sample->nr_ever - sample->nr;
	exits->lost += sample->lost;
	exits->lost_latest = sample->nr_ever - sample->nr + sample->lost;
	exits->longer_ns = sample->longer_ns;
	exits->since_ns = sample->since_ns;
	exits->listed_ns = sample->listed_ns;
	exits->none = sample->none;
}

void long_exits_release(struct long_exits *exits)
{
	free(exits->list);
	*exits = (struct long_exits){ 0 };
}

/* ---- finding by keys */

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
