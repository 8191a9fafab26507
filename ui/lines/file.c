// SPDX-License-Identifier: GPL-2.0-or-later
/* Appends lines to a file or standard output, each whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/output.h"
#include "lib/xalloc.h"
#include "ui/lines/file.h"

#define HEAD_MAX (1 << 20)

static int cannot_open(const char *path, int err, const struct error *reason, struct error *why)
{
	return error_set(why, err, "cannot open \"%s\": %s", path,
			 reason->text[0] ? reason->text : strerror(-err));
}

static int cannot_write(const struct lines_file *file, int err, struct error *why)
{
	bool is_full = err == -ENOSPC || err == -EDQUOT;

	if (!file->path)
		return error_set(why, err, "cannot write to standard output: %s", strerror(-err));
	return error_set(why, err, "cannot write to \"%s\": %s%s", file->path, strerror(-err),
			 is_full ? ": make room, or choose another file" : "");
}

/* The size of a regular file; -1: not a regular file. */
static off_t size_of(const struct lines_file *file)
{
	struct stat st;

	if (!file->is_regular || fstat(fileno(file->stream), &st) < 0)
		return -1;
	return st.st_size;
}

/* Reads up to size bytes from an offset on. Returns how many, or -errno. */
static ssize_t read_back(const struct lines_file *file, char *buf, size_t size, off_t offset)
{
	/*
	 * Opened anew: the stream is for writing only, because a pipe open for reading would not
	 * report that its reader is gone.
	 */
	int fd = open(file->path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = pread(fd, buf + len, size - len, offset + (off_t)len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len < size);
	n = n < 0 ? -errno : (ssize_t)len;
	close(fd);
	return n;
}

int lines_file_head(const struct lines_file *file, char **ret_head, struct error *why)
{
	off_t size = size_of(file);
	char *head = NULL;
	ssize_t len;

	if (size <= 0) {
		*ret_head = NULL;
		return 0;
	}
	size = size < HEAD_MAX ? size : HEAD_MAX;
	head = xmalloc((size_t)size + 1);
	len = read_back(file, head, (size_t)size, 0);
	if (len < 0) {
		free(head);
		return error_set(why, (int)len, "cannot read \"%s\": %s", file->path,
				 strerror((int)-len));
	}
	head[len] = '\0';
	*ret_head = head;
	return 0;
}

/*
 * Whether the last line has no end, as after a power cut. A file that cannot be read counts as
 * whole.
 */
static bool is_cut(const struct lines_file *file)
{
	off_t size = size_of(file);
	char last = '\n';

	return size > 0 && read_back(file, &last, 1, size - 1) == 1 && last != '\n';
}

int lines_file_open(const char *path, bool overwrites, struct lines_file *ret_file,
		     struct error *why)
{
	struct lines_file file = { .path = path, .stream = stdout };
	struct error reason = { "" };
	struct stat st;
	int fd, err;

	if (!path) {
		*ret_file = file;
		return 0;
	}
	fd = output_open(path, O_WRONLY | O_APPEND | O_CREAT | (overwrites ? O_TRUNC : 0), 0644,
			 &reason);
	if (fd < 0)
		return cannot_open(path, fd, &reason, why);
	file.stream = fdopen(fd, "a");
	if (!file.stream || fstat(fd, &st) < 0) {
		err = -errno;
		if (file.stream)
			fclose(file.stream);
		else
			close(fd);
		return cannot_open(path, err, &reason, why);
	}
	file.is_regular = S_ISREG(st.st_mode);
	file.is_cut = is_cut(&file);
	*ret_file = file;
	return 0;
}

bool lines_file_is_empty(const struct lines_file *file)
{
	return size_of(file) == 0;
}

/* Removes the written part of a sample. */
static void restore(struct lines_file *file, off_t size)
{
	__fpurge(file->stream);
	clearerr(file->stream);
	/* Never makes the file longer: another program may have emptied it. */
	if (size >= 0 && size_of(file) > size && ftruncate(fileno(file->stream), size) < 0)
		file->is_cut = true;
}

int lines_file_write(struct lines_file *file, const char *text, size_t size, struct error *why)
{
	off_t before = size_of(file);
	int err;

	if (file->is_cut)
		fputc('\n', file->stream);
	errno = 0;
	if (fwrite(text, 1, size, file->stream) == size && fflush(file->stream) == 0) {
		file->is_cut = false;
		return 0;
	}
	err = errno ? -errno : -EIO;
	restore(file, before);
	return cannot_write(file, err, why);
}

int lines_file_close(struct lines_file *file, struct error *why)
{
	int err = file->path ? fclose(file->stream) : fflush(stdout);

	return err ? cannot_write(file, -errno, why) : 0;
}
