/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uftrace - opens a folder that uftrace recorded, as the JSON of `uftrace dump --chrome`, or a file
 * with this JSON.
 */
#ifndef KVMTOP_TRACE_TIMELINE_UFTRACE_H
#define KVMTOP_TRACE_TIMELINE_UFTRACE_H

#include <stdio.h>
#include <sys/types.h>

#include "lib/error.h"

struct uftrace {
	FILE *json;
	pid_t child; /* 0: none */
};

/*
 * Writes the symbols of a program, in the format of `nm -n`, into the folder for uftrace, where a
 * file of that name is replaced when nm has ended well.
 */
int uftrace_symbols(const char *folder, const char *binary, const char *name, struct error *why);

/* Returns 0, or -errno with why. */
int uftrace_open(const char *path, struct uftrace *ret_uftrace, struct error *why);

/*
 * Returns 0, or -EIO with why when uftrace failed. err: of reading its output, which ends uftrace
 * early; 0: it was read to its end.
 */
int uftrace_close(struct uftrace *uftrace, const char *path, int err, struct error *why);

#endif
