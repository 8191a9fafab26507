/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_find - finds the processes that have a VM, by debugfs or else by all of /proc, and says
 * when to look: KVM sends an event for each VM that is made (kvm_uevent_notify_change(), kobject
 * events of /dev/kvm).
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"

#define WALK_NS UINT64_C(10000000000) /* at the latest */
/* The process gets the descriptor after the event: so the next call is for a walk, too. */
#define WALKS 2
#define EVENT_SIZE 4096
#define KERNEL_GROUP 1 /* of the kernel's events; udev has another one for its own */
#define EVENT "change@/devices/virtual/misc/kvm"
#define CREATED "EVENT=create"

static int open_events(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);
	int err = fd < 0 ? -errno : 0;

	if (!err && bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		err = -errno;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* The text has lines that end with NUL. */
static bool is_created(const char *text, size_t size)
{
	if (size < sizeof(EVENT) || memcmp(text, EVENT, sizeof(EVENT)) != 0)
		return false;
	for (size_t at = 0; at < size; at += strnlen(text + at, size - at) + 1) {
		if (size - at >= sizeof(CREATED) &&
		    memcmp(text + at, CREATED, sizeof(CREATED)) == 0)
			return true;
	}
	return false;
}

/* Whether a VM was made since the last call, or events were too many. */
static bool take_events(int fd)
{
	char text[EVENT_SIZE];
	bool is_new = false;

	for (;;) {
		ssize_t n = recv(fd, text, sizeof(text), 0);

		if (n < 0 && errno != EINTR && errno != ENOBUFS)
			return is_new;
		is_new |= n < 0 ? errno == ENOBUFS : is_created(text, (size_t)n);
	}
}

void vm_watch_init(struct vm_watch *watch)
{
	*watch = (struct vm_watch){ .events = open_events() };
}

void vm_watch_release(struct vm_watch *watch)
{
	if (watch->events >= 0)
		close(watch->events);
}

bool vm_watch_is_due(struct vm_watch *watch, uint64_t now_ns)
{
	if (watch->events < 0)
		return true;
	if (take_events(watch->events))
		watch->walks = WALKS;
	if (!watch->walks && now_ns < watch->walk_ns)
		return false;
	watch->walks -= watch->walks > 0;
	watch->walk_ns = now_ns + WALK_NS;
	return true;
}

/* ---- the search */

/* A VM in debugfs. */
struct folder {
	char name[40];
	struct vm_folder vm;
	pid_t pid; /* the process that holds it, 0: not found */
};

struct guest_finder {
	const struct env *env;
	struct vm_watch watch;
	struct folder *folders;
	size_t nr_folders, room_folders;
	struct pid_list denied; /* processes of other users, which we may not examine */
};

struct guest_finder *guest_finder_new(const struct env *env)
{
	struct guest_finder *finder = xcalloc(1, sizeof(*finder));

	finder->env = env;
	if (env_is_captured(env))
		finder->watch.events = -ENODEV;
	else
		vm_watch_init(&finder->watch);
	return finder;
}

void guest_finder_free(struct guest_finder *finder)
{
	if (!finder)
		return;
	vm_watch_release(&finder->watch);
	free(finder->folders);
	pid_list_release(&finder->denied);
	free(finder);
}

const struct pid_list *guest_finder_denied(const struct guest_finder *finder)
{
	return &finder->denied;
}

/*
 * The process that created the VM, if it still has the VM; 0: it has not. A folder exists until the
 * last holder closes the VM, even if the thread in the folder's name has ended. Where descriptors
 * cannot be read, the folder's name counts.
 */
static pid_t folder_owner(const struct env *env, const struct vm_folder *folder)
{
	pid_t pid = proc_of_thread(env, folder->creator);
	int is_vm = pid ? proc_fd_is_vm(env, pid, folder->fd) : 0;

	if (is_vm == -ENOENT && env_is_captured(env))
		return env_has(env, "/proc/%d/fd", (int)pid) ? 0 : pid;
	return is_vm == 1 || is_vm == -EACCES || is_vm == -EPERM ? pid : 0;
}

static void add_folder(struct guest_finder *finder, const char *name)
{
	struct folder folder;

	if (strlen(name) >= sizeof(folder.name) || !vm_folder_parse(name, &folder.vm))
		return;
	strcpy(folder.name, name);
	folder.pid = 0;
	*array_add(finder->folders, finder->nr_folders, finder->room_folders) = folder;
}

/* A kvm folder that does not exist, or that we may not read, counts as empty. */
static int list_folders(struct guest_finder *finder)
{
	const char *path = finder->env->debugfs_kvm;
	DIR *dir = path ? opendir(path) : NULL;
	struct dirent *entry;

	finder->nr_folders = 0;
	if (!dir)
		return path && proc_has_failed(-errno) ? -errno : 0;
	while ((entry = readdir(dir)))
		add_folder(finder, entry->d_name);
	closedir(dir);
	return 0;
}

/* Whether debugfs has VMs, and the process of each was found. */
static bool find_owners(const struct guest_finder *finder, struct pid_list *found)
{
	bool is_complete = finder->nr_folders > 0;

	for (size_t i = 0; i < finder->nr_folders; i++) {
		struct folder *folder = &finder->folders[i];

		folder->pid = folder_owner(finder->env, &folder->vm);
		if (folder->pid)
			pid_list_add(found, folder->pid);
		is_complete &= folder->pid != 0;
	}
	return is_complete;
}

static int examine(struct guest_finder *finder, pid_t pid, struct pid_list *holders)
{
	unsigned int nr_vms = 0;
	int err = proc_read_fds(finder->env, pid, &nr_vms, NULL);

	if (err == -EACCES || err == -EPERM)
		pid_list_add(&finder->denied, pid);
	if (nr_vms)
		pid_list_add(holders, pid);
	return proc_has_failed(err) ? err : 0;
}

static bool has_vcpu_threads(const struct env *env, pid_t pid)
{
	struct vcpu_list vcpus = { 0 };
	struct pid_list tids = { 0 };
	bool has_some = !proc_threads(env, pid, &tids) &&
			!proc_name_threads(env, pid, &tids, 1, &vcpus) && vcpus.nr;

	pid_list_release(&tids);
	vcpu_list_release(&vcpus);
	return has_some;
}

bool guest_is_likely(const struct env *env, pid_t pid)
{
	char comm[64];
	struct proc_stat stat;

	env_read_line(env, comm, sizeof(comm), "/proc/%d/comm", (int)pid);
	return guest_name_vmm(comm) || has_vcpu_threads(env, pid) ||
	       (!proc_stat_read(env, pid, &stat) && stat.guest_ticks);
}

/*
 * Whether the process is a child that only inherited descriptors: a VM runs in its creator's
 * memory only.
 */
static bool is_heir(const struct env *env, pid_t pid, const struct pid_list *holders,
		    const struct pid_list *known)
{
	struct proc_stat stat;

	return !proc_stat_read(env, pid, &stat) &&
	       (pid_list_has(holders, stat.ppid) || pid_list_has(known, stat.ppid)) &&
	       !has_vcpu_threads(env, pid);
}

static int search_processes(struct guest_finder *finder, const struct pid_list *known,
			    struct pid_list *found)
{
	struct pid_list pids = { 0 }, holders = { 0 };
	char path[PATH_MAX];
	int err = pid_list_read(&pids, env_path(finder->env, path, sizeof(path), "/proc"));

	for (size_t i = 0; !err && i < pids.nr; i++) {
		if (!pid_list_has(known, pids.pids[i]))
			err = examine(finder, pids.pids[i], &holders);
	}
	for (size_t i = 0; !err && i < holders.nr; i++) {
		if (!is_heir(finder->env, holders.pids[i], &holders, known))
			pid_list_add(found, holders.pids[i]);
	}
	pid_list_release(&pids);
	pid_list_release(&holders);
	return err;
}

int guest_finder_run(struct guest_finder *finder, const struct pid_list *known, uint64_t now_ns,
		     struct pid_list *found)
{
	int err;

	found->nr = 0;
	if (!vm_watch_is_due(&finder->watch, now_ns))
		return 0;
	finder->denied.nr = 0;
	err = list_folders(finder);
	if (!err && !find_owners(finder, found))
		err = search_processes(finder, known, found);
	if (err)
		finder->watch.walk_ns = 0;
	pid_list_sort(found);
	return err;
}

int guest_finder_read_folders(const struct guest_finder *finder, pid_t pid,
			      const struct pid_list *tids, struct vcpu_list *vcpus)
{
	char path[PATH_MAX];
	int nr = 0, err;

	for (size_t i = 0; i < finder->nr_folders; i++) {
		const struct folder *folder = &finder->folders[i];

		if (folder->pid != pid)
			continue;
		snprintf(path, sizeof(path), "%s/%s", finder->env->debugfs_kvm, folder->name);
		err = proc_read_vm_folder(path, tids, vcpus);
		if (proc_has_failed(err))
			return err;
		nr++;
	}
	return nr;
}
