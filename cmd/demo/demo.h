/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demo - a tiny guest of our own, so that kvmtop has something to show on a host without guests.
 *
 * A child process runs a few dozen bytes of machine code through /dev/kvm (x86-64, AArch64, RISC-V
 * or POWER) and makes exits of several kinds. It ends with its parent, even if that is killed. The
 * tests use the same guest with exact numbers.
 */
#ifndef KVMTOP_CMD_DEMO_DEMO_H
#define KVMTOP_CMD_DEMO_DEMO_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"

/*
 * ---- vm.c: the VM, in steps: new, go, wait, free. Test programs look at a VM between them, while
 * its vCPUs stand still.
 */

/* What each vCPU does, in this order, in every round. */
struct demo_plan {
	uint32_t pio;	   /* port writes to user space (x86; calls of the hypervisor elsewhere) */
	uint32_t mmio;	   /* writes to an address without memory */
	uint32_t cpuid;	   /* CPUIDs (x86; other trapped instructions elsewhere) */
	uint32_t leaf_mask; /* which bits of the number of CPUIDs left are the leaf (x86) */
	uint32_t rounds;   /* 0: for ever */
	uint32_t pause_us; /* how long it halts after a round */
	uint32_t answer_us; /* how long user space takes to answer a port or address, */
	void (*answer)(uint32_t us); /* and what it does meanwhile; needed with answer_us */
	uint32_t vcpus;	   /* 1 to 8, a thread each */
};

struct demo_vm;

/*
 * Makes the VM and its vCPU threads, named "vcpu0" and so on, which wait for demo_vm_go(). They
 * block all signals and are woken with SIGUSR1, which needs no handler. Returns 0, or -errno with
 * error.
 */
int demo_vm_new(const struct demo_plan *plan, struct demo_vm **ret_vm, struct error *error);

/* Stops the vCPUs, in the middle of a round too. NULL is fine. */
void demo_vm_free(struct demo_vm *vm);

/* Begins the rounds. Called once for each set of threads. */
void demo_vm_go(struct demo_vm *vm);

/*
 * Waits until the rounds of all vCPUs are done (0), one of them failed (-errno with error), or
 * stop_fd is readable (0). The VM and its threads stay, idle if the rounds are done.
 */
int demo_vm_wait(struct demo_vm *vm, int stop_fd, struct error *error);

/*
 * Replaces the vCPUs' threads by new ones, which wait for demo_vm_go() and then do the whole plan
 * again. Returns 0, or -errno with error.
 */
int demo_vm_replace_threads(struct demo_vm *vm, struct error *error);

/* ---- demo.c: a process that has such a VM */

extern const struct demo_plan demo_default; /* a few thousand exits a second, for ever */

/*
 * Starts a child that runs the plan, named "kvmtop-demo"; returns once its vCPUs run, or -errno
 * with error. End it with demo_stop(), which waits for it; it ends by itself when this process is
 * gone.
 */
int demo_start(const struct demo_plan *plan, pid_t *ret_pid, struct error *error);
void demo_stop(pid_t pid);

#endif
