/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output - opens files to write to. Nothing else in kvmtop does, so one rule covers all of them.
 *
 * kvmtop often runs as root, and a folder may belong to a user who puts a link there, or a file
 * under a name that is easily guessed. "Ours" is what root or the user of this process owns.
 *
 *	- A link is followed if it is ours and in a folder of ours, wherever it is in a path. Links
 *	  of /proc, to which /dev/stdout leads, are the kernel's.
 *	- A file that exists must be a plain file of ours. It has no second name if the folder is
 *	  not ours.
 *	- Devices, pipes and sockets can be used if they are ours, or if the folder is ours and no
 *	  other user may write to it.
 *
 * Functions return 0 or a descriptor, or -errno with error, which is a reason without the path.
 */
#ifndef KVMTOP_LIB_OUTPUT_H
#define KVMTOP_LIB_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lib/error.h"

/* A name in a folder, after all links. */
struct output {
	int folder; /* a descriptor */
	char name[NAME_MAX + 1];
	bool is_kernels; /* a link of /proc, which the kernel follows */
};

/* Finds where a path leads. The name need not exist. -ELOOP: a link that is not followed. */
int output_find(const char *path, struct output *ret_output, struct error *error);
void output_release(struct output *output);

/* Opens or makes the file; flags as for open(2). */
int output_open_at(const struct output *output, int flags, mode_t mode, struct error *error);

/* Whether what has the name now, if anything, may be used, or be replaced by a socket of ours. */
int output_check_at(const struct output *output, struct error *error);

/* Finds and opens. */
int output_open(const char *path, int flags, mode_t mode, struct error *error);

/*
 * Whether a file could be opened, or made, to write to: 0, or -errno with error. It is neither
 * changed nor made. A network file system, or a full disk, may still refuse it later.
 */
int output_check(const char *path, struct error *error);

/* The absolute path without links; NULL with errno. The caller frees it. */
char *output_path(const struct output *output);

/* Whether root or the user of this process owns it. */
bool output_is_ours(const struct stat *st);

/*
 * For a file that has others beside it, under names that can be guessed: 0, or for root -EPERM with
 * error if another user could put files there, or replace the folder.
 */
int output_check_folder(int folder, struct error *error);

/*
 * Renames a file that is there already: the day of its last change is appended to its name, and a
 * number where there is such a file. Of each suffix, NULL at the end, the file with the suffix is
 * renamed, too, to the new name with the suffix. 0 or -errno; error has the new name, or the
 * reason.
 */
int output_set_aside(const char *path, const char *const *suffixes, struct error *ret_error);

/*
 * The first of the inputs that is the same file as the output, or is the folder of an output that
 * exists; NULL: none. Inputs may be NULL.
 */
const char *output_find_input(const char *path, const char *const *inputs, size_t nr);

#endif
