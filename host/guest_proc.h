/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_proc - reads what the kernel has about a process that may have a VM: proc(5) stat, fd/ and
 * task/, and the folder of the VM below debugfs kvm/.
 *
 * Processes end and change while they are read: a file that is gone is skipped, and is an error
 * only where the function's comment says so.
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
	uint64_t guest_ticks; /* the time of its vCPUs in guests, for other users to see, too */
};

/*
 * Whether an error is a failure to read, such as too few descriptors (-EMFILE), after which the
 * caller keeps its old data. False for a file that is gone (-ENOENT, -ESRCH, -ENOTDIR; -EIO when it
 * went while it was read) or that we may not read (-EACCES, -EPERM).
 */
bool proc_has_failed(int err);

/* A VM's folder below debugfs kvm/. */
struct vm_folder {
	pid_t creator; /* the thread that made the VM, in the host's pid namespace */
	int fd;	       /* the descriptor of the VM */
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
/* A zombie with more threads is a main thread that ended before the others. */
bool proc_stat_has_ended(const struct proc_stat *stat);

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
 * kernels. The vCPU of a thread that is not in tids gets tid 0: the thread has ended, or is of
 * another pid namespace. Returns 0 or -errno.
 */
int proc_read_vm_folder(const char *path, const struct pid_list *tids, struct vcpu_list *vcpus);

/*
 * Finds threads by their names for vCPUs without a thread; if vcpus is empty, adds a vCPU for each
 * such thread. With nr_vms > 1 an index may occur once for each VM. Returns 0 or -errno.
 */
int proc_name_threads(const struct env *env, pid_t pid, const struct pid_list *tids,
		      unsigned int nr_vms, struct vcpu_list *vcpus);

/*
 * Replaces the list by the threads of a process now (/proc/PID/task), ascending. 0, or -errno:
 * -ESRCH: the process has ended; other errors, such as -EMFILE: the threads are not known.
 */
int proc_threads(const struct env *env, pid_t pid, struct pid_list *tids);

/*
 * ---- When to look for VMs in all processes: KVM has made a VM, as its event says, or the last
 * time was ten seconds ago; without events always.
 */

struct vm_watch {
	int events;	    /* a socket with KVM's events; -errno: there are none */
	unsigned int walks; /* how many more times at once */
	uint64_t walk_ns;   /* when the next time is, without an event */
};

void vm_watch_init(struct vm_watch *watch);
void vm_watch_release(struct vm_watch *watch);
bool vm_watch_is_due(struct vm_watch *watch, uint64_t now_ns);

/*
 * ---- The search for processes with a VM.
 *
 * There are two ways. Debugfs names each VM's folder after the thread that created the VM and the
 * VM's descriptor: when a process with that descriptor is found for each folder, all guests are
 * known. Otherwise the descriptors of all processes are read. A refresh between reads nothing.
 */

struct guest_finder;

/* env must outlive the finder. */
struct guest_finder *guest_finder_new(const struct env *env);
void guest_finder_free(struct guest_finder *finder);

/*
 * Puts into found each process that has a VM and is not in known, the live processes found before;
 * these may be there, too. Both lists are ascending; a process may be in found twice. Returns 0, or
 * -errno: the next call searches again.
 */
int guest_finder_run(struct guest_finder *finder, const struct pid_list *known, uint64_t now_ns,
		     struct pid_list *found);

/*
 * The processes of the latest search of /proc that may not be examined, ascending; valid until the
 * next.
 */
const struct pid_list *guest_finder_denied(const struct guest_finder *finder);

/*
 * Adds the vCPUs that debugfs has for a process (see proc_read_vm_folder()). Returns how many VMs
 * of the process debugfs has, or -errno: the folders could not be read.
 */
int guest_finder_read_folders(const struct guest_finder *finder, pid_t pid,
			      const struct pid_list *tids, struct vcpu_list *vcpus);

/* Whether its name or its threads' names are a VMM's, or it has run a guest. */
bool guest_is_likely(const struct env *env, pid_t pid);

#endif
