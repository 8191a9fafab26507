/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_find - finds the process of each VM folder in debugfs, and searches /proc if that fails. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/xalloc.h"
#include "host/guest_proc.h"
#include "host/guest_name.h"

#define RESCAN_NS 10000000000ull
/* A VMM opens its VM soon after its start. So a process that has run for less than YOUNG_S ... */
#define YOUNG_S 5
#define YOUNG_NS 2000000000ull /* ... is examined at each refresh for this long, and */
#define YOUNG_LOOKS 3	       /* at least this many times */

/* A VM in debugfs. */
struct folder {
	char name[40];
	struct vm_folder vm; /* most VMMs create the VM in the main thread: creator is the pid */
	pid_t pid; /* the process that holds it, 0: not found */
};

/* A process that was examined and held no VM. */
struct seen {
	pid_t pid;
	bool is_none; /* never a guest: a kernel thread, or this process */
	int looks; /* how many examinations are left while it is young */
	uint64_t young_until_ns;
};

struct guest_finder {
	const struct env *env;
	struct folder *folders; /* ascending by vm */
	size_t nr_folders;
	struct seen *seen; /* ascending by pid */
	size_t nr_seen;
	struct pid_list pids, holders; /* all processes, and the ones with a VM, of this scan */
	struct pid_list denied; /* and the ones of other users, which we may not examine */
	uint64_t rescan_ns;
	pid_t latest;	/* the youngest process or thread before the last scan; 0: not known */
	bool has_young; /* seen has a young process */
	uint64_t uptime_ticks; /* 0: not read in this scan */
};

struct guest_finder *guest_finder_new(const struct env *env)
{
	struct guest_finder *finder = xcalloc(1, sizeof(*finder));

	finder->env = env;
	return finder;
}

void guest_finder_free(struct guest_finder *finder)
{
	if (!finder)
		return;
	free(finder->folders);
	free(finder->seen);
	pid_list_release(&finder->pids);
	pid_list_release(&finder->holders);
	pid_list_release(&finder->denied);
	free(finder);
}

const struct pid_list *guest_finder_denied(const struct guest_finder *finder)
{
	return &finder->denied;
}

static bool folder_of(const char *name, struct folder *ret_folder)
{
	struct folder folder = { .pid = 0 };

	if (strlen(name) >= sizeof(folder.name) || !vm_folder_parse(name, &folder.vm))
		return false;
	memcpy(folder.name, name, strlen(name) + 1);
	*ret_folder = folder;
	return true;
}

static int compare_folders(const void *a, const void *b)
{
	const struct folder *x = a, *y = b;

	if (x->vm.creator != y->vm.creator)
		return x->vm.creator < y->vm.creator ? -1 : 1;
	if (x->vm.fd != y->vm.fd)
		return x->vm.fd < y->vm.fd ? -1 : 1;
	return strcmp(x->name, y->name);
}

static const struct folder *find_folder(const struct folder *folder, const struct folder *folders,
					size_t nr)
{
	return nr ? bsearch(folder, folders, nr, sizeof(*folders), compare_folders) : NULL;
}

static void read_folder_names(DIR *dir, struct folder **ret_folders, size_t *ret_nr)
{
	struct folder *folders = NULL, folder;
	size_t nr = 0, room = 0;
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		if (!folder_of(entry->d_name, &folder))
			continue;
		array_grow(&folders, &room, nr + 1);
		folders[nr++] = folder;
	}
	if (nr)
		qsort(folders, nr, sizeof(*folders), compare_folders);
	*ret_folders = folders;
	*ret_nr = nr;
}

/* A kvm folder that does not exist, or that we may not read, counts as empty. */
static int list_folders(const char *path, struct folder **ret_folders, size_t *ret_nr)
{
	DIR *dir = opendir(path);

	if (!dir)
		return proc_has_failed(-errno) ? -errno : 0;
	read_folder_names(dir, ret_folders, ret_nr);
	closedir(dir);
	return 0;
}

/*
 * The process that created the VM, if it still has the VM; 0: it has not. A folder exists until the
 * last holder closes the VM, even if the thread in the folder's name has ended. Where descriptors
 * cannot be read, the folder's name counts.
 */
