/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroups - how long quotas keep threads from running.
 *
 * A cgroup's cpu.stat (cgroup v2: throttled_usec; v1: throttled_time) has the sum over all threads
 * and CPUs, without the time that its ancestors throttle. It is divided among the known threads of
 * the cgroup in proportion to how long each waited for a CPU, and no thread gets more than it
 * waited: the kernel counts a throttled thread as one that waits.
 *
 * In a sample: begin; then weigh each thread; then share each one.
 */
#ifndef KVMTOP_PROVIDERS_HOST_CGROUPS_H
#define KVMTOP_PROVIDERS_HOST_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/env.h"

struct host_cgroups;
struct host_cgroup;

struct host_cgroups *host_cgroups_new(const struct env *env);
void host_cgroups_free(struct host_cgroups *cgroups);

/*
 * Reads the cgroup of a thread. NULL: it cannot be read. Valid as long as it
 * is kept before each host_cgroups_sweep().
 */
struct host_cgroup *host_cgroups_find(struct host_cgroups *cgroups, pid_t pid, pid_t tid);

/* Reads how long each cgroup was throttled since the previous call. */
void host_cgroups_begin(struct host_cgroups *cgroups);

/* Whether this cgroup, or one above, has or had a quota. NULL is fine. */
bool host_cgroup_has_quota(const struct host_cgroup *cgroup);

/*
 * The quota that has stopped the cgroup most since the previous sample, its own or one above:
 * "/sys/fs/cgroup/x/cpu.max: 0.2 CPUs". False, with ret_text untouched: none has, or its limit
 * cannot be read. NULL is fine.
 */
bool host_cgroup_quota(const struct host_cgroups *cgroups, const struct host_cgroup *cgroup,
		       char *ret_text, size_t size);

/*
 * Whether a thread's cgroup is outside of the cgroup namespace that this process is in, so that
 * none of its files can be read.
 */
bool host_cgroup_is_hidden(const struct host_cgroups *cgroups, pid_t pid, pid_t tid);

/* wait_ns: how long a thread of the cgroup waited since the previous sample. NULL is fine. */
void host_cgroup_weigh(struct host_cgroup *cgroup, uint64_t wait_ns);

/* How long the thread was throttled, of the time that it waited. NULL is fine. */
uint64_t host_cgroup_share(const struct host_cgroup *cgroup, uint64_t wait_ns);

/* Keep marks a cgroup, and all above, as in use; sweep drops cgroups that are not marked. */
void host_cgroup_keep(struct host_cgroup *cgroup);
void host_cgroups_sweep(struct host_cgroups *cgroups);

#endif
