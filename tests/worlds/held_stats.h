/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held_stats - a process that holds the kernel's statistics of its VM open, as QEMU 8.1 and later
 * do.
 */
#ifndef KVMTOP_TESTS_WORLDS_HELD_STATS_H
#define KVMTOP_TESTS_WORLDS_HELD_STATS_H

#include <dirent.h>
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/error.h"

/* Linux 5.14 */
#ifndef KVM_GET_STATS_FD
#define KVM_GET_STATS_FD _IO(KVMIO, 0xce)
#endif

/* Of this process' VM and of each vCPU, from now on. 0, or -errno with error. */
static inline int hold_stats(struct error *error)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;
	int err = fds ? 0 : -errno;

	while (!err && (entry = readdir(fds))) {
		char target[64] = "";

		if (readlinkat(dirfd(fds), entry->d_name, target, sizeof(target) - 1) < 0)
			continue;
		if (strncmp(target, "anon_inode:kvm-v", 16) != 0 || strstr(target, "stats"))
			continue;
		if (ioctl(atoi(entry->d_name), KVM_GET_STATS_FD, 0) < 0)
			err = -errno;
	}
	if (fds)
		closedir(fds);
	return err ? error_set(error, err, "no statistics of the guest: %s", strerror(-err)) : 0;
}

#endif
