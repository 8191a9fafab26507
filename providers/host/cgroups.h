/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroups - how long quotas keep threads from running.
 *
 * A cgroup's cpu.stat says it of all its threads together, added up over CPUs, and not of what its
 * ancestors throttle: cgroup v2, throttled_usec; v1, throttled_time. Each thread gets the part that
 * it waited of what all known threads of the cgroup waited, and never more than it waited: the
 * kernel counts a throttled thread as one that waits for a CPU.
 *
 * In a sample: begin; then weigh each thread; then share each one.
 */
#ifndef KVMTOP_PROVIDERS_HOST_CGROUPS_H
#define KVMTOP_PROVIDERS_HOST_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/env.h"

struct host_cgroups;
struct host_cgroup;

struct host_cgroups *host_cgroups_new(const struct env *env); /* NULL: no memory */
void host_cgroups_free(struct host_cgroups *cgroups);

/*
 * The cgroup of a thread, read now; NULL: it cannot be read, or there is no memory. Valid until a
 * host_cgroups_sweep() before which it was not kept.
 */
struct host_cgroup *host_cgroups_find(struct host_cgroups *cgroups, pid_t pid, pid_t tid);

/* Reads how long each cgroup was throttled since the previous call. */
void host_cgroups_begin(struct host_cgroups *cgroups);

/* Whether a quota of this cgroup, or of one above, is or was in force. NULL is fine. */
bool host_cgroup_has_quota(const struct host_cgroup *cgroup);

/* wait_ns: how long a thread of it waited meanwhile. NULL is fine. */
void host_cgroup_weigh(struct host_cgroup *cgroup, uint64_t wait_ns);

/* How much of the time that the thread waited it was throttled. NULL is fine. */
uint64_t host_cgroup_share(const struct host_cgroup *cgroup, uint64_t wait_ns);

/* Marks a cgroup, and all above, as in use; drops each one that was not marked since then. */
void host_cgroup_keep(struct host_cgroup *cgroup);
void host_cgroups_sweep(struct host_cgroups *cgroups);

#endif
