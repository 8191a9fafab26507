// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows a path part by part, with a descriptor of each folder: no folder can be exchanged. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct walk {
	int folder;
	char rest[PATH_MAX]; /* of the path, from the folder on */
	char name[NAME_MAX + 1]; /* the next part */
	bool is_last;
	unsigned int nr_links;
};

/* Takes the next part from the rest. */
static int next_part(struct walk *walk, struct error *error)
{
	char *at = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(at, "/");
	const char *after = at + len + strspn(at + len, "/");

	if (!len)
		return failed(*walk->rest ? EISDIR : ENOENT, error);
	if (len > NAME_MAX)
		return failed(ENAMETOOLONG, error);
	memcpy(walk->name, at, len);
	walk->name[len] = '\0';
	walk->is_last = !*after;
	if (walk->is_last && (at[len] || strcmp(walk->name, ".") == 0 ||
			      strcmp(walk->name, "..") == 0))
		return failed(EISDIR, error);
	memmove(walk->rest, after, strlen(after) + 1);
	return 0;
}

/* Goes on from another folder: fd is open(2)'s result. */
static int enter(struct walk *walk, int fd, struct error *error)
{
	if (fd < 0)
		return failed(errno, error);
	close(walk->folder);
	walk->folder = fd;
	return 0;
}

/* The link's text replaces the link in the rest of the path. */
static int follow_text(struct walk *walk, struct error *error)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t len = readlinkat(walk->folder, walk->name, target, sizeof(target) - 1);

	if (len < 0)
		return failed(errno, error);
	target[len] = '\0';
	if (snprintf(rest, sizeof(rest), "%s%s%s", target, walk->is_last ? "" : "/", walk->rest) >=
	    (int)sizeof(rest))
		return failed(ENAMETOOLONG, error);
	memcpy(walk->rest, rest, sizeof(rest));
	return *target == '/' ? enter(walk, open("/", FOLDER), error) : 0;
}

/* 1: the link is of the kernel, and the last part of the path. */
static int follow(struct walk *walk, const struct stat *link, struct error *error)
{
	struct statfs disk;
	struct stat folder;

	if (++walk->nr_links > LINKS_MAX)
		return failed(ELOOP, error);
	if (fstat(walk->folder, &folder) < 0 || fstatfs(walk->folder, &disk) < 0)
		return failed(errno, error);
	if (!output_is_ours(link) || !output_is_ours(&folder))
		return error_set(
			error, -ELOOP,
			"\"%s\" is a link of another user (uid %u), which is "
			"not followed: name the file itself",
			walk->name,
			(unsigned int)(output_is_ours(link) ? folder.st_uid : link->st_uid));
	if (disk.f_type != PROC_SUPER_MAGIC)
		return follow_text(walk, error);
	return walk->is_last ? 1 : enter(walk, openat(walk->folder, walk->name, FOLDER), error);
}

/* One part of the path. 1: it is the last one. */
static int step(struct walk *walk, bool *ret_is_kernels, struct error *error)
{
	struct stat st;
	int err = next_part(walk, error);

	if (err)
		return err;
	if (fstatat(walk->folder, walk->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return failed(errno, error);
		return walk->is_last ? 1 : error_set(error, -ENOENT, "its folder is not there: "
						     "make it, or choose another");
	}
	if (S_ISLNK(st.st_mode)) {
		err = follow(walk, &st, error);
		*ret_is_kernels = err > 0;
		return err;
	}
	return walk->is_last ? 1 : enter(walk, openat(walk->folder, walk->name,
						      FOLDER | O_NOFOLLOW), error);
}

int output_find(const char *path, struct output *ret_output, struct error *error)
{
	struct walk walk = { .folder = open(*path == '/' ? "/" : ".", FOLDER) };
	bool is_kernels = false;
	int err = 0;

	if (walk.folder < 0)
		return failed(errno, error);
	if (snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= (int)sizeof(walk.rest))
		err = failed(ENAMETOOLONG, error);
	while (!err)
		err = step(&walk, &is_kernels, error);
	if (err < 0) {
		close(walk.folder);
		return err;
	}
	*ret_output = (struct output){ .folder = walk.folder, .is_kernels = is_kernels };
	memcpy(ret_output->name, walk.name, sizeof(walk.name));
	return 0;
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

/* -EAGAIN: others made or removed the file meanwhile. */
static int open_once(const struct output *output, int flags, mode_t mode, struct error *error)
{
	struct stat st;
	bool is_there = fstatat(output->folder, output->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int fd, err;

	if (!is_there && errno != ENOENT)
		return failed(errno, error);
	if (is_there && flags & O_EXCL)
		return failed(EEXIST, error);
	err = is_there ? check_file(output, &st, error) : 0;
	if (err)
		return err;
	flags &= is_there ? ~O_CREAT : ~0;
	fd = openat(output->folder, output->name,
		    (flags & ~O_TRUNC) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
			    (is_there ? 0 : O_EXCL), mode);
	if (fd < 0)
		return errno == (is_there ? ENOENT : EEXIST) && !(flags & O_EXCL) ?
			       -EAGAIN : failed(errno, error);
	err = fstat(fd, &st) < 0 ? failed(errno, error) : check_file(output, &st, error);
	if (!err && flags & O_TRUNC && S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0)
		err = failed(errno, error);
	if (err)
		close(fd);
	return err ? err : fd;
}

int output_open_at(const struct output *output, int flags, mode_t mode, struct error *error)
{
	int fd = -EAGAIN;

	if (output->is_kernels) {
		fd = openat(output->folder, output->name,
			    (flags & ~(O_CREAT | O_EXCL)) | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			return failed(errno, error);
		return fd;
	}
	for (int i = 0; fd == -EAGAIN && i < TRIES; i++) {
		fd = open_once(output, flags, mode, error);
		if (fd == -EAGAIN && !(flags & O_CREAT))
			return failed(ENOENT, error);
	}
	return fd == -EAGAIN ? failed(EAGAIN, error) : fd;
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
	struct stat st;
	bool is_there;
	int err = output_find(path, &output, error);

	if (err)
		return err;
	is_there = fstatat(output.folder, output.name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (is_there && !output.is_kernels)
		err = check_file(&output, &st, error);
	/* Other errors are of the system call: a filter of an earlier systemd lacks it. */
	if (!err && faccessat(output.folder, is_there ? output.name : ".", W_OK, AT_EACCESS) < 0 &&
	    (errno == EACCES || errno == EROFS))
		err = failed(errno, error);
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
	struct output output;
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
