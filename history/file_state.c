// SPDX-License-Identifier: GPL-2.0-or-later
/* A history file's place: its paths, the lock of its writer, and whether it is still there. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "history/file_state.h"

void history_file_free(struct history_file *file)
{
	if (!file)
		return;
	history_file_leave(file);
	file_guests_release(&file->guests);
	minutes_release(&file->minutes);
	fields_free(file->fields);
	free(file->name);
	free(file->real);
	free(file);
}

/* realpath(3), also of a file that is not there yet. */
static char *real_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *real = realpath(path, NULL), *folder, *in;

	if (real || errno != ENOENT)
		return real;
	in = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	folder = in ? realpath(in, NULL) : NULL;
	free(in);
	if (folder && asprintf(&real, "%s/%s", folder[1] ? folder : "", name) < 0)
		real = NULL;
	free(folder);
	return real;
}

int history_file_new(const char *path, struct history_file **ret_file, struct why *why)
{
	struct history_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->lock = -1;
	file->name = strdup(path);
	file->real = real_path(path);
	if (file->name && file->real) {
		*ret_file = file;
		return 0;
	}
	err = why_set(why, -errno, "%s: %s", path, strerror(errno));
	history_file_free(file);
	return err;
}

/* ---- a writer's */

static int check_file(struct history_file *file, int fd, struct why *why)
{
	struct stat named;

	if (fstat(fd, &file->own) < 0)
		return why_set(why, -errno, "%s: %s", file->name, strerror(errno));
	if (!S_ISREG(file->own.st_mode))
		return why_set(why, -EINVAL, "%s: not a regular file", file->name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return why_set(why, -EBUSY, "%s: another kvmtop writes to it: choose "
				       "another file, or end that one", file->name);
		return why_set(why, -errno, "%s: %s", file->name, strerror(errno));
	}
	/* The file was removed after we had opened it. */
	if (stat(file->real, &named) < 0 || named.st_ino != file->own.st_ino ||
	    named.st_dev != file->own.st_dev)
		return -ESTALE;
	return 0;
}

static int lock_file(struct history_file *file, struct why *why)
{
	int err, fd;

	do {
		fd = open(file->real, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
		if (fd < 0)
			return why_set(why, -errno, "%s: %s", file->name, strerror(errno));
		err = check_file(file, fd, why);
		if (err)
			close(fd);
	} while (err == -ESTALE);
	if (!err)
		file->lock = fd;
	return err;
}

int history_file_enter(struct history_file *file, struct why *why)
{
	int err = lock_file(file, why);

	if (!err)
		err = db_open(&file->db, file->name, file->real, true, why);
	if (err)
		history_file_leave(file);
	return err;
}

void history_file_leave(struct history_file *file)
{
	/* In this order: closing any descriptor of the file drops SQLite's own locks. */
	db_close(&file->db);
	if (file->lock >= 0) {
		flock(file->lock, LOCK_UN); /* a child may have a copy of the descriptor */
		close(file->lock);
	}
	file->lock = -1;
	file->has_log = false;
}

uint64_t history_file_log_size(const struct history_file *file, bool *ret_exists)
{
	char path[PATH_MAX + 8];
	struct stat st = { 0 };

	snprintf(path, sizeof(path), "%s-wal", file->real);
	*ret_exists = stat(path, &st) == 0;
	return (uint64_t)st.st_size;
}

bool history_file_is_there(struct history_file *file)
{
	struct stat named;
	bool has_log;

	if (stat(file->real, &named) < 0 || named.st_ino != file->own.st_ino ||
	    named.st_dev != file->own.st_dev)
		return false;
	history_file_log_size(file, &has_log);
	if (file->has_log && !has_log)
		return false;
	file->has_log = has_log;
	return true;
}
