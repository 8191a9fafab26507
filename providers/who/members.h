/* SPDX-License-Identifier: GPL-2.0-or-later */
/* members - the threads of vCPUs that the provider "who" measures. */
#ifndef KVMTOP_PROVIDERS_WHO_MEMBERS_H
#define KVMTOP_PROVIDERS_WHO_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/guests/guests.h"
#include "host/machine.h"
#include "providers/who/program.h"
#include "providers/who/shared.h"

/* A thread of a vCPU. One that has ended may have had the CPU while others waited. */
struct who_member {
	pid_t tid;
	uint32_t guest;
	int32_t vcpu;
	uint32_t number; /* of its record; WHO_NO_RECORD: it is not measured */
	bool is_there;
	uint64_t waited_ns, charged_ns; /* in the present sample: of its record, and of pairs */
};

#define WHO_NO_RECORD UINT32_MAX

struct who_members {
	const struct guests *guests;
	struct who_member *list; /* ascending by tid */
	size_t nr;
	struct pid_list ended; /* members up to now; until their interrupts are forgotten */
	uint64_t generation;   /* of the inventory, as of the members; UINT64_MAX: of none */
	struct pid_list vmms;
	bool is_used[WHO_VCPUS]; /* records */
	uint32_t latest;	 /* record that was given to a thread */
	size_t nr_left_out;	 /* vCPUs without a record */
};

void who_members_init(struct who_members *members, const struct guests *guests);
void who_members_release(struct who_members *members);

/*
 * Brings the list and the programs' threads up to date; bpf NULL: there are no programs. False:
 * nothing has changed.
 */
bool who_members_update(struct who_members *members, struct who_bpf *bpf);

/* NULL: it is none. */
struct who_member *who_members_find(const struct who_members *members, pid_t tid);

/* The programs, and so the records, are gone. */
void who_members_forget(struct who_members *members);

#endif
