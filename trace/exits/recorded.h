/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorded - a recording that was read, as guests and their vCPUs.
 */
#ifndef KVMTOP_TRACE_EXITS_RECORDED_H
#define KVMTOP_TRACE_EXITS_RECORDED_H

#include "trace/exits/guests.h"
#include "trace/exits/recording.h"

struct recorded {
	const struct recording *recording; /* outlives this */
	double ns_per_unit;		   /* 0: the clock only counts, nothing has a time */
	uint64_t span_ns;
	bool is_moment; /* it goes on: exits that have not ended have time, too */
	struct guests *guests;
	struct recorded_vcpu *vcpus; /* of each thread */
};

void recorded_init(struct recorded *recorded, const struct recording *recording,
		   double ns_per_unit);
void recorded_release(struct recorded *recorded);

#endif
