/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift - what puts the times of a guest's trace.dat on its host's clock.
 *
 * trace-cmd measures it while it records both, and writes it into the guest's file: for each of the
 * guest's CPUs, samples of when, how much to add, and by what to multiply first. With
 * time synchronization by messages (PTP) what is to be added changes between two samples; with
 * KVM's it holds from a sample on.
 *
 * Source: man 5 trace-cmd.dat.v7 (TIME_SHIFT), trace-cmd's timestamp_host_sync().
 */
#ifndef KVMTOP_TRACE_DAT_SHIFT_H
#define KVMTOP_TRACE_DAT_SHIFT_H

#include "trace/cursor.h"

struct dat_shift_cpu;

/* Begins as zeroes: nothing is shifted. */
struct dat_shift {
	uint64_t host_id; /* the trace_id of the host's file; 0: not a guest's file */
	bool interpolates;
	struct dat_shift_cpu *cpus;
	size_t nr_cpus;
};

/* The option of `size` bytes at the cursor: 0, -EINVAL if it makes no sense, or -ENOMEM. */
int dat_shift_read(struct dat_shift *shift, struct cursor *cursor, uint32_t size);
void dat_shift_release(struct dat_shift *shift);

/* From a time as the guest's CPU stamped it to the host's. */
uint64_t dat_shift_time(const struct dat_shift *shift, int cpu, uint64_t time);

#endif
