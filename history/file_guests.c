// SPDX-License-Identifier: GPL-2.0-or-later
/* The guests of a segment: which came, which ended, and when each was seen. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/file_state.h"

#define SECOND UINT64_C(1000000000)

static struct file_guest *find(const struct file_guests *guests, uint32_t id)
{
	for (size_t i = guests->nr; i; i--) {
		if (guests->list[i - 1].guest.id == id)
			return &guests->list[i - 1];
	}
	return NULL;
}

static bool is_same(const struct guest *a, const struct guest *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->vmm, b->vmm) == 0 &&
	       a->nr_vcpus == b->nr_vcpus && a->has_ended == b->has_ended;
}

/* The list stays in order: ids ascend as guests are found. */
static struct file_guest *insert(struct file_guests *guests, uint32_t id)
{
	size_t at = guests->nr;

	array_grow(&guests->list, &guests->room, guests->nr + 1);
	for (; at && guests->list[at - 1].guest.id > id; at--)
		guests->list[at] = guests->list[at - 1];
	guests->nr++;
	guests->list[at] = (struct file_guest){ 0 };
	return &guests->list[at];
}

static void see(struct file_guests *guests, const struct guest *guest, uint64_t time_s)
{
	struct file_guest *known = find(guests, guest->id);

	if (!known) {
		known = insert(guests, guest->id);
		known->came = guests->has_any;
		known->first_s = time_s;
		known->last_s = time_s;
		known->is_changed = true;
	} else if (!is_same(&known->guest, guest)) {
		known->is_changed = true;
	}
	if (guest->has_ended && guests->has_any && !known->guest.has_ended) {
		known->ended = true;
		known->last_s = time_s;
	}
	known->guest = *guest;
	known->guest.vcpus = NULL;
	known->is_known = true;
}

/* An inventory forgets what ended long ago. */
static void forget_unknown(struct file_guests *guests, uint64_t time_s)
{
	size_t kept = 0;

	for (size_t i = 0; i < guests->nr; i++) {
		struct file_guest *known = &guests->list[i];

		if (!known->is_known && !known->guest.has_ended) {
			known->guest.has_ended = true;
			known->ended = true;
			known->last_s = time_s;
			known->is_changed = true;
		}
		if (known->is_known || known->is_changed)
			guests->list[kept++] = *known;
	}
	guests->nr = kept;
}

static void take_inventory(struct file_guests *guests, const struct guests *inventory,
			   uint64_t time_s)
{
	const struct guest *guest;

	for (size_t i = 0; i < guests->nr; i++)
		guests->list[i].is_known = false;
	for (size_t i = 0; (guest = guests_at(inventory, i)); i++)
		see(guests, guest, time_s);
	for (size_t i = 0; (guest = guests_ended_at(inventory, i)); i++)
		see(guests, guest, time_s);
	forget_unknown(guests, time_s);
	guests->has_any = true;
}

void file_guests_update(struct file_guests *guests, const struct guests *inventory,
			uint64_t time_ns)
{
	if (inventory)
		take_inventory(guests, inventory, time_ns / SECOND);
	for (size_t i = 0; i < guests->nr; i++) {
		if (!guests->list[i].guest.has_ended)
			guests->list[i].last_s = time_ns / SECOND;
	}
}

void file_guests_written(struct file_guests *guests, bool is_written)
{
	for (size_t i = 0; i < guests->nr; i++) {
		struct file_guest *known = &guests->list[i];

		known->is_changed = !is_written;
		if (is_written)
			known->came = known->ended = false;
	}
}

void file_guests_release(struct file_guests *guests)
{
	free(guests->list);
	*guests = (struct file_guests){ 0 };
}
