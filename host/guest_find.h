/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_find - finds the processes that hold a VM, with as few looks into /proc as it can.
 *
 * Two ways lead to them. Debugfs names each VM's folder after the thread that made it and the
 * descriptor it got: when each folder leads to a process that still holds the descriptor, all
 * guests are known, and /proc is not searched. Else a process is examined when it is new, a few
 * times while it is young, and again every ten seconds; between, a refresh lists /proc only if a
 * process or thread was created since.
 */
#ifndef KVMTOP_HOST_GUEST_FIND_H
#define KVMTOP_HOST_GUEST_FIND_H

#include <stdint.h>

#include "host/env.h"
#include "host/guest_proc.h"

struct guest_finder;

/* NULL: no memory. env must outlive it. */
struct guest_finder *guest_finder_new(const struct env *env);
void guest_finder_free(struct guest_finder *finder);

/*
 * Puts into found each process that holds a VM and is not in known, and each of known that may have
 * opened or closed a VM. known: the live processes found before. Both ascend; a process may be in
 * found twice. Returns 0 or -errno.
 */
int guest_finder_run(struct guest_finder *finder, const struct pid_list *known, uint64_t now_ns,
		     struct pid_list *found);

/*
 * Adds the vCPUs that debugfs names for a process found (see proc_read_vm_folder()).
 * Returns how many VMs of it debugfs has, or -errno: they could not be read now.
 */
int guest_finder_read_folders(const struct guest_finder *finder, pid_t pid,
			      const struct pid_list *tids, struct vcpu_list *vcpus);

#endif
