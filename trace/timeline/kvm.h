/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm - a recording of KVM's events as slices on a track for each vCPU.
 *
 * Between an entry and the next exit a vCPU is in the guest, then in KVM: a slice that has the name
 * of the exit's reason. Within that one are the time in user space, from kvm_userspace_exit on, and
 * "halted" where the reason is idling. All other events of KVM are instants. A thread that is no
 * vCPU gets a track, too.
 *
 * What the recording cuts off, at its ends or where events are missing, is a slice of the category
 * "cut" that ends there: it is in no sum.
 */
#ifndef KVMTOP_TRACE_TIMELINE_KVM_H
#define KVMTOP_TRACE_TIMELINE_KVM_H

#include "trace/timeline/clock.h"
#include "trace/timeline/out.h"
#include "trace/trace.h"

struct timeline_kvm;

/*
 * All of them must outlive it. keeps_offsets: for timeline_kvm_offset(), each takes 16 bytes.
 * NULL: no memory.
 */
struct timeline_kvm *timeline_kvm_new(const struct trace *trace, const struct timeline_clock *clock,
				      bool keeps_offsets, struct timeline_out *out);
void timeline_kvm_free(struct timeline_kvm *kvm);

/* An event of the stream: 0 or -ENOMEM. */
int timeline_kvm_add(struct timeline_kvm *kvm, const struct trace_event *event);

/* At the stream's end: closes what is open, and names the tracks. */
void timeline_kvm_end(struct timeline_kvm *kvm);

/*
 * From a guest's own TSC to the host's, by what was added to that (kvm_write_tsc_offset): of the
 * guest that is the nr-th to have been written one, for its vCPU. A vCPU of which nothing is known
 * has what the guest's first one has. Where the guest was told that its TSC runs at another
 * frequency than the host's (kvm_pvclock_update), the host's is scaled by their ratio first.
 * Returns false where no offset was written.
 */
bool timeline_kvm_host_time(const struct timeline_kvm *kvm, size_t nr, int32_t vcpu,
			    uint64_t guest_time, uint64_t *ret_time);

#endif
