// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives guests their labels, and takes them back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "ui/metrics/names.h"

static struct named_guest *find(const struct names *names, uint32_t id)
{
	struct named_guest *named;

	HASH_FIND(hh, names->by_id, &id, sizeof(id), named);
	return named;
}

static struct named_guest *find_label(const struct names *names, const char *label)
{
	struct named_guest *named = names->by_id;

	while (named && strcmp(named->label, label) != 0)
		named = named->hh.next;
	return named;
}

static void drop(struct names *names, struct named_guest *named)
{
	HASH_DEL(names->by_id, named);
	free(named->shown);
	free(named);
}

void names_release(struct names *names)
{
	struct named_guest *named, *next;

	for (named = names->by_id; named; named = next) {
		next = named->hh.next;
		drop(names, named);
	}
}

static void take(struct names *names, const struct guest *guest)
{
	struct named_guest *named = find(names, guest->id);

	if (!named) {
		named = xcalloc(1, sizeof(*named));
		named->id = guest->id;
		HASH_ADD(hh, names->by_id, id, sizeof(named->id), named);
	}
	named->guest = guest;
	named->has_ended = guest->has_ended;
}

static void take_all(struct names *names, const struct guests *guests)
{
	const struct guest *guest;

	for (struct named_guest *named = names->by_id; named; named = named->hh.next)
		named->guest = NULL;
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		take(names, guest);
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		take(names, guest);
}

/* Drops forgotten guests, and the labels of guests that ended and were exported once more. */
static void drop_ended(struct names *names, uint64_t tick)
{
	struct named_guest *named, *next;

	for (named = names->by_id; named; named = next) {
		next = named->hh.next;
		if (!named->guest) {
			drop(names, named);
		} else if (named->is_done && named->last_tick != tick) {
			named->guest = NULL;
			named->label[0] = '\0';
			free(named->shown);
			named->shown = NULL;
			named->nr_shown = named->room = 0;
		}
	}
}

static void give_label(const struct names *names, struct named_guest *named)
{
	const struct guest *guest = named->guest;
	const struct named_guest *owner = find_label(names, guest->name);
	char label[sizeof(named->label)];

	if (owner && owner->has_ended)
		return;
	snprintf(label, sizeof(label), "%s", guest->name);
	if (owner)
		snprintf(label, sizeof(label), "%.*s (%d)", VM_NAME_SIZE - 1, guest->name,
			 (int)guest->pid);
	for (unsigned int i = 2; find_label(names, label); i++)
		snprintf(label, sizeof(label), "%.*s (%d.%u)", VM_NAME_SIZE - 1,
			 guest->name, (int)guest->pid, i);
	memcpy(named->label, label, sizeof(label));
}

static int by_id(const struct named_guest *a, const struct named_guest *b)
{
	return (a->id > b->id) - (a->id < b->id);
}

void names_update(struct names *names, const struct guests *guests, uint64_t tick)
{
	take_all(names, guests);
	drop_ended(names, tick);
	HASH_SORT(names->by_id, by_id);
	for (struct named_guest *named = names->by_id; named; named = named->hh.next) {
		if (named->guest && !named->label[0])
			give_label(names, named);
		if (named->guest && named->has_ended && named->label[0]) {
			named->is_done = true;
			named->last_tick = tick;
		}
		if (!named->label[0])
			named->guest = NULL;
	}
}
