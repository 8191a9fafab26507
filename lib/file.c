// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a file to its end, and replaces a file by a complete one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/file.h"

#define STEP 4096 /* of the first read, as much as a small file has; each read doubles it */
#define TRIES 100 /* of names for a new file */
#define PIPE_WAIT_MS 5000 /* for the next bytes of a pipe */

/* ---- reading: one read(2) gives only a part of a pipe, and of kernel text ---- */

/* Whoever opens a named pipe to write may never come, or never write. 0 or -errno. */
static int wait_for_bytes(int fd)
{
	struct pollfd pipe = { .fd = fd, .events = POLLIN };
	int nr = poll(&pipe, 1, PIPE_WAIT_MS);

	return nr > 0 ? 0 : nr < 0 ? -errno : -ETIMEDOUT;
}

/* Until buf is full or the file ends; returns the length or -errno. */
static long fill_buffer(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);
		int err = n < 0 ? -errno : 0;

		if (err == -EAGAIN)
			err = wait_for_bytes(fd);
		if (err && err != -EINTR)
			return err;
		if (n < 0)
			continue;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (long)len;
}

long read_small(const char *path, char *buf, size_t size)
{
	long len;
	int fd;

	if (!size)
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = fill_buffer(fd, buf, size - 1);
	close(fd);
	if (len >= 0)
		buf[len] = '\0';
	return len;
}

static int fill_growing(int fd, size_t max, char **text, size_t *ret_size)
{
	size_t size = 0, room = 0;
	long n;

	do {
		array_grow(text, &room, size + STEP);
		n = fill_buffer(fd, *text + size, room - size - 1);
		if (n < 0)
			return (int)n;
		size += (size_t)n;
		if (size > max)
			return -EFBIG;
	} while (size + 1 == room);
	(*text)[size] = '\0';
	*ret_size = size;
	return 0;
}

int read_whole(const char *path, size_t max, char **ret_text, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0;
	char *text = NULL;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		err = wait_for_bytes(fd);
	if (!err)
		err = fill_growing(fd, max, &text, ret_size);
	close(fd);
	if (err)
		free(text);
	else
		*ret_text = text;
	return err;
}

/*
 * To open a file is an action in a file system of the kernel's own, such as tracefs, and may take
 * for ever in one that a program implements (FUSE).
 */
static bool holds_programs(int fd)
{
	static const uint32_t types[] = {
		EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
		OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC, RAMFS_MAGIC, SQUASHFS_MAGIC,
		EROFS_SUPER_MAGIC_V1, ISOFS_SUPER_MAGIC, NFS_SUPER_MAGIC, V9FS_MAGIC,
		0x2fc12fc1, /* ZFS */
		0xca451a4e, /* bcachefs */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if ((uint32_t)fs.f_type == types[i])
			return true;
	}
	return false;
}

int open_program(const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -EINVAL;
	char link[32];
	struct stat st;

	if (place < 0)
		return -errno;
	if (holds_programs(place) && fstat(place, &st) == 0 && S_ISREG(st.st_mode)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			fd = -errno;
	}
	close(place);
	return fd;
}

/* access(2) would leave out the rights that capabilities of the program's file or service give. */
bool path_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* ---- replacing: a file without a name is linked beside the old one, then renamed over it ---- */

/*
 * Opens a file without a name in the folder, with the old file's owner, if permitted, and mode. -1:
 * not possible there.
 */
static int open_nameless(const struct output *output)
{
	struct stat old;
	bool is_there = fstatat(output->folder, output->name, &old, AT_SYMLINK_NOFOLLOW) == 0;
	int fd;

	/* If the folder cannot be opened, opening the file reports the reason. */
	if (output->is_kernels ||
	    (is_there && (!S_ISREG(old.st_mode) || !output_is_ours(&old) || old.st_nlink > 1 ||
			  faccessat(output->folder, output->name, W_OK, 0) < 0)))
		return -1;
	fd = openat(output->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	if (fd >= 0 && is_there) {
		(void)!fchown(fd, old.st_uid, old.st_gid);
		(void)!fchmod(fd, old.st_mode & 0777);
	}
	return fd;
}

int whole_file_open(struct whole_file *whole, const char *path, struct error *error)
{
	struct error reason = { "" };
	int fd = -1, err;

	if (!path || strcmp(path, "-") == 0) {
		whole->file = stdout;
		return 0;
	}
	err = output_find(path, &whole->output, &reason);
	if (err)
		return error_set(error, err, "%s: %s", path, reason.text);
	fd = open_nameless(&whole->output);
	whole->has_no_name = fd >= 0;
	if (fd < 0)
		fd = output_open_at(&whole->output, O_WRONLY | O_CREAT | O_TRUNC, 0666, &reason);
	whole->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (whole->file)
		return 0;
	err = fd >= 0 ? -errno : fd;
	if (fd >= 0)
		close(fd);
	output_release(&whole->output);
	*whole = (struct whole_file){ .file = NULL };
	return error_set(error, err, "%s: %s", path, reason.text[0] ? reason.text : strerror(-err));
}

/* Links the file under a temporary name beside the final one. */
static int give_name(int fd, const struct output *output, char *name, size_t size)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	for (unsigned int i = 0; i < TRIES; i++) {
		if ((size_t)snprintf(name, size, "%s.%d.%u", output->name, (int)getpid(), i) >=
		    size)
			return -ENAMETOOLONG;
		if (linkat(AT_FDCWD, link, output->folder, name, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

static int replace(int fd, const struct output *output)
{
	char name[NAME_MAX + 32];
	int err = give_name(fd, output, name, sizeof(name));

	if (!err && renameat(output->folder, name, output->folder, output->name) < 0) {
		err = -errno;
		unlinkat(output->folder, name, 0);
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
	if (!err && whole->has_no_name)
		err = replace(fileno(whole->file), &whole->output);
	if (fclose(whole->file) != 0 && !err)
		err = -errno;
	output_release(&whole->output);
	*whole = (struct whole_file){ .file = NULL };
	return err;
}

void whole_file_drop(struct whole_file *whole)
{
	if (whole->file && whole->file != stdout) {
		fclose(whole->file);
		output_release(&whole->output);
	}
	*whole = (struct whole_file){ .file = NULL };
}

int file_without_name(const char *folder, struct error *error)
{
	char path[4096];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/.kvmtop-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_set(error, -errno, "%s: no file can be made there: %s", folder,
				 strerror(errno));
	unlink(path);
	return fd;
}
