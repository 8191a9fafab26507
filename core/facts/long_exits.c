// SPDX-License-Identifier: GPL-2.0-or-later
/* A list of long exits that forgets the oldest. */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/facts/long_exits.h"

void long_exits_add(struct long_exits *exits, const struct long_exit *exit)
{
	struct long_exit *slot;

	if (exits->nr < LONG_EXITS_MAX) {
		array_grow(&exits->list, &exits->room, exits->nr + 1);
		slot = &exits->list[exits->nr++];
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
	exits->since_ns = sample->since_ns;
	exits->none = sample->none;
}

void long_exits_reset(struct long_exits *exits)
{
	exits->nr = exits->first = exits->nr_latest = 0;
	exits->nr_ever = exits->lost = exits->since_ns = 0;
	exits->none = NULL;
}

void long_exits_release(struct long_exits *exits)
{
	free(exits->list);
	*exits = (struct long_exits){ 0 };
}
