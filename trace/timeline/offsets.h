/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offsets - the offsets from the host's TSC to each vCPU's TSC, and when they were written
 * (kvm_write_tsc_offset).
 */
#ifndef KVMTOP_TRACE_TIMELINE_OFFSETS_H
#define KVMTOP_TRACE_TIMELINE_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vcpu_offsets;

/* The frequencies of a guest's TSC and the host's; zeroes: they are the same. */
struct timeline_ratio {
	uint64_t guest_hz, host_hz;
};

/* Zero-initialised is empty. */
struct timeline_offsets {
	struct vcpu_offsets *vcpus;
	size_t nr, room;
};

void offsets_release(struct timeline_offsets *offsets);

/* Adds a vCPU's offset, written at this time of the host; in time order. */
void offsets_add(struct timeline_offsets *offsets, size_t guest, int32_t vcpu, uint64_t time,
		 int64_t offset);

/*
 * Converts a time of the guest's TSC to the host's, with the vCPU's last offset from before that
 * time, or else its first offset. A vCPU without offsets uses the offsets of the guest's first
 * vCPU. False: the guest has no offsets.
 */
bool offsets_host_time(const struct timeline_offsets *offsets, const struct timeline_ratio *ratio,
		       size_t guest, int32_t vcpu, uint64_t guest_time, uint64_t *ret_time);

#endif
