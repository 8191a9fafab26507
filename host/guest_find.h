/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_find - finds the processes that have a VM, and reads as little of /proc as possible.
 *
 * There are two ways. Debugfs names each VM's folder after the thread that created the VM and the
 * VM's descriptor: when a process with that descriptor is found for each folder, all guests are
 * known, and /proc is not searched. Otherwise a process is examined when it is new, a few times
 * while it is young, and then every ten seconds; in between, a refresh lists /proc only if a
 * process or thread was created.
 */
#ifndef KVMTOP_HOST_GUEST_FIND_H
#define KVMTOP_HOST_GUEST_FIND_H

#include <stdint.h>

#include "host/env.h"
#include "host/guest_proc.h"

struct guest_finder;

/* env must outlive the finder. */
struct guest_finder *guest_finder_new(const struct env *env);
void guest_finder_free(struct guest_finder *finder);

/*
 * Puts into found each process that has a VM and is not in known, and each process of known that
 * may have opened or closed a VM. known: the live processes found before. Both lists are ascending;
 * a process may be in found twice. Returns 0 or -errno.
 */
int guest_finder_run(struct guest_finder *finder, const struct pid_list *known, uint64_t now_ns,
		     struct pid_list *found);

/* The processes of the latest search of /proc that may not be examined; valid until the next. */
const struct pid_list *guest_finder_denied(const struct guest_finder *finder);

/*
 * Adds the vCPUs that debugfs has for a process (see proc_read_vm_folder()). Returns how many VMs
 * of the process debugfs has, or -errno: the folders could not be read.
 */
int guest_finder_read_folders(const struct guest_finder *finder, pid_t pid,
			      const struct pid_list *tids, struct vcpu_list *vcpus);

/* Whether its name or its threads' names are a VMM's. */
bool guest_is_likely(const struct env *env, pid_t pid);

#endif
