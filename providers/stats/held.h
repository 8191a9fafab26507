/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held - finds the statistics descriptors that a VMM holds, and reads them without keeping them.
 *
 * QEMU holds one for each vCPU from version 8.1 on: "anon_inode:kvm-vcpu-stats:N" in /proc/PID/fd.
 * There is no other way to them: the kernel gives such a descriptor only to the process that made
 * the VM (KVM_GET_STATS_FD, EIO for others), and opens none by its link.
 *
 * pidfd_getfd(2) copies a descriptor of the process that a pidfd names. The pidfd stays open:
 * opening one takes as long as three copies, and it keeps nothing of the guest alive. A copied
 * descriptor would keep the VM's memory after the guest's end, so it is closed at once. Kernels
 * without commit eed3013faa40 ("KVM: Grab a reference to KVM for VM and vCPU stats file
 * descriptors", Linux 6.5) need the VM itself while a descriptor is read: there the VM's is copied
 * first, closed last.
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
	int fd;	      /* the number in the VMM */
	int32_t vcpu; /* as the kernel numbers it; -1: the VM's own */
	const struct stats_layout *layout; /* the owner's; NULL: not read yet */
};

/* What a VMM holds. HELD_NOTHING at first. */
struct held {
	struct held_fd *fds; /* ascending by vcpu; one for each, the lowest */
	size_t nr, room;
	int vm_fd; /* the VM's lowest descriptor in the VMM; -1: it is not needed */
	int pidfd; /* the VMM's; -1: the VMM holds no statistics, or the machine is captured */
};

#define HELD_NOTHING ((struct held){ .vm_fd = -1, .pidfd = -1 })

/*
 * Looks for statistics descriptors in /proc/PID/fd. 0, or -errno, and held has none: -ENOSYS: a
 * system call is filtered; or too few descriptors.
 */
int held_find(const struct env *env, pid_t pid, struct held *held);
void held_release(struct held *held);

/* Reading: from held_look() to held_look_away(). */
struct held_look {
	const struct env *env;
	pid_t pid;
	int pidfd; /* struct held's; -1: the machine is captured */
	int vm;	   /* the copy of the VM's descriptor; -1: it is not needed */
	int first, end; /* copies that are still to be closed */
};

/*
 * 0, or -errno: -ESRCH: the process has ended; -EBADF: it holds something else by now; -EPERM: its
 * descriptors may not be copied; -ENOSYS: a system call is filtered; or too few descriptors.
 */
int held_look(const struct env *env, pid_t pid, const struct held *held,
	      struct held_look *ret_look);

/*
 * Reads the statistics from a position on into bytes, at the same position; bytes has room for
 * size. Returns where the statistics end, or -errno as above.
 */
ssize_t held_read(struct held_look *look, int fd, char *bytes, size_t from, size_t size);
void held_look_away(struct held_look *look);

#endif
