/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demo - a tiny guest of our own, so that a host without guests has something to show.
 *
 * A child process runs a few dozen bytes of machine code through /dev/kvm (x86-64, AArch64, RISC-V
 * or POWER) and makes exits of several kinds. It dies with its parent, whatever way that ends. The
 * tests use the same guest with exact numbers.
 */
#ifndef KVMTOP_DEMO_DEMO_H
#define KVMTOP_DEMO_DEMO_H

#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"

/* What each vCPU does, in this order, in every round. */
struct demo_plan {
	uint32_t pio;	   /* port writes to user space (x86; calls of the hypervisor elsewhere) */
	uint32_t mmio;	   /* writes to an address nobody backs */
	uint32_t cpuid;	   /* CPUIDs (x86; other trapped instructions elsewhere) */
	uint32_t rounds;   /* 0: for ever */
	uint32_t pause_us; /* halted after a round */
	uint32_t answer_us; /* slept there before a port or an address answers */
	uint32_t vcpus;	   /* 1 to 8, a thread each */
};

extern const struct demo_plan demo_default; /* a few thousand exits a second, for ever */

/*
 * Runs the plan in the calling process until its rounds are done or stop_fd (an eventfd or pipe,
 * -1: none) becomes readable. Returns 0, or -errno with why: /dev/kvm missing, not allowed, no
 * code for this machine.
 */
int demo_run(const struct demo_plan *plan, int stop_fd, struct why *why);

/*
 * Starts a child that runs the plan, named "kvmtop-demo"; returns once its vCPUs run, or -errno
 * with why. End it with demo_stop(), which waits for it; it ends by itself when this process is
 * gone.
 */
int demo_start(const struct demo_plan *plan, pid_t *ret_pid, struct why *why);
void demo_stop(pid_t pid);

#endif