static pid_t folder_owner(const struct env *env, const struct folder *folder)
{
	pid_t pid = proc_of_thread(env, folder->vm.creator);
	int is_vm = pid ? proc_fd_is_vm(env, pid, folder->vm.fd) : 0;
	char path[PATH_MAX];

	if (is_vm == -ENOENT && env_is_captured(env)) {
		env_path(env, path, sizeof(path), "/proc/%d/fd", (int)pid);
		return path_exists(path) ? 0 : pid;
	}
	return is_vm == 1 || is_vm == -EACCES || is_vm == -EPERM ? pid : 0;
}

/* Takes the folder's process from the last run if it is still alive, or searches the process. */
static void follow_folder(struct guest_finder *finder, struct folder *folder,
			  const struct pid_list *known, struct pid_list *found)
{
	const struct folder *before = find_folder(folder, finder->folders, finder->nr_folders);

	if (before && before->pid && pid_list_has(known, before->pid)) {
		folder->pid = before->pid;
		return;
	}
	folder->pid = folder_owner(finder->env, folder);
	if (folder->pid)
		pid_list_add(found, folder->pid);
}

static void add_owners_of_vanished(struct guest_finder *finder, const struct folder *folders,
				   size_t nr, const struct pid_list *known, struct pid_list *found)
{
	for (size_t i = 0; i < finder->nr_folders; i++) {
		const struct folder *old = &finder->folders[i];

		if (old->pid && pid_list_has(known, old->pid) && !find_folder(old, folders, nr))
			pid_list_add(found, old->pid);
	}
}

/* *ret_is_complete: debugfs has VMs, and the process of each VM was found. */
static int follow_folders(struct guest_finder *finder, const struct pid_list *known,
			  struct pid_list *found, bool *ret_is_complete)
{
	struct folder *folders = NULL;
	size_t nr = 0;
	bool is_complete;
	int err = list_folders(finder->env->debugfs_kvm, &folders, &nr);

	if (err)
		return err;
	add_owners_of_vanished(finder, folders, nr, known, found);
	is_complete = nr > 0;
	for (size_t i = 0; !err && i < nr; i++) {
		follow_folder(finder, &folders[i], known, found);
		is_complete &= folders[i].pid != 0;
	}
	free(finder->folders);
	finder->folders = folders;
	finder->nr_folders = nr;
	*ret_is_complete = is_complete;
	return err;
}

static uint64_t uptime_ticks(struct guest_finder *finder)
{
	char path[PATH_MAX], text[64];

	if (finder->uptime_ticks)
		return finder->uptime_ticks;
	env_path(finder->env, path, sizeof(path), "/proc/uptime");
	if (read_small(path, text, sizeof(text)) > 0)
		finder->uptime_ticks = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_CLK_TCK);
	return finder->uptime_ticks;
}

/* Reads the age of a process that is new, or that may have a reused pid after RESCAN_NS. */
static void begin_seen(struct guest_finder *finder, struct seen *seen, uint64_t now_ns)
{
	uint64_t young_ticks = YOUNG_S * (uint64_t)sysconf(_SC_CLK_TCK);
	struct proc_stat stat = { 0 };

	if (proc_stat_read(finder->env, seen->pid, &stat))
		return;
	seen->is_none = stat.is_kernel ||
			(seen->pid == getpid() && !env_is_captured(finder->env));
	if (!seen->is_none && stat.start_ticks + young_ticks >= uptime_ticks(finder)) {
		seen->looks = YOUNG_LOOKS;
		seen->young_until_ns = now_ns + YOUNG_NS;
	}
}

static int examine(struct guest_finder *finder, struct seen *seen, bool is_first, uint64_t now_ns)
{
	unsigned int nr_vms = 0;
	int err;

	if (is_first)
		begin_seen(finder, seen, now_ns);
	else if (!seen->looks && now_ns >= seen->young_until_ns)
		return 0;
	else if (seen->looks)
		seen->looks--;
	finder->has_young |= seen->looks || now_ns < seen->young_until_ns;
	if (seen->is_none)
		return 0;
	err = proc_read_fds(finder->env, seen->pid, &nr_vms, NULL);
	if (err == -EACCES || err == -EPERM) {
		pid_list_add(&finder->denied, seen->pid);
		return 0;
	}
	if (proc_has_failed(err))
		return err;
	if (nr_vms)
		pid_list_add(&finder->holders, seen->pid);
	return 0;
}

