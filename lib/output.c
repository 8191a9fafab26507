// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows links of ours only, with a descriptor of each folder: no folder can be exchanged. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "lib/output.h"
#include "lib/xalloc.h"

#define LINKS_MAX 40 /* as the kernel has it */
#define TRIES 100 /* while others make and remove the file */
#define SAME_DAY_MAX 100 /* files that were set aside in one day */
#define FOLDER (O_PATH | O_DIRECTORY | O_CLOEXEC)

bool output_is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static int failed(int err, struct error *error)
{
	return error_set(error, -err, "%s", strerror(err));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- along the path to the folder */

static int find(int at, char *path, unsigned int *nr_links, struct output *ret_output,
		struct error *error);

static int no_folder(int err, struct error *error)
{
	return err != ENOENT ? failed(err, error) :
			       error_set(error, -ENOENT, "its folder is not there: make it, or "
							 "choose another");
}

/*
 * A descriptor. The kernel says where a link is on the way, but not who made it. Without openat2,
 * before Linux 5.6 or under a filter of system calls, each name of the path is looked at.
 */
static int open_folder(int at, char *path, unsigned int *nr_links, struct error *error)
{
	struct open_how how = { .flags = FOLDER, .resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how)), err;
	bool is_refused = fd < 0 && (errno == ENOSYS || errno == EPERM);
	struct output place;

	if (is_refused && (!strcmp(path, ".") || !strcmp(path, "/"))) /* no link */
		fd = openat(at, path, FOLDER);
	else if (is_refused)
		errno = ELOOP;
	if (fd >= 0)
		return fd;
	if (errno != ELOOP)
		return no_folder(errno, error);
	err = find(at, path, nr_links, &place, error);
	if (err)
		return err;
	fd = openat(place.folder, place.name, FOLDER | (place.is_kernels ? 0 : O_NOFOLLOW));
	err = fd < 0 ? no_folder(errno, error) : fd;
	output_release(&place);
	return err;
}

/* The place's name is a link: the place becomes where the link leads. */
static int follow(struct output *place, const struct stat *link, unsigned int *nr_links,
		  struct error *error)
{
	struct stat folder;
	struct statfs disk;
	char target[PATH_MAX];
	struct output next;
	ssize_t len;
	int err;

	if (++*nr_links > LINKS_MAX)
		return failed(ELOOP, error);
	if (fstat(place->folder, &folder) < 0 || fstatfs(place->folder, &disk) < 0)
		return failed(errno, error);
	if (!output_is_ours(link) || !output_is_ours(&folder))
		return error_set(
			error, -ELOOP,
			"\"%s\" is a link of another user (uid %u), which is "
			"not followed: name the file itself",
			place->name,
			(unsigned int)(output_is_ours(link) ? folder.st_uid : link->st_uid));
	place->is_kernels = disk.f_type == PROC_SUPER_MAGIC;
	if (place->is_kernels)
		return 0;
	len = readlinkat(place->folder, place->name, target, sizeof(target) - 1);
	if (len < 0)
		return failed(errno, error);
	target[len] = '\0';
	err = find(place->folder, target, nr_links, &next, error);
	if (!err) {
		output_release(place);
		*place = next;
	}
	return err;
}

/* Where the path leads from the folder at; cuts the path. */
static int find(int at, char *path, unsigned int *nr_links, struct output *ret_output,
		struct error *error)
{
	struct output place = { .folder = -1 };
	char *slash, here[] = ".";
	const char *name;
	struct stat st;
	int err = 0;

