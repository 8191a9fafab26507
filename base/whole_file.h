/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * whole_file - a file that takes another one's place when it is whole, and not before.
 *
 * Until then it has no name, so nothing remains of it, whatever ends the program. Where the file
 * system cannot do that, and for devices and pipes, the path itself is written to.
 */
#ifndef KVMTOP_BASE_WHOLE_FILE_H
#define KVMTOP_BASE_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/why.h"

/* Begins as zeroes, and may be dropped as such. */
struct whole_file {
	FILE *file; /* what is to be written to */
	char *path; /* what it will be; NULL: it is already */
};

/* path NULL or "-": standard output. Returns 0, or -errno with why. */
int whole_file_open(struct whole_file *whole, const char *path, struct why *why);

/*
 * The path is the new file from now on, with the old one's mode and, if that may be, owner.
 * Returns 0, or -errno: then what was there before still is, unless the path itself was written
 * to. Of standard output nothing is said here: others may write to it, too.
 */
int whole_file_keep(struct whole_file *whole);

/* Whether both are there and the same: what is written to one would be in the other. */
bool is_same_file(const char *path, const char *other);

/* Nothing has happened. */
void whole_file_drop(struct whole_file *whole);

#endif
