/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow - a list that follows the inventory: what a provider keeps of each guest, or of each
 * thread that runs a vCPU; and the item in it that has its turn.
 *
 * What takes long to read is read of a few items in a sample. When guests come and go the turns go
 * on where they were: if they began anew, the last items would have none.
 */
#ifndef KVMTOP_CORE_GUESTS_FOLLOW_H
#define KVMTOP_CORE_GUESTS_FOLLOW_H

#include "core/guests/guests.h"

/* An item begins with this. */
struct followed {
	uint32_t guest;
	int32_t vcpu; /* of a list of guests -1, and the next one 0 */
	pid_t tid, pid;
};

/* Set before the first update; the other members 0. */
struct follow {
	const struct guests *guests;
	size_t size; /* of an item; behind struct followed it is 0 at first */
	bool of_vcpus;
	/* A new item, and one that is no longer there; NULL: nothing is to be done. */
	void (*begin)(void *arg, void *item);
	void (*drop)(void *arg, void *item);
	void *arg;
	void *list; /* ascending by guest, vCPU, thread */
	size_t nr, next; /* items; the one that has its turn */
	uint64_t generation; /* of the inventory, with 1 added */
};

/* Whether the inventory has changed since; then items move. */
bool follow_update(struct follow *follow);

/* A guest's item in a list of guests; NULL: the guest is not there. */
void *follow_find(const struct follow *follow, uint32_t guest);

/* The item that has its turn; the next one is the next one's. There is one. */
void *follow_take_turn(struct follow *follow);

/* Drops all. */
void follow_release(struct follow *follow);

#endif
