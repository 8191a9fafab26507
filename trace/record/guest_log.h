/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_log - the guests that there were while a recording was made, also those that have
 * ended: their names and which thread is which vCPU, for the readers of the file.
 */
#ifndef KVMTOP_TRACE_RECORD_GUEST_LOG_H
#define KVMTOP_TRACE_RECORD_GUEST_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"
#include "host/env.h"

struct recorded_guest {
	uint32_t id; /* the inventory's */
	pid_t pid;
	char name[64];
	pid_t *tids; /* by vCPU; -1: not known */
	size_t nr_vcpus, tids_room;
};

struct recorded_guests;

/* env must outlive it. NULL: no memory. */
struct recorded_guests *recorded_guests_new(const struct env *env);
void recorded_guests_free(struct recorded_guests *guests); /* takes NULL */

/* Looks for new ones, and new vCPUs. Returns 0, or -errno with why. */
int recorded_guests_refresh(struct recorded_guests *guests, struct why *why);

/* The i-th of all that were seen; NULL past the end. */
const struct recorded_guest *recorded_guests_at(const struct recorded_guests *guests, size_t i);

/*
 * The process of the guest of this name, or with name NULL of the one that has this pid. Returns 0,
 * or -errno with why.
 */
int recorded_guests_find(const struct recorded_guests *guests, const char *name, pid_t pid,
			 pid_t *ret_pid, struct why *why);

#endif
