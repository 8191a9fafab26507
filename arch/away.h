/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * away - what a vCPU's time without a CPU counts as: one rule for the programs in the kernel and
 * for recordings.
 *
 * BPF programs include this header: it needs no libc.
 */
#ifndef KVMTOP_ARCH_AWAY_H
#define KVMTOP_ARCH_AWAY_H

#include <linux/types.h>

/* An absence, or several: how long the thread waited for a CPU, and how long it slept. */
struct exits_off {
	__u64 waited_ns, slept_ns;
};

/* Of the time of exits of one reason. Waiting is no part of the time: it is beside it. */
struct exits_parts {
	__u64 waited_ns; /* for a CPU */
	__u64 blocked_ns; /* asleep, though the guest had work */
	__u64 idle_ns;	  /* asleep in a halt */
	__u64 polled_ns;  /* KVM polled for the end of the halt */
};

/*
 * Adds an absence. is_idle: a thread that sleeps then has nothing to do, as in a halt. While user
 * space has an exit, the absence is added to the exit to user space, and by the same is_idle to the
 * VM exit that it lies in.
 */
static inline void exits_parts_add(struct exits_parts *parts, const struct exits_off *off,
				   _Bool is_idle)
{
	parts->waited_ns += off->waited_ns;
	if (is_idle)
		parts->idle_ns += off->slept_ns;
	else
		parts->blocked_ns += off->slept_ns;
}

/* Adds what others have. */
static inline void exits_parts_join(struct exits_parts *to, const struct exits_parts *from)
{
	to->waited_ns += from->waited_ns;
	to->blocked_ns += from->blocked_ns;
	to->idle_ns += from->idle_ns;
	to->polled_ns += from->polled_ns;
}

#endif
