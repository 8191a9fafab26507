/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_proc - reads one process in /proc and one VM in debugfs.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"

#define PF_KTHREAD 0x00200000u /* include/linux/sched.h */

bool proc_has_failed(int err)
{
	switch (err) {
	case 0:
	case -ENOENT:
	case -ESRCH:
	case -EIO:
	case -ENOTDIR:
	case -EACCES:
	case -EPERM:
		return false;
	default:
		return true;
	}
}

bool vm_folder_parse(const char *name, struct vm_folder *ret_folder)
{
	size_t len = strcspn(name, "-");
	char pid[12], *end;
	long fd;

	if (len >= sizeof(pid) || !name[len] || !isdigit((unsigned char)name[len + 1]))
		return false;
	memcpy(pid, name, len);
	pid[len] = '\0';
	fd = strtol(name + len + 1, &end, 10);
	if (!pid_parse(pid) || fd > INT_MAX || (*end && *end != '-'))
		return false;
	*ret_folder = (struct vm_folder){ pid_parse(pid), (int)fd };
	return true;
}

bool proc_stat_parse(const char *text, struct proc_stat *ret_stat)
{
	static const char fields[] = /* the fields of proc(5) stat from the third on */
		" %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s %llu"
		" %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		" %llu";
	const char *after = strrchr(text, ')'); /* the command name may contain ')' */
	unsigned long long start, guest = 0;
	unsigned int flags;
	long nr_threads;
	char state;
	int ppid;

	if (!after ||
	    sscanf(after + 1, fields, &state, &ppid, &flags, &nr_threads, &start,
		   &guest) < 5)
		return false;
	*ret_stat = (struct proc_stat){
		.state = state,
		.ppid = ppid,
		.is_kernel = flags & PF_KTHREAD,
		.nr_threads = nr_threads,
		.start_ticks = start,
		.guest_ticks = guest,
	};
	return true;
}

int proc_stat_read(const struct env *env, pid_t pid, struct proc_stat *ret_stat)
{
	char text[1024];
	long len = env_read(env, text, sizeof(text), "/proc/%d/stat", (int)pid);

	if (len == -ENOENT || len == -EIO)
		return -ESRCH;
	if (len < 0)
		return (int)len;
	return proc_stat_parse(text, ret_stat) ? 0 : -EINVAL;
}

bool proc_stat_has_ended(const struct proc_stat *stat)
{
	return (stat->state == 'Z' || stat->state == 'X') && stat->nr_threads <= 1;
}

pid_t proc_of_thread(const struct env *env, pid_t tid)
{
	char text[4096];
	long len = env_read(env, text, sizeof(text), "/proc/%d/status", (int)tid);
	const char *line;

	if (len < 0 && proc_has_failed((int)len))
		return 0;
	if (len < 0) /* captured without status */
		return env_has(env, "/proc/%d", (int)tid) ? tid : 0;
	line = strstr(text, "\nTgid:");
	return line ? (pid_t)atoi(line + strlen("\nTgid:")) : tid;
}

/*
 * What follows the kind in "anon_inode:KIND...", the link of a descriptor in /proc/PID/fd: ":3" of
 * "anon_inode:kvm-vcpu:3". NULL: the link is not of this kind.
 */
static const char *link_is(const char *link, const char *kind)
{
	static const char prefix[] = "anon_inode:";

	if (strncmp(link, prefix, strlen(prefix)))
		return NULL;
	link += strlen(prefix);
	link += *link == '[';
	if (strncmp(link, kind, strlen(kind)))
		return NULL;
	link += strlen(kind);
	/* kvm-vm-stats and kvm-vcpu-stats:0 are other things. */
	return *link == '-' || *link == '_' || isalnum((unsigned char)*link) ? NULL : link;
}

static int read_link(int dir, const char *name, char *buf, size_t size)
{
	ssize_t len = readlinkat(dir, name, buf, size - 1);

	if (len < 0)
		return -errno;
	buf[len] = '\0';
	return 0;
}

int proc_fd_is_vm(const struct env *env, pid_t pid, int fd)
{
	char path[PATH_MAX], link[64];
	int err;

	env_path(env, path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	err = read_link(AT_FDCWD, path, link, sizeof(link));
	return err ? err : link_is(link, "kvm-vm") != NULL;
}

int proc_read_fds(const struct env *env, pid_t pid, unsigned int *ret_nr_vms,
		  struct vcpu_list *vcpus)
{
	char path[PATH_MAX], link[64];
	unsigned int nr_vms = 0;
	const char *after;
	struct dirent *entry;
	int err = 0;
	DIR *dir = opendir(env_path(env, path, sizeof(path), "/proc/%d/fd", (int)pid));

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		int unread = entry->d_name[0] == '.' ?
				     -ENOENT :
				     read_link(dirfd(dir), entry->d_name, link, sizeof(link));

		/* The folder can be read by its user; the links by who may trace the process. */
		if (unread == -EACCES || unread == -EPERM)
			err = unread;
		if (unread)
			continue;
		if (link_is(link, "kvm-vm"))
			nr_vms++;
		else if (vcpus && (after = link_is(link, "kvm-vcpu")) && *after == ':')
			vcpu_list_add(vcpus, atoi(after + 1), 0);
	}
	closedir(dir);
	if (vcpus)
		vcpu_list_sort(vcpus);
	if (!err)
		*ret_nr_vms = nr_vms;
	return err;
}

