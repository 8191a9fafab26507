/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read - reads files whole, for callers that do no other input and output; names in paths.
 */
#ifndef KVMTOP_LIB_READ_H
#define KVMTOP_LIB_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * A small file (kernel text) into buf: at most size - 1 bytes, and a NUL. Returns the length or
 * -errno.
 */
long read_small(const char *path, char *buf, size_t size);

/*
 * Rereads an open file of the kernel from offset 0, as read_small(). fd -1: there is
 * none. False: it cannot be read, or is empty.
 */
bool read_again(int fd, char *buf, size_t size);

/*
 * A file of at most max bytes, or a pipe, into memory of its own, with a NUL after the last byte.
 * The caller frees *ret_text. Returns 0, -EFBIG or another -errno.
 */
int read_whole(const char *path, size_t max, char **ret_text, size_t *ret_size);

/* Whether there is a file or a folder of this name. */
bool path_exists(const char *path);

/* What follows the last slash; of a path that ends in one, all of it. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