/* Compares the current processes with seen, the processes of the last scan; both are ascending. */
static int examine_all(struct guest_finder *finder, const struct pid_list *known, bool is_rescan,
		       uint64_t now_ns)
{
	size_t nr = finder->pids.nr, old = 0;
	struct seen *seen = xcalloc(nr + 1, sizeof(*seen));
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		pid_t pid = finder->pids.pids[i];
		bool is_first;

		while (old < finder->nr_seen && finder->seen[old].pid < pid)
			old++;
		is_first = is_rescan || old == finder->nr_seen || finder->seen[old].pid != pid;
		seen[i] = is_first ? (struct seen){ .pid = pid } : finder->seen[old];
		if (!pid_list_has(known, pid))
			err = examine(finder, &seen[i], is_first, now_ns);
	}
	free(finder->seen);
	finder->seen = seen;
	finder->nr_seen = err ? 0 : nr;
	return err;
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
	char path[PATH_MAX], comm[64] = "";

	read_small(env_path(env, path, sizeof(path), "/proc/%d/comm", (int)pid), comm,
		   sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	return guest_name_vmm(comm) || has_vcpu_threads(env, pid);
}

/*
 * Whether the process is a child that only inherited descriptors: a VM runs in its creator's
 * memory only.
 */
static bool is_heir(const struct guest_finder *finder, pid_t pid, const struct pid_list *known)
{
	struct proc_stat stat;

	return !proc_stat_read(finder->env, pid, &stat) &&
	       (pid_list_has(&finder->holders, stat.ppid) || pid_list_has(known, stat.ppid)) &&
	       !has_vcpu_threads(finder->env, pid);
}

static bool is_folder_owner(const struct guest_finder *finder, pid_t pid)
{
	for (size_t i = 0; i < finder->nr_folders; i++)
		if (finder->folders[i].pid == pid)
			return true;
	return false;
}

static int scan(struct guest_finder *finder, const struct pid_list *known, uint64_t now_ns,
		struct pid_list *found)
{
	bool is_rescan = now_ns >= finder->rescan_ns;
	char path[PATH_MAX];
	int err = 0;

	finder->uptime_ticks = 0;
	finder->holders.nr = 0;
	finder->denied.nr = 0;
	finder->has_young = false;
	err = pid_list_read(&finder->pids, env_path(finder->env, path, sizeof(path), "/proc"));
	if (!err)
		err = examine_all(finder, known, is_rescan, now_ns);
	if (!err && is_rescan)
		finder->rescan_ns = now_ns + RESCAN_NS;
	for (size_t i = 0; !err && i < finder->holders.nr; i++) {
		pid_t pid = finder->holders.pids[i];

		if (!is_folder_owner(finder, pid) && !is_heir(finder, pid, known))
			pid_list_add(found, pid);
	}
	return err;
}

/* The newest process or thread: proc(5), loadavg. 0: not known. */
static pid_t latest_pid(const struct env *env)
{
	char path[PATH_MAX], text[128];
	const char *last;

	if (read_small(env_path(env, path, sizeof(path), "/proc/loadavg"), text, sizeof(text)) <= 0)
		return 0;
	last = strrchr(text, ' ');
	return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

/* A scan is due when there is a new process or thread, or a young process that may open a VM. */
static bool is_scan_due(struct guest_finder *finder, uint64_t now_ns)
{
	pid_t before = finder->latest;

	finder->latest = latest_pid(finder->env);
	return !before || finder->latest != before || finder->has_young ||
	       now_ns >= finder->rescan_ns;
}

int guest_finder_run(struct guest_finder *finder, const struct pid_list *known, uint64_t now_ns,
		     struct pid_list *found)
{
	bool is_complete = false;
	int err = 0;

	found->nr = 0;
	if (finder->env->debugfs_kvm)
		err = follow_folders(finder, known, found, &is_complete);
	if (!err && !is_complete && is_scan_due(finder, now_ns))
		err = scan(finder, known, now_ns, found);
	if (err)
		finder->latest = 0;
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
