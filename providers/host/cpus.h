/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpus - what the host's CPUs do, and where they are: proc(5) /proc/stat, and sysfs' topology.
 */
#ifndef KVMTOP_PROVIDERS_HOST_CPUS_H
#define KVMTOP_PROVIDERS_HOST_CPUS_H

#include "lib/error.h"
#include "core/facts/host_fields.h"
#include "core/facts/sample.h"
#include "host/env.h"

struct host_cpus;

/* Both arguments outlive it. */
struct host_cpus *host_cpus_new(const struct env *env, const struct host_fields *fields);
void host_cpus_free(struct host_cpus *cpus);

/* Adds the rows of each CPU that is online. 0, or -errno: /proc/stat cannot be read. */
int host_cpus_collect(struct host_cpus *cpus, struct sample *sample);

/* The NUMA node of a CPU; -1: not known. */
int host_cpus_node(struct host_cpus *cpus, int cpu);

#endif
