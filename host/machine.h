/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - its name and CPUs, what its kernel measures, forbids and hides, and our descriptors.
 *
 * Sources: /proc/sys/kernel/hostname, the CPU lists of /sys/devices/system/cpu, proc(5)
 * (schedstat), kernel_lockdown(7), pid_namespaces(7).
 */
#ifndef KVMTOP_HOST_MACHINE_H
#define KVMTOP_HOST_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "host/env.h"

/* The machine's name without the domain; "captured" if a captured machine has no name. */
void host_name(const struct env *env, char *buf, size_t size);

/* ---- CPUs: the kernel's lists, "0-3,5,8-11", also of NUMA nodes */

#define CPUS_MAX 8192 /* NR_CPUS of the largest kernels */
#define CPUS_TEXT 4096
#define CPUS_ONLINE "/sys/devices/system/cpu/online"
#define CPUS_PRESENT "/sys/devices/system/cpu/present"	 /* now, online or not */
#define CPUS_POSSIBLE "/sys/devices/system/cpu/possible" /* until the next boot */

/* A walk along a list. */
struct cpus {
	const char *at; /* what follows; NULL: nothing */
	int next, last; /* of the range at hand */
};

static inline struct cpus cpus_of(const char *list)
{
	return (struct cpus){ .at = list, .last = -1 };
}

/*
 * The next CPU, in the order of the text. -1: there is none, or what follows does not belong to a
 * list.
 */
int cpus_next(struct cpus *cpus);

int cpus_count(const char *list);

/*
 * One more than the highest number in a list, such as CPUS_POSSIBLE; there may be fewer CPUs.
 * -errno when the list cannot be read.
 */
int cpus_end(const struct env *env, const char *name);

/* How many CPUs are online now; 0: not known. */
int host_cpus(const struct env *env);

/* ---- schedstat: whether the kernel measures how long threads wait for a CPU */

/*
 * Reads the file of this process, which has certainly run: without CONFIG_SCHEDSTATS and delay
 * accounting it is all zeros (fs/proc/base.c, proc_pid_schedstat()). False if it cannot be read.
 */
bool schedstat_is_on(const struct env *env);

/* ---- lockdown: what the kernel forbids even root */

struct lockdown {
	char level[32]; /* "integrity", "confidentiality"; "": none, or not known */
};

struct lockdown lockdown_read(const struct env *env);

/* ---- descriptors: how many files the process may have open: getrlimit(2), RLIMIT_NOFILE */

#define DESCRIPTORS_SPARE 64 /* for the rest of the program */

/*
 * Raises the soft limit to needed, or as far as allowed; never lowers it. needed: the number of
 * descriptors that the process will have open, with DESCRIPTORS_SPARE.
 */
void descriptors_raise(uint64_t needed);

/* Whether enough descriptors are left to read /proc and /sys. */
bool descriptors_are_left(void);

/*
 * Reads a small file of the kernel's from its begin, and keeps it open in *fd (-1:
 * it is not open) as long as descriptors are left; without them it is opened for each reading. A
 * file that cannot be read is closed: its thread or cgroup has ended, and the next one may have the
 * same path.
 */
bool descriptors_read(int *fd, const char *path, char *buf, size_t size);

/* Whether an error (-errno) means that there are too few descriptors: -EMFILE, -ENFILE. */
bool descriptors_are_short(int err);

/*
 * Says how many events are not counted because descriptors are missing, and what helps. needed: as
 * above.
 */
void descriptors_explain(struct error *error, unsigned int nr_events, uint64_t needed);

/*
 * ---- The pid namespace: whether our pids and tids are the kernel's own.
 *
 * BPF programs, tracefs (its events and set_event_pid) and the names of debugfs' folders have the
 * pids of the host's pid namespace; /proc and perf_event_open(2) have the pids of our namespace. In
 * a container one thread has two numbers, and one number can mean two threads.
 */

/* False where /proc/self/ns/pid cannot be read: the namespace is then taken for the host's. */
bool pid_namespace_is_other(const struct env *env);

/* 0, or -EXDEV with error pids that `what` ("BPF", "tracefs") has cannot be used from here. */
int pid_namespace_check(const struct env *env, const char *what, struct error *error);

#endif
