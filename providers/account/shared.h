/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the iterator writes, and account.c reads. */
#ifndef KVMTOP_PROVIDERS_ACCOUNT_SHARED_H
#define KVMTOP_PROVIDERS_ACCOUNT_SHARED_H

#include <linux/types.h>

#define ACCOUNT_BYTES_MAX 4096 /* of the statistics of a vCPU; Linux 7.2 has 1,120 on x86 */

/* The thread that runs a vCPU, as the scheduler has it at the moment now_ns. */
struct account_thread {
	__u64 now_ns; /* CLOCK_MONOTONIC; 0: it is not known what the vCPU's sleep is */
	__u64 ran_ns, waited_ns; /* on a CPU, and runnable without one */
	__u64 asleep_ns; /* for how long it has been asleep by now; 0: it is not */
	__u64 sleeps; /* how often it has fallen asleep */
	__u64 is_idle; /* whether KVM blocks the vCPU: it is halted, or not started */
};

/*
 * One for each descriptor of a VM or vCPU, followed by its statistics: `size` bytes. From the other
 * program, for the names of a guest's functions: one for each memory slot of a VM, followed by it,
 * and one for each vCPU, followed by its registers.
 */
struct account_head {
	__u32 pid;  /* of the process that holds the descriptor */
	__s32 vcpu; /* -1: the VM's own */
	__u32 tid;  /* of the thread that runs the vCPU; 0: none has yet */
	__u32 size;
	__u64 vm;   /* differs between the VMs of one process */
	struct account_thread thread; /* where statistics follow; else zero */
};

/* ---- the lives of VMs: what lives.bpf.c writes as it happens */

#define ACCOUNT_LIVES_BYTES (1 << 20) /* of some 800 vCPUs that end between two samples */
#define ACCOUNT_COMMAND_MAX 4096

enum { ACCOUNT_BEGUN, ACCOUNT_ENDED };

/* A process makes a VM. */
struct account_begun {
	__u32 kind;
	__u32 pid;
	__u64 vm;
	__u64 now_ns;
	char comm[16]; /* the process's */
	__u32 size;
	char command[ACCOUNT_COMMAND_MAX]; /* size bytes: its arguments, each ended by NUL */
};

/* A VM or vCPU is destroyed, with its last statistics. */
struct account_ended {
	__u32 kind;
	__u32 unused;
	struct account_head head; /* without pid; of the thread, when that was */
	char bytes[];
};

struct account_slot {
	__u64 gfn, pages, hva;
};

/* 0: not known. x86: CR3, CR4; AArch64: TTBR1_EL1, TCR_EL1. */
struct account_registers {
	__u64 pc, root, control, lstar, idt;
};

#endif