	for (size_t len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	slash = strrchr(path, '/');
	name = slash ? slash + 1 : path;
	if (snprintf(place.name, sizeof(place.name), "%s", *name ? name : here) >=
	    (int)sizeof(place.name)) /* without a name: "/", where a link leads */
		return failed(ENAMETOOLONG, error);
	if (slash)
		slash[slash == path] = '\0';
	place.folder = open_folder(at, slash ? path : here, nr_links, error);
	if (place.folder < 0)
		return place.folder;
	if (fstatat(place.folder, place.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		err = S_ISLNK(st.st_mode) ? follow(&place, &st, nr_links, error) : 0;
	else if (errno != ENOENT)
		err = failed(errno, error);
	if (err)
		output_release(&place);
	else
		*ret_output = place;
	return err;
}

int output_find(const char *path, struct output *ret_output, struct error *error)
{
	unsigned int nr_links = 0;
	char copy[PATH_MAX];
	size_t len = strlen(path);

	if (!len || len >= sizeof(copy))
		return failed(len ? ENAMETOOLONG : ENOENT, error);
	if (path[len - 1] == '/')
		return failed(EISDIR, error);
	memcpy(copy, path, len + 1);
	return find(AT_FDCWD, copy, &nr_links, ret_output, error);
}

void output_release(struct output *output)
{
	close(output->folder);
	output->folder = -1;
}

char *output_path(const struct output *output)
{
	char fd[64], folder[PATH_MAX];
	ssize_t len;

	snprintf(fd, sizeof(fd), "/proc/self/fd/%d", output->folder);
	len = readlink(fd, folder, sizeof(folder) - 1);
	if (len < 0)
		return NULL;
	folder[len] = '\0';
	return xasprintf("%s/%s", len > 1 ? folder : "", output->name);
}

/* ---- the file */

/* In a folder above, the sticky bit keeps others from exchanging what is not theirs. */
static bool is_others(const struct stat *folder, bool is_above)
{
	bool others_write = folder->st_mode & S_IWOTH ||
			    (folder->st_mode & S_IWGRP && folder->st_gid);

	return !output_is_ours(folder) ||
	       (others_write && !(is_above && folder->st_mode & S_ISVTX));
}

static int check_file(const struct output *output, const struct stat *st, struct error *error)
{
	struct stat folder;
	bool is_folder_ours;

	if (fstat(output->folder, &folder) < 0)
		return failed(errno, error);
	is_folder_ours = output_is_ours(&folder);
	if (S_ISDIR(st->st_mode))
		return failed(EISDIR, error);
	if (S_ISLNK(st->st_mode))
		return failed(ELOOP, error);
	if (S_ISBLK(st->st_mode))
		return error_set(error, -EINVAL, "not a regular file: choose another file");
	if (!output_is_ours(st) && (S_ISREG(st->st_mode) || is_others(&folder, false)))
		return error_set(error, -EPERM,
				 "it belongs to another user (uid %u): remove it, or "
				 "choose another file",
				 (unsigned int)st->st_uid);
	if (S_ISREG(st->st_mode) && st->st_nlink > 1 && !is_folder_ours)
		return error_set(error, -EPERM,
				 "it has a second name (a hard link), and its folder "
				 "belongs to another user: remove it, or choose another file");
	return 0;
}

/* What is there is looked at before it is opened, which may wait, or be an action. */
static int open_there(const struct output *output, int flags, struct error *error)
{
	int there = openat(output->folder, output->name,
			   O_PATH | O_CLOEXEC | (output->is_kernels ? 0 : O_NOFOLLOW));
	char link[32];
	struct stat st;
	int err = 0, fd = -1;

	if (there < 0)
		return failed(errno, error);
	if (!output->is_kernels)
		err = fstat(there, &st) < 0 ? failed(errno, error) : check_file(output, &st, error);
	if (!err) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", there);
		fd = open(link, flags);
		err = fd < 0 ? failed(errno, error) : 0;
	}
	close(there);
	return err ? err : fd;
}

int output_open_at(const struct output *output, int flags, mode_t mode, struct error *error)
{
	int fd = -ENOENT;

	flags |= O_CLOEXEC | O_NOCTTY;
	for (int i = 0; fd == -ENOENT && i < TRIES; i++) {
		if (flags & O_CREAT) {
			fd = openat(output->folder, output->name, flags | O_EXCL, mode);
			if (fd >= 0)
				return fd;
			if (errno != EEXIST || flags & O_EXCL)
				return failed(errno, error);
		}
		fd = open_there(output, flags & ~O_CREAT, error);
		if (!(flags & O_CREAT))
			break;
	}
	return fd;
}

int output_check_at(const struct output *output, struct error *error)
{
	struct stat st;

	if (output->is_kernels)
		return failed(EINVAL, error);
	if (fstatat(output->folder, output->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return check_file(output, &st, error);
	return errno == ENOENT ? 0 : failed(errno, error);
}

int output_open(const char *path, int flags, mode_t mode, struct error *error)
{
	struct output output;
	int fd = output_find(path, &output, error);

	if (fd < 0)
		return fd;
	fd = output_open_at(&output, flags, mode, error);
	output_release(&output);
	return fd;
}

int output_check(const char *path, struct error *error)
{
	struct output output;
	int err = output_find(path, &output, error), no_access = 0;

	if (err)
		return err;
	if (!output.is_kernels)
		err = output_check_at(&output, error);
	if (faccessat(output.folder, output.name, W_OK, AT_EACCESS) < 0)
		no_access = errno;
	if (no_access == ENOENT)
		no_access = faccessat(output.folder, ".", W_OK, AT_EACCESS) < 0 ? errno : 0;
	/* Other errors are of the system call: a filter of an earlier systemd lacks it. */
	if (!err && (no_access == EACCES || no_access == EROFS))
		err = failed(no_access, error);
	output_release(&output);
	return err;
}

/* ---- the folder */

/* Goes to the folder above. 1: there is none. */
static int go_up(int *folder, struct stat *st, struct error *error)
{
	struct stat before = *st;
	int above = openat(*folder, "..", FOLDER);

	if (above < 0)
		return failed(errno, error);
	close(*folder);
	*folder = above;
	if (fstat(above, st) < 0)
		return failed(errno, error);
	return is_same(st, &before);
}

int output_check_folder(int folder, struct error *error)
{
	int at = openat(folder, ".", FOLDER), err = 0;
	bool is_above = false;
	struct stat st;

	if (at < 0 || fstat(at, &st) < 0)
		err = failed(errno, error);
	for (; !err && geteuid() == 0; is_above = true) {
		if (is_others(&st, is_above))
			err = error_set(error, -EPERM,
					"other users may change the files beside it: as "
					"root choose a folder that only root may write to, such as "
					"/var/lib/kvmtop");
		else
			err = go_up(&at, &st, error);
	}
	if (at >= 0)
		close(at);
	return err < 0 ? err : 0;
}

/* ---- files that have the name already */

/* Never replaces a file. */
static int rename_new(int folder, const char *from, const char *to)
{
	if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL) /* the file system cannot do this */
		return -errno;
	if (faccessat(folder, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(folder, from, folder, to) < 0 ? -errno : 0;
}

/* What belongs to the file has the same name, and a suffix. */
static void rename_suffixes(const struct output *output, const char *to,
			    const char *const *suffixes)
{
	char from_name[2 * NAME_MAX], to_name[2 * NAME_MAX];

	for (; suffixes && *suffixes; suffixes++) {
		snprintf(from_name, sizeof(from_name), "%s%s", output->name, *suffixes);
		snprintf(to_name, sizeof(to_name), "%s%s", to, *suffixes);
		(void)rename_new(output->folder, from_name, to_name);
	}
}

static int set_aside(const struct output *output, const char *const *suffixes,
		     struct error *ret_error)
{
	char to[NAME_MAX + 64], day[16] = "";
	struct stat st;
	struct tm tm;
	int err = -EEXIST;

	if (fstatat(output->folder, output->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    localtime_r(&st.st_mtim.tv_sec, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	for (int i = 0; i < SAME_DAY_MAX && err == -EEXIST; i++) {
		int len = snprintf(to, sizeof(to), "%s.%s", output->name, day);

		if (i)
			snprintf(to + len, sizeof(to) - (size_t)len, ".%d", i);
		err = rename_new(output->folder, output->name, to);
	}
	if (err)
		return error_set(ret_error, err, "cannot rename it: %s", strerror(-err));
	rename_suffixes(output, to, suffixes);
	return error_set(ret_error, 0, "renamed to %s", to);
}

int output_set_aside(const char *path, const char *const *suffixes, struct error *ret_error)
{
	struct output output;
	int err = output_find(path, &output, ret_error);

	if (err)
		return err;
	err = set_aside(&output, suffixes, ret_error);
	output_release(&output);
	return err;
}

/* ---- inputs */

const char *output_find_input(const char *path, const char *const *inputs, size_t nr)
{
	struct output output = { .folder = -1 };
	struct stat file, folder, input;
	bool is_there;

	if (!path || output_find(path, &output, NULL) < 0)
		return NULL;
	is_there = fstatat(output.folder, output.name, &file, 0) == 0 &&
		   fstat(output.folder, &folder) == 0 && S_ISREG(file.st_mode);
	output_release(&output);
	for (size_t i = 0; is_there && i < nr; i++) {
		if (inputs[i] && stat(inputs[i], &input) == 0 &&
		    (is_same(&input, &file) ||
		     (S_ISDIR(input.st_mode) && is_same(&input, &folder))))
			return inputs[i];
	}
	return NULL;
}
