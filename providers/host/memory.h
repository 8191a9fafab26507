/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory - how a guest's memory is spread over NUMA nodes, and how much of it is far from a CPU.
 *
 * /proc/PID/numa_maps says it, for all memory that the VMM has, which is nearly all the guest's;
 * huge pages are in it. Less than 64 MiB may be mostly programs and libraries, pages of which
 * other processes have brought to whatever node: of such a guest nothing is said.
 *
 * The kernel walks the page tables for it: some ms for each GiB of small pages. So one guest is
 * read at a time, each every 30 seconds at most, and at most a hundredth of the time is spent with
 * it; guests that are new are read one behind the other, for up to a second, so that two samples
 * are enough to know most. That is done in a thread, and a sample has what was read before it. On a
 * host with one node nothing is read.
 */
#ifndef KVMTOP_PROVIDERS_HOST_MEMORY_H
#define KVMTOP_PROVIDERS_HOST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "host/env.h"
#include "host/guest.h"
#include "providers/host/cpus.h"

struct host_memory;

/* Whether the host has several nodes. */
bool host_memory_has_nodes(const struct env *env);

/* All arguments outlive it. NULL: no memory. */
struct host_memory *host_memory_new(const struct env *env, const struct guests *guests,
				    struct host_cpus *cpus);
void host_memory_free(struct host_memory *memory);

/* To be called for each sample: takes what was read, and begins what is due. 0 or -ENOMEM. */
int host_memory_take_turn(struct host_memory *memory);

/* How much of the guest's memory is not on the CPU's node, in thousandths. -1: not known. */
int host_memory_remote(const struct host_memory *memory, uint32_t guest, int cpu);

#endif
