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
#include <stddef.h>

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

/*
 * ---- what differs between the demo guests of the kinds of machines
 *
 * A round of a vCPU makes exactly the exits of the plan and then the mark, which ends it: on x86 a
 * HLT (KVM_EXIT_HLT, for there is no interrupt controller); elsewhere, where KVM does not return to
 * user space for a halt, an MMIO write and then a halt, which lasts for the pause until the vCPU is
 * kicked out of it.
 */

#define DEMO_CODE_OFFSET 16 /* in the guest's memory; at 0 is struct demo_counts */

/* What the guest's code reads when a round begins. The offsets are in the code of every machine. */
struct demo_counts {
	uint32_t pio;	/* at 0 */
	uint32_t mmio;	/* at 4 */
	uint32_t cpuid; /* at 8 */
	uint32_t leaf_mask; /* at 12 */
};

_Static_assert(sizeof(struct demo_counts) == 16 && DEMO_CODE_OFFSET == 16, "the code says so");

struct demo_machine {
	const char *remedy;  /* what to check where there is no /dev/kvm */
	uint64_t memory_gpa; /* where the guest's only page of memory is */
	const uint8_t *code, *code_end;
	unsigned long (*vm_type)(int kvm_fd);	     /* for KVM_CREATE_VM; NULL: 0 */
	void (*prepare_vm)(int vm_fd);		     /* may be NULL */
	int (*prepare_vcpu)(int vm_fd, int vcpu_fd); /* 0 or -errno */
	/* A write here is the mark. 0: KVM_EXIT_HLT is, and the members below are 0. */
	uint64_t mark_gpa;
	const uint8_t *halted; /* in the code, the instruction after the halt */
	/*
	 * The number of the program counter for KVM_GET_ONE_REG; vm.c sets the counter to the
	 * code before each round. 0: the counter has no number. Then prepare_vcpu() sets it, and
	 * the code goes back to its start by itself.
	 */
	uint64_t pc_id;
	uint64_t (*read_pc)(int vcpu_fd); /* if pc_id is 0; returns 0 after an error */
};

extern const struct demo_machine demo_machine_x86, demo_machine_arm64, demo_machine_riscv64,
	demo_machine_ppc64;

#endif
