/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held - the statistics descriptors that a VMM holds, and a short look into them.
 *
 * QEMU holds one for each vCPU from version 8.1 on: "anon_inode:kvm-vcpu-stats:N" in /proc/PID/fd.
 * Nothing else can be asked: the kernel gives such a descriptor only to the process that made the
 * VM (KVM_GET_STATS_FD, EIO for others), and opens none by its link.
 *
 * pidfd_getfd(2) copies a descriptor of a process that is named by a pidfd. The pidfd stays open,
 * because opening one takes as long as three copies, and it keeps nothing of the guest. A copy
 * keeps the VM's memory after the guest has ended, so it is closed again at once. Kernels without
 * commit eed3013faa40 ("KVM: Grab a reference to KVM for VM and vCPU stats file descriptors", Linux
 * 6.5) need the VM itself while one is read; there the VM is copied first, and closed last.
 *
 * A captured machine has the bytes in files, DIR/kvmtop/stats/PID/FD.
 */
#ifndef KVMTOP_PROVIDERS_STATS_HELD_H
#define KVMTOP_PROVIDERS_STATS_HELD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/env.h"
#include "providers/stats/layout.h"

struct held_fd {
	int fd;	      /* the VMM's number */
	int32_t vcpu; /* as the kernel numbers it; -1: the VM's own */
	const struct stats_layout *layout; /* the owner's; NULL: not read yet */
};

/* What a VMM holds. HELD_NOTHING at first. */
struct held {
	struct held_fd *fds; /* ascending by vcpu; of several for one vCPU the lowest */
	size_t nr, room;
	int vm_fd; /* the VMM's number of the VM, of several the lowest; -1: it is not needed */
	int pidfd; /* of the VMM; -1: it holds none, or is of a captured machine */
};

#define HELD_NOTHING ((struct held){ .vm_fd = -1, .pidfd = -1 })

/*
 * Looks for them in /proc/PID/fd. 0 or -errno, which leaves none: -ENOSYS, a system call is
 * filtered; or too few descriptors.
 */
int held_find(const struct env *env, pid_t pid, struct held *held);
void held_release(struct held *held);

/* Reading: from held_look() to held_look_away(). */
struct held_look {
	const struct env *env;
	pid_t pid;
	int pidfd, vm; /* -1: of a captured machine; pidfd: of struct held; vm, -1: not needed */
	int first, end; /* copies that are still to be closed */
};

/*
 * 0, or -errno: -ESRCH, the process has ended; -EBADF, it holds something else by now; -EPERM, it
 * may not be looked into; -ENOSYS, a system call is filtered; or too few descriptors.
 */
int held_look(const struct env *env, pid_t pid, const struct held *held,
	      struct held_look *ret_look);

/*
 * Reads the bytes from a position on, to the same position of bytes, which has room for size.
 * Returns where they end, or -errno as above.
 */
ssize_t held_read(struct held_look *look, int fd, char *bytes, size_t from, size_t size);
void held_look_away(struct held_look *look);

#endif
