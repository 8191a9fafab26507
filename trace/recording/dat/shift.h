/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift - converts times in a guest's trace.dat to its host's clock.
 *
 * trace-cmd compares the two clocks while it records host and guest, and writes samples into the
 * guest's file: for each of the guest's CPUs, a time, an offset to add, and a factor to multiply
 * with before. If trace-cmd measured with messages (PTP), the offset is interpolated between two
 * samples; if the offset came from KVM, it is constant until the next sample.
 *
 * Source: man 5 trace-cmd.dat.v7 (TIME_SHIFT), trace-cmd's timestamp_host_sync().
 */
#ifndef KVMTOP_TRACE_RECORDING_DAT_SHIFT_H
#define KVMTOP_TRACE_RECORDING_DAT_SHIFT_H

#include "trace/recording/cursor.h"

struct dat_shift_cpu;

/* Zero-initialised: times are not changed. */
struct dat_shift {
	uint64_t host_id; /* trace_id of the host's file; 0: this is not a guest's file */
	bool interpolates;
	struct dat_shift_cpu *cpus;
	size_t nr_cpus;
};

/* Reads the option of `size` bytes at the cursor: 0, -EINVAL if it is damaged, or -ENOMEM. */
int dat_shift_read(struct dat_shift *shift, struct cursor *cursor, uint32_t size);
void dat_shift_release(struct dat_shift *shift);

/* Converts a time of the guest's CPU to the host's clock. */
uint64_t dat_shift_time(const struct dat_shift *shift, int cpu, uint64_t time);

#endif
