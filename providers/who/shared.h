/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs of the provider "who" count, and its reader reads. */
#ifndef KVMTOP_PROVIDERS_WHO_SHARED_H
#define KVMTOP_PROVIDERS_WHO_SHARED_H

#include <linux/types.h>

#define WHO_VCPUS 4096	/* threads of vCPUs that are measured */
#define WHO_THREADS (2 * WHO_VCPUS) /* and VMMs */
#define WHO_PAIRS 16384
#define WHO_SLOTS 16 /* vCPUs that wait for one CPU */
#define WHO_BUCKETS 26 /* the same as HIST_BUCKETS of core/facts/durations.h */
#define WHO_NAME 16
#define WHO_WORDS 1024 /* a bit for each of 65,536 threads */

/* The value of a VMM in the map of threads; of a vCPU its record's number. */
#define WHO_IS_VMM 0xffffffff

/* What had the CPU meanwhile. */
enum who_kind {
	WHO_VCPU,	/* number: its thread */
	WHO_VMM,	/* another thread of a VMM; number: the process */
	WHO_KERNEL,	/* a thread of the kernel */
	WHO_PROCESS,
	WHO_IRQ,	/* as the kernel accounts them */
	WHO_SOFTIRQ,
	WHO_IDLE,	/* the CPU was waking up */
	WHO_QUOTA,	/* whatever ran: the vCPU was throttled */
	WHO_UNKNOWN,	/* no program saw the wait, as when all WHO_SLOTS were taken */
};

/* As the kernel has it, in as few loads as it takes. */
union who_name {
	char text[WHO_NAME];
	__u64 parts[WHO_NAME / sizeof(__u64)];
};

/* A vCPU's thread that waited, and what ran meanwhile: short, for each switch looks one up. */
struct who_pair {
	__u32 tid;
	__u32 kind;
	__u64 id; /* of what ran: of its name and number; what that is, only the time has */
};

/* Since the reader took it. */
struct who_time {
	__u64 count; /* how often it had the CPU */
	__u64 ns, max_ns;
	union who_name thread, process;
	__u64 number; /* see enum who_kind; else 0 */
};

/* A vCPU's thread. Its CPU's run queue is locked whenever a program writes here. */
struct who_record {
	__u32 tid;
	__u32 queue; /* the CPU that it waits for, with 1 added; 0: it does not wait */
	__u64 task;  /* its address in the kernel, while it waits */
	/*
	 * Of the present wait: up to when it is charged, and the CPU's interrupts then; 0: none of
	 * it is on this CPU yet;
	 */
	__u64 since_ns, irq_ns, softirq_ns;
	__u64 is_throttled; /* whether a quota stopped the thread at since_ns; */
	__u64 waited_ns; /* what is charged of it. */
	__u64 seen_ns;	 /* up to where the kernel's sum of the waits is charged; 0: not known */
	/* All that follows only grows. */
	__u64 ns, max_ns, waits;
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
