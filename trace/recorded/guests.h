/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guests - which guest and which vCPU a thread of a recording is.
 *
 * Known for sure are the guests that a trace.dat lists (kvmtop record, trace-cmd record -A) and the
 * processes of perf.data, kvmtrace and ACRN (a VM's number). Of any other trace.dat nothing is
 * known but threads and, from events or a thread's name, the numbers of their vCPUs.
 */
#ifndef KVMTOP_TRACE_RECORDED_GUESTS_H
#define KVMTOP_TRACE_RECORDED_GUESTS_H

#include "host/guest.h"
#include "trace/recorded/table.h"
#include "trace/trace.h"

/* Sets what the recording says of a thread but not in its events: name, guest, process, vCPU. */
void guests_identify(const struct trace *trace, struct recorded_thread *thread);

/* ---- while the recording is read: guests numbered from 0 as they come */

/* Zero-initialised is empty. */
struct guest_numbers {
	struct guest_number *hash;
	size_t nr;
};

void guest_numbers_release(struct guest_numbers *numbers);

/*
 * The guest of a thread that guests_identify() has seen. Of threads of which nothing is known, the
 * n-th that runs a vCPU of this number is of the n-th guest. 0 or -ENOMEM. ret_name: the guest's,
 * if it is new; else "".
 */
int guest_numbers_add(struct guest_numbers *numbers, const struct trace *trace,
		      const struct recorded_thread *thread, size_t *ret_number, char *ret_name,
		      size_t size);

/* ---- when it was read: all guests with their vCPUs */

/* Which vCPU a thread ran. Several may have run the same. */
struct recorded_vcpu {
	uint32_t guest; /* struct guest's id; GUEST_ANY: it ran none */
	int32_t vcpu;	/* its number; where that is not known, its thread's */
};

/*
 * Adds the guests. ret_vcpus: for each thread of the table, to be freed by the caller. A CPU of
 * ACRN, of which nothing else is known, is a guest, too. Of a trace.dat that says nothing, all
 * threads are one guest, or, where two of them run a vCPU of one number, each is a guest of its
 * own. 0 or -ENOMEM.
 */
int guests_of_table(const struct trace *trace, const struct table *table, struct guests *guests,
		    struct recorded_vcpu **ret_vcpus);

#endif
