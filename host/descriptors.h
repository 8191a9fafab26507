/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptors - how many files the process may have open: getrlimit(2), RLIMIT_NOFILE.
 */
#ifndef KVMTOP_HOST_DESCRIPTORS_H
#define KVMTOP_HOST_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

#define DESCRIPTORS_SPARE 64 /* for the rest of the program */

/*
 * Raises the soft limit to needed, or as far as allowed; never lowers it. needed: the number of
 * descriptors that the process will have open, with DESCRIPTORS_SPARE.
 */
void descriptors_raise(uint64_t needed);

/* Whether enough descriptors are left to read /proc and /sys. */
bool descriptors_are_left(void);

/*
 * Reads a small file of the kernel's from its begin, as read_again(), and keeps it open in *fd (-1:
 * it is not open) as long as descriptors are left; without them it is opened for each reading.
 */
bool descriptors_read(int *fd, const char *path, char *buf, size_t size);

/* Whether an error (-errno) means that there are too few descriptors: -EMFILE, -ENFILE. */
bool descriptors_are_short(int err);

/*
 * Says how many events are not counted because descriptors are missing, and what helps. needed: as
 * above.
 */
void descriptors_explain(struct error *why, unsigned int nr_events, uint64_t needed);

#endif
