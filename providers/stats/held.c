// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds, copies, reads and closes the statistics descriptors of a VMM. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/array.h"
#include "host/guest_proc.h"
#include "providers/stats/held.h"

#define COPIES_MAX 16 /* open at a time */

/* ---- in /proc */

static void add_fd(struct held *held, int fd, int32_t vcpu)
{
	array_grow(&held->fds, &held->room, held->nr + 1);
	held->fds[held->nr++] = (struct held_fd){ .fd = fd, .vcpu = vcpu };
}

static void add_link(struct held *held, int fd, const char *link)
{
	const char *after;

	if (proc_link_is(link, "kvm-vm") && (held->vm_fd < 0 || fd < held->vm_fd))
		held->vm_fd = fd;
	if (proc_link_is(link, "kvm-vm-stats"))
		add_fd(held, fd, -1);
	after = proc_link_is(link, "kvm-vcpu-stats");
	if (after && *after == ':' && after[1] >= '0' && after[1] <= '9')
		add_fd(held, fd, atoi(after + 1));
}

static int by_vcpu(const void *a, const void *b)
{
	const struct held_fd *one = a, *other = b;

	if (one->vcpu != other->vcpu)
		return one->vcpu < other->vcpu ? -1 : 1;
	return (one->fd > other->fd) - (one->fd < other->fd);
}

static void keep_one_each(struct held *held)
{
	size_t nr = 0;

	if (held->nr)
		qsort(held->fds, held->nr, sizeof(*held->fds), by_vcpu);
	for (size_t i = 0; i < held->nr; i++) {
		if (!nr || held->fds[nr - 1].vcpu != held->fds[i].vcpu)
			held->fds[nr++] = held->fds[i];
	}
	held->nr = nr;
}

static int open_pid(pid_t pid)
{
#if defined(SYS_pidfd_open)
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
#else
	(void)pid;
	return -ENOSYS;
#endif
}

/* Before Linux 6.5, see held.h. */
static bool needs_vm(void)
{
	struct utsname names;
	int version, patchlevel;

	if (uname(&names) < 0 || sscanf(names.release, "%d.%d", &version, &patchlevel) != 2)
		return true;
	return version < 6 || (version == 6 && patchlevel < 5);
}

/* A VMM that holds nothing needs none. */
static int keep_pidfd(const struct env *env, pid_t pid, struct held *held)
{
	int pidfd;

	if (!held->nr || held->pidfd >= 0 || env_is_captured(env))
		return 0;
	pidfd = open_pid(pid);
	if (pidfd < 0)
		return pidfd;
	held->pidfd = pidfd;
	return 0;
}

int held_find(const struct env *env, pid_t pid, struct held *held)
{
	char path[PATH_MAX], link[64];
	struct dirent *entry;
	int err = 0;
	DIR *dir = opendir(env_path(env, path, sizeof(path), "/proc/%d/fd", (int)pid));

	held->nr = 0;
	held->vm_fd = -1;
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (len >= 0) {
			link[len] = '\0';
			add_link(held, atoi(entry->d_name), link);
		} else if (errno == EACCES) { /* the names can be read by its user, always */
			err = -EACCES;
		}
	}
	closedir(dir);
	if (err || held->vm_fd < 0)
		held->nr = 0;
	if (env_is_captured(env) || !needs_vm())
		held->vm_fd = -1;
	keep_one_each(held);
	if (!err)
		err = keep_pidfd(env, pid, held);
	if (err)
		held->nr = 0;
	return err;
}

void held_release(struct held *held)
{
	if (held->pidfd >= 0)
		close(held->pidfd);
	free(held->fds);
	*held = HELD_NOTHING;
}

/* ---- a look */

static int get_fd(int pidfd, int fd)
{
#if defined(SYS_pidfd_getfd)
	long copy = syscall(SYS_pidfd_getfd, pidfd, fd, 0);

	return copy < 0 ? -errno : (int)copy;
#else
	(void)pidfd;
	(void)fd;
	return -ENOSYS;
#endif
}

/*
 * Whether a copy can be what its number was found to be. It may have been closed since, and another
 * file may have its number. The link of the copy would be proof, but takes longer than the rest.
 * Reading a device of the guest (VFIO) at 0 could do harm, but a VMM opens devices for reading
 * and writing, statistics for reading only; any other file does not have the layout.
 */
static bool is_likely(int copy, int access)
{
	return (fcntl(copy, F_GETFL) & O_ACCMODE) == access;
}

/* A copy, or -errno. */
static int take(int pidfd, int fd, int access)
{
	int copy = get_fd(pidfd, fd);

	if (copy < 0 || is_likely(copy, access))
		return copy;
	close(copy);
	return -EBADF;
}

int held_look(const struct env *env, pid_t pid, const struct held *held,
	      struct held_look *ret_look)
{
	struct held_look look = { .env = env, .pid = pid, .pidfd = held->pidfd, .vm = -1 };

	if (held->vm_fd >= 0) {
		look.vm = take(look.pidfd, held->vm_fd, O_RDWR);
		if (look.vm < 0)
			return look.vm;
	}
	*ret_look = look;
	return 0;
}

static int open_captured(const struct held_look *look, int fd)
{
	char path[PATH_MAX];
	int copy;

	env_path(look->env, path, sizeof(path), "/kvmtop/stats/%d/%d", (int)look->pid, fd);
	copy = open(path, O_RDONLY | O_CLOEXEC);
	if (copy < 0)
		return -errno;
	return copy;
}

static void close_copies(struct held_look *look)
{
	int last = look->end - 1;

#if defined(SYS_close_range)
	if (look->first < last && syscall(SYS_close_range, look->first, last, 0) == 0)
		look->first = look->end;
#endif
	while (look->first < look->end)
		close(look->first++);
}

/*
 * One call closes many copies, but only numbers that follow one another: what is between others
 * may be another thread's.
 */
static void close_later(struct held_look *look, int copy)
{
	if (copy != look->end || copy - look->first == COPIES_MAX) {
		close_copies(look);
		look->first = copy;
	}
	look->end = copy + 1;
}

ssize_t held_read(struct held_look *look, int fd, char *bytes, size_t from, size_t size)
{
	int copy = look->pidfd < 0 ? open_captured(look, fd) : take(look->pidfd, fd, O_RDONLY);
	ssize_t len;

	if (copy < 0)
		return copy;
	len = pread(copy, bytes + from, size - from, (off_t)from);
	len = len < 0 ? -errno : (ssize_t)from + len;
	close_later(look, copy);
	return len;
}

void held_look_away(struct held_look *look)
{
	close_copies(look);
	if (look->vm >= 0)
		close(look->vm);
	*look = (struct held_look){ .pidfd = -1, .vm = -1 };
}
