/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file - reads whole files, replaces a file by a complete one, and finds names in paths.
 */
#ifndef KVMTOP_LIB_FILE_H
#define KVMTOP_LIB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/output.h"
#include "lib/error.h"

/*
 * A small file (kernel text) into buf: at most size - 1 bytes, and a NUL. Returns the length or
 * -errno.
 */
long read_small(const char *path, char *buf, size_t size);

/*
 * A file of at most max bytes, or a pipe, into memory of its own, with a NUL after the last byte.
 * The caller frees *ret_text. Returns 0, -EFBIG, -ETIMEDOUT of a pipe into which nothing is
 * written, or another -errno.
 */
int read_whole(const char *path, size_t max, char **ret_text, size_t *ret_size);

/*
 * Opens a program or library of a foreign name, as a recording, a guest or a process gives it: only
 * a regular file, and only where programs are. A descriptor; -EINVAL: it is another kind of file;
 * -errno.
 */
int open_program(const char *path);

/* Whether there is a file or a folder of this name. */
bool path_exists(const char *path);

/* What follows the last slash; of a path that ends in one, all of it. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * A file that replaces an old file when it is complete. Until then it has no name, so nothing of it
 * remains if the program is killed. If the file system cannot do that, and for devices and pipes,
 * the path is written to directly.
 */

/* Zero-initialised before whole_file_open(); dropping a zeroed one is allowed. */
struct whole_file {
	FILE *file; /* to write to */
	bool has_no_name; /* yet; else the path is written to directly */
	struct output output; /* where it gets its name */
};

/* path NULL or "-": standard output. Returns 0, or -errno with error. */
int whole_file_open(struct whole_file *whole, const char *path, struct error *error);

/*
 * Completes the file: it replaces the old file, with the old mode and, if permitted, owner.
 * Returns 0, or -errno: then the old file is unchanged, unless the path was written to directly.
 * Errors of standard output are not checked here, as other code writes to it, too.
 */
int whole_file_keep(struct whole_file *whole);

/* Discards the new file; the old one is unchanged. */
void whole_file_drop(struct whole_file *whole);

/* A file in the folder that goes with its last descriptor: the descriptor, or -errno with error. */
int file_without_name(const char *folder, struct error *error);

#endif
