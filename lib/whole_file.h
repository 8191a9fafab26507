/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * whole_file - a file that replaces an old file when it is complete.
 *
 * Until then the new file has no name, so nothing of it remains if the program is killed. If the
 * file system cannot do that, and for devices and pipes, the path is written to directly.
 */
#ifndef KVMTOP_LIB_WHOLE_FILE_H
#define KVMTOP_LIB_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/output.h"
#include "lib/why.h"

/* Zero-initialised before whole_file_open(); dropping a zeroed one is allowed. */
struct whole_file {
	FILE *file; /* to write to */
	bool has_no_name; /* yet; else the path is written to directly */
	struct output output; /* where it gets its name */
};

/* path NULL or "-": standard output. Returns 0, or -errno with why. */
int whole_file_open(struct whole_file *whole, const char *path, struct why *why);

/*
 * Completes the file: it replaces the old file, with the old mode and, if permitted, owner.
 * Returns 0, or -errno: then the old file is unchanged, unless the path was written to directly.
 * Errors of standard output are not checked here, as other code writes to it, too.
 */
int whole_file_keep(struct whole_file *whole);

/* Discards the new file; the old one is unchanged. */
void whole_file_drop(struct whole_file *whole);

#endif
