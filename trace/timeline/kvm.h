/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm - a recording of KVM's events as slices on a track for each vCPU.
 *
 * Between an entry and the next exit a vCPU is in the guest; from an exit to the next entry it is
 * in KVM, a slice with the name of the exit's reason. Inside that slice are the time in user space,
 * from kvm_userspace_exit on, and "halted" if the reason means that the vCPU idles; and where the
 * scheduler's events are recorded, "waiting for a CPU". All other events of KVM are points. A
 * thread that runs no vCPU has a track, too.
 *
 * A slice that the recording cuts off, at its ends or where events are missing, has the category
 * "cut": it is in no sum of `kvmtop report`.
 */
#ifndef KVMTOP_TRACE_TIMELINE_KVM_H
#define KVMTOP_TRACE_TIMELINE_KVM_H

#include "lib/error.h"
#include "trace/recording/trace.h"
#include "trace/timeline/out.h"

struct timeline_kvm;

/*
 * What is handed in must outlive it. keeps_offsets: for timeline_kvm_host_time(); an offset takes
 * 16 bytes.
 */
struct timeline_kvm *timeline_kvm_new(const struct trace *trace, const struct timeline_clock *clock,
				      bool keeps_offsets, struct timeline_out *out);
void timeline_kvm_free(struct timeline_kvm *kvm);

/* An event of the stream. */
void timeline_kvm_add(struct timeline_kvm *kvm, const struct trace_event *event);

/* At the stream's end: draws what is open, and names the tracks. */
void timeline_kvm_end(struct timeline_kvm *kvm);

/* ---- guests, after the stream's end; in the order of their first events */

struct timeline_guest {
	size_t number;
	const char *name; /* "web1 (4711)" */
	size_t nr_clocks; /* how many guests have offsets */
};

/*
 * The guest of this name, with or without the pid after it, or of this pid. -ENOENT or -ENOTUNIQ:
 * error lists the guests.
 */
int timeline_kvm_guest(const struct timeline_kvm *kvm, const char *name, size_t len,
		       struct timeline_guest *ret_guest, struct error *error);

/* The nr-th guest, from 0, of the guests that have offsets. False: they are fewer. */
bool timeline_kvm_guest_at(const struct timeline_kvm *kvm, size_t nr,
			   struct timeline_guest *ret_guest);

/*
 * From a guest's own TSC to the host's, by the offset between them (kvm_write_tsc_offset). A vCPU
 * without an offset gets the offset of the guest's first vCPU. If the guest's TSC runs at another
 * frequency than the host's (kvm_pvclock_update), their ratio is applied, too. False: the guest has
 * no offsets.
 */
bool timeline_kvm_host_time(const struct timeline_kvm *kvm, size_t number, int32_t vcpu,
			    uint64_t guest_time, uint64_t *ret_time);

/* ---- inside.c: events recorded by a guest's own kernel, beside the host's events */

/*
 * trace-cmd record -A makes a file for the guest, with the host's times. Its events are drawn as
 * points on a track for each of the guest's CPUs, in a process of their own. KVM events in the file
 * belong to guests within the guest, and are drawn like a host's.
 */
struct inside_file;

/* The caller sets trace, clock and out, which must outlive this, and zeroes the rest. */
struct timeline_inside {
	const struct trace *trace;
	const struct timeline_clock *clock;
	struct timeline_out *out;
	struct inside_file *files; /* by their index in the stream */
	size_t nr_files;
};

void timeline_inside_release(struct timeline_inside *inside);

/* Takes any event of the stream. */
void timeline_inside_add(struct timeline_inside *inside, const struct trace_event *event);

/*
 * ---- offsets.c: the offsets from the host's TSC to each vCPU's TSC, and when they were written
 * (kvm_write_tsc_offset)
 */

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
