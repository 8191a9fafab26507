// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads until read(2) returns 0: one call gives only a part of a pipe, and of kernel text. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/read.h"

#define STEP 4096 /* of the first read, as much as a small file has; each read doubles it */

/* Until buf is full or the file ends; returns the length or -errno. */
static long fill(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
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
	len = fill(fd, buf, size - 1);
	close(fd);
	if (len >= 0)
		buf[len] = '\0';
	return len;
}

bool read_again(int fd, char *buf, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, buf, size - 1, 0);

	if (n <= 0)
		return false;
	buf[n] = '\0';
	return true;
}

static int fill_growing(int fd, size_t max, char **text, size_t *ret_size)
{
	size_t size = 0, room = 0;
	long n;

	do {
		array_grow(text, &room, size + STEP);
		n = fill(fd, *text + size, room - size - 1);
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
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	char *text = NULL;

	if (fd < 0)
		return -errno;
	err = fill_growing(fd, max, &text, ret_size);
	close(fd);
	if (err)
		free(text);
	else
		*ret_text = text;
	return err;
}

bool path_exists(const char *path)
{
	return access(path, F_OK) == 0;
}
