/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs of the provider "who" count, and its reader reads. */
#ifndef KVMTOP_PROVIDERS_WHO_SHARED_H
#define KVMTOP_PROVIDERS_WHO_SHARED_H

#include <linux/types.h>

#define WHO_VCPUS 4096	/* threads of vCPUs that are measured */
#define WHO_THREADS 65536 /* places for these and VMMs */
#define WHO_TRIES 16 /* places that are tried for one */
#define WHO_TIMES 16384 /* places for pairs of a vCPU that waits and what runs */
#define WHO_SLOTS 16 /* vCPUs that wait for one CPU */
#define WHO_BUCKETS 26 /* the same as HIST_BUCKETS of core/facts/durations.h */
#define WHO_NAME 16

#define WHO_IS_VMM 0xffffffff

/* A thread, at WHO_PLACE of its number or soon after. */
struct who_thread {
	__u32 tid; /* 0: free, and no other is after it; WHO_WAS_THREAD: free */
	__u32 number; /* of a vCPU's record, with 1 added; WHO_IS_VMM: a process */
};

#define WHO_WAS_THREAD 0xffffffff
#define WHO_PLACE(tid) ((__u32)(tid) * 0x9e3779b1u >> 16)

/* What had the CPU meanwhile. */
enum who_kind {
	WHO_VCPU,
	WHO_VMM,	/* another thread of a VMM */
	WHO_KERNEL,	/* a thread of the kernel */
	WHO_PROCESS,	/* any other thread */
	WHO_IRQ,	/* as the kernel accounts them */
	WHO_SOFTIRQ,
	WHO_IDLE,	/* the CPU was waking up */
	WHO_QUOTA,	/* whatever ran: the vCPU was throttled */
	WHO_UNKNOWN,	/* no program saw the wait, as when all WHO_SLOTS were taken */
};

#define WHO_BEING_MADE 1
#define WHO_IS_MADE (1ull << 63) /* a bit of every hash */

/*
 * A place for the time that a vCPU's thread waited while something ran. A pair that has no place
 * takes a free one; one that the reader has set free begins anew. Sums only grow.
 */
struct who_time {
	__u64 hash; /* of the pair; 0: the place is free; WHO_BEING_MADE */
	__u64 count; /* how often it had the CPU */
	__u64 ns, max_ns;
	__u32 tid;    /* of the vCPU's thread */
	__u32 kind;   /* enum who_kind */
	__u32 ran_tid, ran_pid; /* the first of these names; 0: it was no thread */
	char thread[WHO_NAME], process[WHO_NAME]; /* names as the kernel has them */
};

/* What interrupts have taken of a CPU; 0: not known. */
struct who_irqs {
	__u64 soft_ns, hard_ns;
};

/* A vCPU's thread. Its CPU's run queue is locked whenever a program writes here. */
struct who_record {
	__u32 tid;
	__u32 queue; /* the CPU that it waits for, with 1 added; 0: it does not wait */
	__u64 task;  /* its address in the kernel, while it waits */
	/*
	 * The present wait is charged up to this time, when the CPU had these interrupts; 0: none
	 * of it is on this CPU yet.
	 */
	__u64 since_ns;
	struct who_irqs irqs;
	__u64 is_throttled; /* whether a quota stopped the thread at since_ns. */
	/*
	 * Up to where the kernel's sum of the thread's waits is charged; 0: not known; where that
	 * was at first, and as the present wait began.
	 */
	__u64 seen_ns, first_ns, begun_ns;
	/* All that follows only grows. */
	__u64 max_ns, waits;
	__u64 preempted, in_kernel; /* waits that began in the guest; in the guest's kernel */
	__u32 hist[WHO_BUCKETS];
};

/* ---- of interrupts */

#define INTERRUPTS 16384
#define INTERRUPT_SLOTS 16 /* that are pending for a vCPU */
#define INTERRUPT_TIMER 0xffffffff /* in place of a vector: how late the vCPU's timer was */

struct interrupt {
	__u32 tid; /* the thread of the vCPU */
	__u32 irq; /* the vector; on AArch64 the number that the guest has */
};

/* From pending to entered. It only grows. */
struct interrupt_time {
	__u64 count, ns, max_ns;
	__u64 waking_ns, waiting_ns; /* parts of ns: the thread slept; it waited for a CPU */
	__u32 hist[WHO_BUCKETS];
};

/* The counter of AArch64 by the host's clock: both at one moment, and the ns of 2^24 cycles. */
struct counter_clock {
	__u64 cycles, ns, rate;
};

#endif
