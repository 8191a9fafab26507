/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host - the parts of the provider "host": CPUs, memory, cgroups, threads of vCPUs, other threads.
 *
 * The arguments of a part's _new() outlive the part. Its _free() takes NULL.
 */
#ifndef KVMTOP_PROVIDERS_HOST_HOST_H
#define KVMTOP_PROVIDERS_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "core/facts/shared_fields.h"
#include "core/facts/sample.h"
#include "core/guests/follow.h"
#include "host/env.h"
#include "host/thread_list.h"

/* ---- cpus - the use of the host's CPUs, and their topology: proc(5) /proc/stat, and sysfs. */

struct host_cpus;

struct host_cpus *host_cpus_new(const struct env *env, const struct host_fields *fields);
void host_cpus_free(struct host_cpus *cpus);

/* Adds the rows of each CPU that is online. 0, or -errno: /proc/stat cannot be read. */
int host_cpus_collect(struct host_cpus *cpus, struct sample *sample);

/* The NUMA node of a CPU; -1: not known. */
int host_cpus_node(struct host_cpus *cpus, int cpu);

/*
 * ---- memory - how a guest's memory is spread over NUMA nodes, and how much of it is far from a
 * CPU.
 *
 * /proc/PID/numa_maps has all memory of the VMM, huge pages too; nearly all of it is the guest's.
 * A guest with less than 64 MiB is not reported: most of it may be programs and libraries, which
 * are on the node where another process first used them.
 *
 * Reading makes the kernel walk the page tables: some ms for each GiB of small pages. So a thread
 * reads one guest at a time, a guest every 30 seconds at most, for a hundredth of the time at most.
 * New guests are read at once, one after the other, for up to a second, so that most are known
 * after two samples. A sample has what was read before it. On a host with one node nothing is read.
 */

#define HOST_MEMORY_LEAST_KIB (64 * 1024)

struct host_memory;

/* Whether the host has several nodes. */
bool host_memory_has_nodes(const struct env *env);

struct host_memory *host_memory_new(const struct env *env, const struct guests *guests,
				    struct host_cpus *cpus);
void host_memory_free(struct host_memory *memory);

/* Call it for each sample: takes what was read, and starts the next reading. */
void host_memory_take_turn(struct host_memory *memory);

/* How much of the guest's memory is not on the CPU's node, in thousandths. -1: not known. */
int host_memory_remote(const struct host_memory *memory, uint32_t guest, int cpu);

/*
 * ---- cgroups - how long quotas keep threads from running.
 *
 * A cgroup's cpu.stat (cgroup v2: throttled_usec; v1: throttled_time) has the sum over all threads
 * and CPUs, without the time that its ancestors throttle. It is divided among the known threads of
 * the cgroup in proportion to how long each waited for a CPU, and no thread gets more than it
 * waited: the kernel counts a throttled thread as one that waits.
 *
 * In a sample: begin; then weigh each thread; then share each one.
 */

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

/*
 * ---- threads - the scheduler's numbers of vCPU threads.
 *
 * Each sample reads each thread's schedstat, and the stat of the threads that ran, for their CPU.
 * Both files stay open. The rest takes longer to read: the migrations (sched), the CPUs that the
 * thread may run on and the guest's memory that is swapped out (status), and its cgroup. A sample
 * reads them for HOST_THREADS_TURN vCPUs, which take turns. With more vCPUs, the migrations between
 * two turns of a thread are spread evenly over the samples until its next turn.
 */

#define HOST_THREADS_TURN 32

struct host_threads;

struct host_threads *host_threads_new(const struct env *env, const struct guests *guests,
				      const struct host_fields *fields,
				      struct host_memory *memory);
void host_threads_free(struct host_threads *threads);

/* Reads, and adds rows; ret_time_ns is when it read the threads' times. */
void host_threads_collect(struct host_threads *threads, struct sample *sample,
			  uint64_t *ret_time_ns);

/* How many vCPUs have a hidden cgroup, so that their quotas are not known. */
size_t host_threads_hidden(const struct host_threads *threads);

/*
 * ---- kernel_threads - the kernel's threads that work for a VMM: vhost's before Linux 6.4, and
 * since 6.17 where vhost's parameter fork_from_owner_default is 0; and KVM's timer. Each name has
 * the number of the thread that made it, "vhost-4110" or "kvm-pit/4110".
 *
 * All are children of kthreadd. The kernel lists these in order of their begin, which takes some
 * 0.4 us a thread, and a name is read once. In another pid namespace, and without
 * CONFIG_PROC_CHILDREN, none is found.
 */

#define HOST_KERNEL_THREADS_TURN 256

struct host_kernel_threads;

struct host_kernel_threads *host_kernel_threads_new(const struct env *env);
void host_kernel_threads_free(struct host_kernel_threads *threads);

/* Lists them anew. */
void host_kernel_threads_list(struct host_kernel_threads *threads);

/* Reads the names of HOST_KERNEL_THREADS_TURN threads that have none yet, the newest first. */
void host_kernel_threads_name(struct host_kernel_threads *threads);

/* Adds the threads that one of these threads made; tids is ascending, and stays so. */
void host_kernel_threads_add(const struct host_kernel_threads *threads, struct pid_list *tids);

bool host_kernel_threads_has(const struct host_kernel_threads *threads, pid_t tid);

/*
 * ---- vmms - how long the other threads of VMMs ran: the main thread, I/O threads, vhost.
 *
 * Threads of one name are one row: a VMM starts and ends workers all the time. A number of three
 * digits or more at the end of a name, such as a pid, is left out of the name. The threads of
 * HOST_VMMS_TURN guests are listed in a sample, one guest after the other, with the kernel's that
 * work for them; the kernel's list is read when the first guest has its turn.
 */

#define HOST_VMMS_TURN 8

struct host_vmms;

struct host_vmms *host_vmms_new(const struct env *env, const struct guests *guests,
				const struct host_fields *fields);
void host_vmms_free(struct host_vmms *vmms);

/* Reads, and adds rows. */
void host_vmms_collect(struct host_vmms *vmms, struct sample *sample);

#endif
