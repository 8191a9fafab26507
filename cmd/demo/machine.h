/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - what differs between the demo guests of the kinds of machines.
 *
 * A round of a vCPU makes exactly the exits of the plan and then the mark, which ends it: on x86 a
 * HLT (KVM_EXIT_HLT, for there is no interrupt controller); elsewhere, where KVM does not return to
 * user space for a halt, an MMIO write and then a halt, which lasts for the pause until the vCPU is
 * kicked out of it.
 */
#ifndef KVMTOP_CMD_DEMO_MACHINE_H
#define KVMTOP_CMD_DEMO_MACHINE_H

#include <stddef.h>
#include <stdint.h>

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
