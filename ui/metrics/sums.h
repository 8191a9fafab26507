/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums - the exported numbers: the keys of stats added up by guest, reason and vCPU; and which
 * guests are exported, and their labels: no two guests have the same at a time.
 *
 * A label is the guest's name or, if a guest that runs has this label already, the name and the
 * pid: "web (4711)". It never changes. A guest that has ended is exported once more; only then is
 * the next guest of its name exported.
 */
#ifndef KVMTOP_UI_METRICS_SUMS_H
#define KVMTOP_UI_METRICS_SUMS_H

#include "core/facts/facts.h"
#include "lib/hash.h"
#include "core/guests/guests.h"
#include "core/views/rollup.h"

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

/* One field of one guest. */
struct cell_sum {
	bool is_set; /* the guest has the field */
	/* An event that is also counted as exits: the exits count from the first one on. */
	bool is_of_exits;
	uint64_t count;
	const struct timing_sum *timing; /* since the start; valid as long as the sums */
};

struct guest_sum {
	struct named_guest *named;
	struct cell_sum *cells; /* by struct metric_sums' columns, nr_columns of them */
	const struct owner *vcpus; /* ascending by number */
	size_t nr_vcpus;
};

/* Zero-initialised is empty. */
struct metric_sums {
	struct guest_sum *guests; /* ascending by id */
	size_t nr_guests, room_guests;
	uint32_t *columns; /* fields with a cell for each guest */
	uint32_t *column_of; /* by field */
	uint32_t *event_of; /* by field: the event that exits of this reason are; else FIELD_NONE */
	size_t room_events;
	size_t nr_columns, room_columns, room_fields;
	struct cell_sum *cells; /* of all guests, then host_cells */
	size_t room_cells;
	struct cell_sum *host_cells; /* the cells without a guest */
	const struct owner *cpus; /* the host's, ascending by number */
	size_t nr_cpus;
	bool has_lost;
	uint64_t lost;
	struct rollup counts, times; /* of guests by field; of vCPUs and host CPUs */
};

/* Adds up all keys; the sums before are forgotten. */
void metric_sums_take(struct metric_sums *sums, const struct facts *facts,
		      const struct names *names);
void metric_sums_release(struct metric_sums *sums);

#endif
