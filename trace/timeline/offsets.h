/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offsets - what was added to the host's TSC for each vCPU, and when
 * (kvm_write_tsc_offset).
 */
#ifndef KVMTOP_TRACE_TIMELINE_OFFSETS_H
#define KVMTOP_TRACE_TIMELINE_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vcpu_offsets;

/* A guest's TSC runs so fast where the host's runs so fast; zeroes: as fast. */
struct timeline_ratio {
	uint64_t guest_khz, host_khz;
};

/* Begins as zeroes. */
struct timeline_offsets {
	struct vcpu_offsets *vcpus;
	size_t nr;
};

void offsets_release(struct timeline_offsets *offsets);

/* Of a vCPU of a guest, at a time of the host's; later ones come later. 0 or -ENOMEM. */
int offsets_add(struct timeline_offsets *offsets, size_t guest, int32_t vcpu, uint64_t time,
		int64_t offset);

/*
 * From a time of the guest's own, which is the host's by the ratio and an offset, to the host's.
 * The offset is that of the last write before it, or else of the first. A vCPU of which nothing is
 * known has what the guest's first one has. False: nothing of this guest.
 */
bool offsets_host_time(const struct timeline_offsets *offsets, const struct timeline_ratio *ratio,
		       size_t guest, int32_t vcpu, uint64_t guest_time, uint64_t *ret_time);

#endif
