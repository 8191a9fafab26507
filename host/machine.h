/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - what the title line shows of the machine.
 *
 * Sources: /proc/sys/kernel/hostname, /sys/devices/system/cpu/online.
 */
#ifndef KVMTOP_HOST_MACHINE_H
#define KVMTOP_HOST_MACHINE_H

#include <stddef.h>

#include "host/env.h"

/* The machine's name without the domain; "captured" if a captured machine has no name. */
void host_name(const struct env *env, char *buf, size_t size);

/* How many CPUs are online now; 0: not known. */
int host_cpus(const struct env *env);

#endif