/* With the thread that ran it last, if any has. 0 or -errno. */
static int add_folder_vcpu(const char *folder, int index, const struct pid_list *tids,
			   struct vcpu_list *vcpus)
{
	char path[PATH_MAX], text[32] = "";
	pid_t tid;
	long err;

	snprintf(path, sizeof(path), "%s/vcpu%d/pid", folder, index);
	err = read_small(path, text, sizeof(text));
	if (err < 0 && proc_has_failed((int)err))
		return (int)err;
	tid = (pid_t)atoi(text);
	vcpu_list_add(vcpus, index, !tids->nr || pid_list_has(tids, tid) ? tid : 0);
	return 0;
}

int proc_read_vm_folder(const char *path, const struct pid_list *tids, struct vcpu_list *vcpus)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int err = 0, index;
	char rest;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "vcpu%9d%c", &index, &rest) == 1 && index >= 0)
			err = add_folder_vcpu(path, index, tids, vcpus);
	}
	closedir(dir);
	vcpu_list_sort(vcpus);
	return err;
}

static int read_named_threads(const struct env *env, pid_t pid, const struct pid_list *tids,
			      struct vcpu_list *named)
{
	char comm[64];
	int err = 0;

	for (size_t i = 0; !err && i < tids->nr; i++) {
		long len = env_read(env, comm, sizeof(comm), "/proc/%d/task/%d/comm", (int)pid,
				    (int)tids->pids[i]);
		int index;

		if (len < 0 && proc_has_failed((int)len))
			err = (int)len;
		if (len < 0)
			continue;
		index = guest_name_vcpu(comm);
		if (index >= 0)
			vcpu_list_add(named, index, tids->pids[i]);
	}
	vcpu_list_sort(named);
	return err;
}

/* Keeps one of several descriptors of a vCPU without a thread. */
static void drop_duplicates(struct vcpu_list *vcpus)
{
	size_t out = 0;

	for (size_t i = 0; i < vcpus->nr; i++)
		if (!out || vcpus->vcpus[out - 1].index != vcpus->vcpus[i].index ||
		    vcpus->vcpus[i].tid)
			vcpus->vcpus[out++] = vcpus->vcpus[i];
	vcpus->nr = out;
}

static pid_t find_thread(const struct vcpu_list *named, int index, const struct vcpu_list *taken)
{
	for (size_t i = 0; i < named->nr; i++) {
		bool is_taken = named->vcpus[i].index != index;

		for (size_t k = 0; !is_taken && k < taken->nr; k++)
			is_taken = taken->vcpus[k].tid == named->vcpus[i].tid;
		if (!is_taken)
			return named->vcpus[i].tid;
	}
	return 0;
}

/*
 * QEMU numbers its threads 0, 1, 2, 3 where the kernel has APIC IDs, such as 0, 1, 4, 5. If there
 * are as many threads as vCPUs, the nth vCPU gets the nth thread; otherwise a vCPU gets the thread
 * with its number.
 */
static void give_threads(struct vcpu_list *vcpus, const struct vcpu_list *named)
{
	for (size_t i = 0; i < vcpus->nr; i++) {
		struct vcpu *vcpu = &vcpus->vcpus[i];

		if (vcpu->tid)
			continue;
		if (vcpus->nr == named->nr)
			vcpu->tid = named->vcpus[i].tid;
		else
			vcpu->tid = find_thread(named, vcpu->index, vcpus);
	}
}

int proc_name_threads(const struct env *env, pid_t pid, const struct pid_list *tids,
		      unsigned int nr_vms, struct vcpu_list *vcpus)
{
	struct vcpu_list named = { 0 };
	int err = read_named_threads(env, pid, tids, &named);

	if (err)
		goto out;
	if (nr_vms < 2 || named.nr != vcpus->nr)
		drop_duplicates(vcpus);
	for (size_t i = 0; !vcpus->nr && !err && i < named.nr; i++)
		vcpu_list_add(vcpus, named.vcpus[i].index, named.vcpus[i].tid);
	give_threads(vcpus, &named);
out:
	vcpu_list_release(&named);
	return err;
}

int proc_threads(const struct env *env, pid_t pid, struct pid_list *tids)
{
	char path[PATH_MAX];
	int err = pid_list_read(tids, env_path(env, path, sizeof(path), "/proc/%d/task", (int)pid));

	return err == -ENOENT || (!err && !tids->nr) ? -ESRCH : err;
}
