/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory - how a guest's memory is spread over NUMA nodes, and how much of it is far from a CPU.
 *
 * /proc/PID/numa_maps has all memory of the VMM, huge pages too; nearly all of it is the guest's.
 * Of less than 64 MiB most may be programs and libraries, which are on the node where another
 * process first used them: for such a guest nothing is reported.
 *
 * Reading makes the kernel walk the page tables: some ms for each GiB of small pages. So a thread
 * reads one guest at a time, a guest every 30 seconds at most, for a hundredth of the time at most.
 * New guests are read at once, one after the other, for up to a second, so that most are known
 * after two samples. A sample has what was read before it. On a host with one node nothing is read.
 */
#ifndef KVMTOP_PROVIDERS_HOST_MEMORY_H
#define KVMTOP_PROVIDERS_HOST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/guests/guests.h"
#include "host/env.h"
#include "providers/host/cpus.h"

struct host_memory;

/* Whether the host has several nodes. */
bool host_memory_has_nodes(const struct env *env);

/* All arguments outlive it. */
struct host_memory *host_memory_new(const struct env *env, const struct guests *guests,
				    struct host_cpus *cpus);
void host_memory_free(struct host_memory *memory);

/* Call it for each sample: takes what was read, and starts the next reading. */
void host_memory_take_turn(struct host_memory *memory);

/* How much of the guest's memory is not on the CPU's node, in thousandths. -1: not known. */
int host_memory_remote(const struct host_memory *memory, uint32_t guest, int cpu);

#endif
