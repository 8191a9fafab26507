// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a file without a name, links it beside the old file, and renames it over the old file. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole_file.h"

#define TRIES 100

/* Opens a file without a name in the folder of the path; -1: not possible there. */
static int open_nameless(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;

	free(copy);
	return fd;
}

/* Gives the new file the old file's owner, if permitted, and mode. */
static void take_after(int fd, const struct stat *old)
{
	(void)!fchown(fd, old->st_uid, old->st_gid);
	(void)!fchmod(fd, old->st_mode & 0777);
}

/* Follows a symbolic link: its target is replaced, not the link. *ret_fd stays -1 if impossible. */
static int open_beside(const char *path, int *ret_fd, char **ret_path)
{
	struct stat old;
	/* A link to a file that does not exist is no regular file: open() creates its target. */
	bool is_there = stat(path, &old) == 0 || lstat(path, &old) == 0;
	char *real_path;

	if (is_there && (!S_ISREG(old.st_mode) || access(path, W_OK) < 0))
		return 0;
	real_path = is_there ? realpath(path, NULL) : strdup(path);
	if (!real_path)
		return -errno;
	*ret_fd = open_nameless(real_path);
	if (*ret_fd < 0) {
		free(real_path);
		return 0;
	}
	if (is_there)
		take_after(*ret_fd, &old);
	*ret_path = real_path;
	return 0;
}

int whole_file_open(struct whole_file *whole, const char *path, struct why *why)
{
	char *real_path = NULL;
	int fd = -1, err;

	if (!path || strcmp(path, "-") == 0) {
		whole->file = stdout;
		return 0;
	}
	err = open_beside(path, &fd, &real_path);
	if (!err && fd < 0)
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (!err && fd < 0)
		err = -errno;
	if (!err) {
		whole->path = real_path;
		whole->file = fdopen(fd, "w");
		if (whole->file)
			return 0;
		err = -errno;
		close(fd);
	}
	whole_file_drop(whole);
	return why_set(why, err, "%s: %s", path, strerror(-err));
}

/* Links the file under a temporary name beside real_path. */
static int give_name(int fd, const char *real_path, char *name, size_t size)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	for (unsigned int i = 0; i < TRIES; i++) {
		if ((size_t)snprintf(name, size, "%s.%d.%u", real_path, (int)getpid(), i) >= size)
			return -ENAMETOOLONG;
		if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

static int replace(int fd, const char *real_path)
{
	char name[PATH_MAX];
	int err = give_name(fd, real_path, name, sizeof(name));

	if (!err && rename(name, real_path) < 0) {
		err = -errno;
		unlink(name);
	}
	return err;
}

int whole_file_keep(struct whole_file *whole)
{
	int err = 0;

	if (whole->file == stdout)
		return 0;
	/* After a write that failed fflush() writes the same again, and fails in the same way. */
	if (fflush(whole->file) != 0)
		err = -errno;
	else if (ferror(whole->file))
		err = -EIO;
	if (!err && whole->path)
		err = replace(fileno(whole->file), whole->path);
	if (fclose(whole->file) != 0 && !err)
		err = -errno;
	whole->file = NULL;
	whole_file_drop(whole);
	return err;
}

bool is_same_file(const char *path, const char *other)
{
	struct stat one, two;

	return stat(path, &one) == 0 && stat(other, &two) == 0 && S_ISREG(one.st_mode) &&
	       one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

void whole_file_drop(struct whole_file *whole)
{
	if (whole->file && whole->file != stdout)
		fclose(whole->file);
	free(whole->path);
	*whole = (struct whole_file){ NULL, NULL };
}
