// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies what the inventory says before it forgets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/guest.h"
#include "trace/record/guest_log.h"

#define VCPUS_MAX 4096

struct recorded_guests {
	struct guests *inventory;
	uint64_t generation;
	struct recorded_guest *list;
	size_t nr, room;
};

struct recorded_guests *recorded_guests_new(const struct env *env)
{
	struct recorded_guests *guests = calloc(1, sizeof(*guests));

	if (guests && !(guests->inventory = guests_new(env))) {
		free(guests);
		guests = NULL;
	}
	return guests;
}

void recorded_guests_free(struct recorded_guests *guests)
{
	if (!guests)
		return;
	for (size_t i = 0; i < guests->nr; i++)
		free(guests->list[i].tids);
	free(guests->list);
	guests_free(guests->inventory);
	free(guests);
}

static struct recorded_guest *get(struct recorded_guests *guests, uint32_t id)
{
	for (size_t i = 0; i < guests->nr; i++) {
		if (guests->list[i].id == id)
			return &guests->list[i];
	}
	if (array_grow(&guests->list, &guests->room, guests->nr + 1) < 0)
		return NULL;
	guests->list[guests->nr] = (struct recorded_guest){ .id = id };
	return &guests->list[guests->nr++];
}

static int grow(struct recorded_guest *copy, size_t nr)
{
	if (array_grow(&copy->tids, &copy->tids_room, nr) < 0)
		return -ENOMEM;
	while (copy->nr_vcpus < nr)
		copy->tids[copy->nr_vcpus++] = -1;
	return 0;
}

/* Of two threads that are the same vCPU (of two VMs in a process) the first. */
static int keep(struct recorded_guests *guests, const struct guest *guest)
{
	struct recorded_guest *copy = get(guests, guest->id);
	int err = copy ? 0 : -ENOMEM;

	if (err)
		return err;
	memcpy(copy->name, guest->name, sizeof(copy->name));
	copy->pid = guest->pid;
	for (size_t i = 0; !err && i < guest->nr_vcpus; i++) {
		const struct vcpu *vcpu = &guest->vcpus[i];

		if (vcpu->index < 0 || vcpu->index >= VCPUS_MAX)
			continue;
		err = grow(copy, (size_t)vcpu->index + 1);
		if (!err && vcpu->tid > 0 && copy->tids[vcpu->index] < 0)
			copy->tids[vcpu->index] = vcpu->tid;
	}
	return err;
}

int recorded_guests_refresh(struct recorded_guests *guests, struct why *why)
{
	int err = guests_refresh(guests->inventory, clock_now_ns(), why);
	uint64_t generation = guests_generation(guests->inventory);
	const struct guest *guest;

	if (err || generation == guests->generation)
		return err;
	for (size_t i = 0; !err && (guest = guests_at(guests->inventory, i)); i++)
		err = keep(guests, guest);
	guests->generation = generation;
	return err;
}

const struct recorded_guest *recorded_guests_at(const struct recorded_guests *guests, size_t i)
{
	return i < guests->nr ? &guests->list[i] : NULL;
}

int recorded_guests_find(const struct recorded_guests *guests, const char *name, pid_t pid,
			 pid_t *ret_pid, struct why *why)
{
	const struct guest *guest = NULL;
	int err = guests_choose(guests->inventory, name, pid, &guest, why);

	if (!err)
		*ret_pid = guest->pid;
	return err;
}
