/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpus - the kernel's CPU lists, "0-3,5,8-11".
 */
#ifndef KVMTOP_HOST_CPUS_H
#define KVMTOP_HOST_CPUS_H

#include "host/env.h"

#define CPUS_MAX 8192 /* NR_CPUS of the largest kernels */
#define CPUS_ONLINE "/sys/devices/system/cpu/online"
#define CPUS_PRESENT "/sys/devices/system/cpu/present"	 /* now, online or not */
#define CPUS_POSSIBLE "/sys/devices/system/cpu/possible" /* until the next boot */

/*
 * Calls add(arg, cpu) for each CPU of a list, in the order of the text; stops at the first
 * character that does not belong to a list. Returns the number of CPUs, or a negative result of
 * add.
 */
int cpus_parse(const char *list, int (*add)(void *arg, int cpu), void *arg);

/* The same for the CPUs that are online. -errno when the list cannot be read. */
int cpus_online(const struct env *env, int (*add)(void *arg, int cpu), void *arg);

/*
 * One more than the highest number in a list, CPUS_POSSIBLE for example; there may be fewer CPUs.
 * -errno when the list cannot be read.
 */
int cpus_end(const struct env *env, const char *list);

#endif
