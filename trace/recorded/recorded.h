/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorded - a recording that was read, as guests and their vCPUs.
 */
#ifndef KVMTOP_TRACE_RECORDED_RECORDED_H
#define KVMTOP_TRACE_RECORDED_RECORDED_H

#include "host/guest.h"
#include "trace/recorded/recording.h"

struct recorded {
	const struct recording *recording; /* with RECORDING_ALL; outlives this */
	double ns_per_unit;		   /* > 0 */
	uint64_t span_ns;
	struct guests *guests;
	struct recorded_vcpu *vcpus; /* ascending by strand */
	size_t nr_vcpus;
};

/* A thread that ran a vCPU; several may have run the same. */
struct recorded_vcpu {
	uint64_t strand;
	uint32_t guest; /* struct guest's id */
	int32_t vcpu;	/* its number; where nobody knows that, its thread's */
};

/* 0 or -ENOMEM. */
int recorded_init(struct recorded *recorded, const struct recording *recording,
		  double ns_per_unit);
void recorded_release(struct recorded *recorded);

/*
 * Finds the guests and their vCPUs. Threads of one process are one guest, and so are those that
 * trace-cmd or `kvmtop record` noted for one; a CPU of ACRN, of which nothing else is known, is a
 * guest, too. Of a trace.dat that does not tell, all threads are one guest, or, where the vCPUs'
 * numbers say that it were several, each is one of its own. 0 or -ENOMEM.
 */
int recorded_find_guests(struct recorded *recorded);

/* NULL: the thread ran none. */
const struct recorded_vcpu *recorded_vcpu(const struct recorded *recorded, uint64_t strand);

#endif
