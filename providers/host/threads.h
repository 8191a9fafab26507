/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads - the scheduler's numbers of vCPU threads.
 *
 * Each sample reads each thread's schedstat, and the stat of the threads that ran, for their CPU.
 * Both files stay open. The rest takes longer to read: the migrations (sched), the CPUs that the
 * thread may run on (status), and its cgroup. A sample reads them for HOST_THREADS_TURN vCPUs,
 * which take turns. With more vCPUs, the migrations between two turns of a thread are spread evenly
 * over the samples until its next turn.
 */
#ifndef KVMTOP_PROVIDERS_HOST_THREADS_H
#define KVMTOP_PROVIDERS_HOST_THREADS_H

#include <stddef.h>

#include "core/facts/host_fields.h"
#include "core/facts/sample.h"
#include "core/guests/guests.h"
#include "host/env.h"
#include "providers/host/memory.h"

#define HOST_THREADS_TURN 32

struct host_threads;

/* All arguments outlive it. */
struct host_threads *host_threads_new(const struct env *env, const struct guests *guests,
				      const struct host_fields *fields,
				      struct host_memory *memory);
void host_threads_free(struct host_threads *threads);

/* Reads, and adds rows; ret_time_ns is when it read the threads' times. */
void host_threads_collect(struct host_threads *threads, struct sample *sample,
			  uint64_t *ret_time_ns);

/* Of how many vCPUs the cgroup is hidden, so that their quotas are not known. */
size_t host_threads_hidden(const struct host_threads *threads);

#endif
