/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demo_vm - the VM behind demo.h, in steps, and what differs between kinds of machines.
 *
 * demo_run() is new, go, wait, free. Test programs take the steps one by one, to look at a VM whose
 * vCPUs stand still. A round of a vCPU makes exactly the exits of the plan and then the mark, which
 * ends it: on x86 a HLT (KVM_EXIT_HLT, for there is no interrupt controller); elsewhere, where user
 * space is not told of halts, an MMIO write and then a halt, which lasts for the pause until the
 * vCPU is kicked out of it.
 */
#ifndef KVMTOP_DEMO_DEMO_VM_H
#define KVMTOP_DEMO_DEMO_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "demo/demo.h"

struct demo_vm;
struct kvm_run;

/*
 * Makes the VM and its vCPU threads, named "vcpu0" and so on, which wait. They block all signals
 * and are woken with SIGUSR1, which needs no handler. Returns 0, or -errno with why.
 */
int demo_vm_new(const struct demo_plan *plan, struct demo_vm **ret_vm, struct why *why);

/* Stops the vCPUs wherever they are. NULL is fine. */
void demo_vm_free(struct demo_vm *vm);

/* Lets the rounds begin; once for each set of threads. */
void demo_vm_go(struct demo_vm *vm);

/*
 * Waits until the rounds of all vCPUs are done (0), one of them failed (-errno with why), or
 * stop_fd is readable (0). The VM and its threads stay, idle if the rounds are done.
 */
int demo_vm_wait(struct demo_vm *vm, int stop_fd, struct why *why);

/*
 * New threads in the place of the vCPUs', waiting as after demo_vm_new(); what they do once they go
 * is all of the plan again. 0 or -errno with why.
 */
int demo_vm_replace_threads(struct demo_vm *vm, struct why *why);

#define DEMO_CODE_OFFSET 16 /* into the guest's memory; before it struct demo_counts */

/* What the guest's code reads when a round begins. */
struct demo_counts {
	uint32_t pio;
	uint32_t mmio;
	uint32_t cpuid;
};

struct demo_machine {
	const char *remedy;  /* a question for the user who has no /dev/kvm */
	uint64_t memory_gpa; /* where the guest's only page of memory is */
	const uint8_t *code, *code_end;
	unsigned long (*vm_type)(int kvm_fd);	     /* for KVM_CREATE_VM; NULL: 0 */
	void (*prepare_vm)(int vm_fd);		     /* may be NULL */
	int (*prepare_vcpu)(int vm_fd, int vcpu_fd); /* the next KVM_RUN begins at the code */
	bool (*is_mark)(const struct kvm_run *run);  /* this exit ends a round */
	/* In the code, what comes after the halt behind the mark; NULL: the mark is one. */
	const uint8_t *halted;
	uint64_t (*read_pc)(int vcpu_fd); /* where a vCPU is, a guest's address; 0: unknown */
};

extern const struct demo_machine demo_machine_x86, demo_machine_arm64, demo_machine_riscv64,
	demo_machine_ppc64;

#endif
