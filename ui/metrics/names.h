/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names - which guests are exported, and their labels: no two guests have the same at a time.
 *
 * A label is the guest's name or, if a guest that runs has this label already, the name and the
 * pid: "web (4711)". It never changes. A guest that has ended is exported once more; only then is
 * the next guest of its name exported.
 */
#ifndef KVMTOP_UI_METRICS_NAMES_H
#define KVMTOP_UI_METRICS_NAMES_H

#include "lib/hash.h"
#include "core/guests/guests.h"

/* The latest exported differences of two counters of a vCPU: they must not go back. */
struct vcpu_shown {
	int32_t index;
	uint64_t sleep_ns, wait_ns;
};

struct named_guest {
	uint32_t id;
	const struct guest *guest;   /* valid after names_update(); NULL: it is not exported */
	char label[GUEST_NAME_SIZE]; /* "": it waits for its name */
	bool has_ended, is_done;     /* is_done: it was exported after its end */
	uint64_t last_tick;	     /* when that was */
	struct vcpu_shown *shown;    /* in the order in which the vCPUs came */
	size_t nr_shown, room;
	UT_hash_handle hh;
};

/* Zero-initialised is empty. */
struct names {
	struct named_guest *by_id; /* ascending by id */
};

/*
 * Brings the names up to date with the inventory: from now on guest and label of all that are
 * exported are right. tick: of the facts; more exports of the same tick have the same guests.
 */
void names_update(struct names *names, const struct guests *guests, uint64_t tick);

void names_release(struct names *names);

#endif
