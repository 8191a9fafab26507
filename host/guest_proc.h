/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_proc - what the kernel says of one process that may hold a VM: proc(5) stat, fd/ and task/,
 * and the folder of the VM below debugfs kvm/.
 *
 * Processes end and change while they are read: what is gone is left out, and only the functions
 * that say so tell about it. Lists start as { 0 } and are released by their owner.
 */
#ifndef KVMTOP_HOST_GUEST_PROC_H
#define KVMTOP_HOST_GUEST_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/env.h"
#include "host/guest.h"

struct pid_list {
	pid_t *pids; /* ascending */
	size_t nr;
	size_t room;
};

struct vcpu_list {
	struct vcpu *vcpus; /* ascending by index, then tid */
	size_t nr;
	size_t room;
};

struct proc_stat {
	char state;
	pid_t ppid;
	bool is_kernel;	      /* a kernel thread */
	long nr_threads;
	uint64_t start_ticks; /* since boot */
};

/*
 * Whether an error tells nothing of what was looked for: neither that it is gone (-ENOENT, -ESRCH,
 * -ENOTDIR) nor that it is not ours to see (-EACCES, -EPERM), but that looking failed, as without
 * descriptors (-EMFILE). What was known before is then still the best there is.
 */
bool proc_has_failed(int err);

/* The number that a folder's name is, 0: it is not a pid. */
pid_t pid_parse(const char *name);

/* A VM's folder below debugfs kvm/. */
struct vm_folder {
	pid_t creator; /* the thread that made the VM, as the kernel's own pid namespace has it */
	int fd;	       /* the descriptor it got */
};

/* Returns false for a name that is no VM's: "PID-FD"; one day more may follow after a '-'. */
bool vm_folder_parse(const char *name, struct vm_folder *ret_folder);

/* Replaces the list by the folders of path whose names are pids. Returns 0 or -errno. */
int pid_list_read(struct pid_list *list, const char *path);
/* Adds at the end: who adds out of order sorts before pid_list_has(). Returns 0 or -ENOMEM. */
int pid_list_add(struct pid_list *list, pid_t pid);
void pid_list_sort(struct pid_list *list);
bool pid_list_has(const struct pid_list *list, pid_t pid);
void pid_list_release(struct pid_list *list);
void vcpu_list_release(struct vcpu_list *list);

/* Returns false for text that is not a stat file's. */
bool proc_stat_parse(const char *text, struct proc_stat *ret_stat);
/* Returns 0, -ESRCH: no such process, or -errno. */
int proc_stat_read(const struct env *env, pid_t pid, struct proc_stat *ret_stat);

/* The process that a thread belongs to; 0: no such thread, or it cannot be told now. */
pid_t proc_of_thread(const struct env *env, pid_t tid);

/*
 * Counts the VM descriptors of a process and adds its vCPU descriptors to vcpus (NULL: not wanted)
 * with tid 0; one held twice is there twice. Returns 0 or -errno (-EACCES: not ours to look at).
 */
int proc_read_fds(const struct env *env, pid_t pid, unsigned int *ret_nr_vms,
		  struct vcpu_list *vcpus);
/* Is this descriptor a VM? Returns 1, 0 or -errno. */
int proc_fd_is_vm(const struct env *env, pid_t pid, int fd);

/*
 * Adds the vCPUs of a VM's folder below debugfs kvm/, which has vcpuN/pid on x86 and newer arm64
 * kernels. A thread that is not in tids ended, or was never there (a pid namespace): tid 0.
 * Returns 0 or -errno.
 */
int proc_read_vm_folder(const char *path, const struct pid_list *tids, struct vcpu_list *vcpus);

/*
 * Finds the threads of vCPUs that have none yet by the names of the threads, and even vCPUs that
 * nothing else told of. nr_vms: more than one, and an index may be there as often. Returns 0 or
 * -errno.
 */
int proc_name_threads(const struct env *env, pid_t pid, const struct pid_list *tids,
		      unsigned int nr_vms, struct vcpu_list *vcpus);

/* How many vCPUs have no thread. */
size_t vcpu_list_missing(const struct vcpu_list *list);

#endif
