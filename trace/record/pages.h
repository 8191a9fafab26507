/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages - what was read of each CPU's ring, in files that have no name, and how it moves
 * from there to where it stays, on a disk that has room for it only once.
 *
 * What was moved is freed where it was. Where there is no room even so, the newest pages of the CPU
 * that has most of them are given up, until there is.
 */
#ifndef KVMTOP_TRACE_RECORD_PAGES_H
#define KVMTOP_TRACE_RECORD_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

/* The pages of one CPU. */
struct pages {
	int file;	/* -1: none */
	uint64_t bytes; /* of all that are kept */
	uint64_t moved; /* of those that have been moved */
};

/* A file in this folder that vanishes with its descriptor: that, or -errno with why. */
int pages_file(const char *folder, struct why *why);

/* Some of what is not moved yet; false: there is no more. */
bool pages_give_up(struct pages *cpus, size_t nr);

/* Until all together have no more than so many bytes. Whether that was needed. */
bool pages_fit(struct pages *cpus, size_t nr, uint64_t bytes);

/*
 * Moves those of CPU i to a place in a file. Returns 0, or -errno: why some had to be given up.
 * Then `bytes` are there, in whole pages.
 */
int pages_move(struct pages *cpus, size_t nr, size_t i, int out, uint64_t at);

#endif
