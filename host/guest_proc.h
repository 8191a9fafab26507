/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_proc - what the kernel says of one process that may hold a VM: proc(5) stat, fd/ and task/,
 * and the folder of the VM below debugfs kvm/.
 *
 * Processes end and change while they are read: a file that is gone is left out, and only the
 * functions that say so return an error for it.
 */
#ifndef KVMTOP_HOST_GUEST_PROC_H
#define KVMTOP_HOST_GUEST_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/env.h"
#include "host/thread_list.h"

struct proc_stat {
	char state;
	pid_t ppid;
	bool is_kernel;	      /* a kernel thread */
	long nr_threads;
	uint64_t start_ticks; /* since boot */
};

/*
 * Whether an error means that reading failed, as without descriptors (-EMFILE), and so tells
 * nothing about the file: not that it is gone (-ENOENT, -ESRCH, -ENOTDIR), nor that we may not read
 * it (-EACCES, -EPERM). The caller then keeps what it knew before.
 */
bool proc_has_failed(int err);

/* A VM's folder below debugfs kvm/. */
struct vm_folder {
	pid_t creator; /* the thread that made the VM, as the kernel's own pid namespace has it */
	int fd;	       /* the descriptor it got */
};

/*
 * Reads "PID-FD"; a future kernel may append "-something". Returns false for a name that is not a
 * VM's.
 */
bool vm_folder_parse(const char *name, struct vm_folder *ret_folder);

/* Returns false for text that is not a stat file's. */
bool proc_stat_parse(const char *text, struct proc_stat *ret_stat);
/* Returns 0, -ESRCH: no such process, or -errno. */
int proc_stat_read(const struct env *env, pid_t pid, struct proc_stat *ret_stat);

/* The process that a thread belongs to; 0: no such thread, or its status cannot be read now. */
pid_t proc_of_thread(const struct env *env, pid_t tid);

/*
 * Counts the VM descriptors of a process and adds its vCPU descriptors to vcpus (NULL: not wanted)
 * with tid 0; a vCPU with two descriptors is added twice. Returns 0 or -errno (-EACCES: we may not
 * read them).
 */
int proc_read_fds(const struct env *env, pid_t pid, unsigned int *ret_nr_vms,
		  struct vcpu_list *vcpus);
/* Whether the descriptor is a VM: 1, 0 or -errno. */
int proc_fd_is_vm(const struct env *env, pid_t pid, int fd);

/*
 * Adds the vCPUs of a VM's folder below debugfs kvm/, which has vcpuN/pid on x86 and newer arm64
 * kernels. A thread that is not in tids has ended, or is of another pid namespace: its vCPU gets
 * tid 0.
 * Returns 0 or -errno.
 */
int proc_read_vm_folder(const char *path, const struct pid_list *tids, struct vcpu_list *vcpus);

/*
 * Finds threads by their names: for the vCPUs that have none yet, or, where vcpus is empty, as its
 * vCPUs. With nr_vms > 1 an index may be there once per VM. Returns 0 or -errno.
 */
int proc_name_threads(const struct env *env, pid_t pid, const struct pid_list *tids,
		      unsigned int nr_vms, struct vcpu_list *vcpus);

#endif
