/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages - the recorded pages of each CPU, in files without a name, and their move to the output
 * file on a disk that has room for the pages only once.
 *
 * Moved bytes are freed in the source file. If there is still no room, the newest pages of the CPU
 * with most pages are given up, until there is room.
 */
#ifndef KVMTOP_TRACE_TRACER_PAGES_H
#define KVMTOP_TRACE_TRACER_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

/* The pages of one CPU. */
struct pages {
	int file;	/* -1: none */
	uint64_t bytes; /* of all pages that were not given up */
	uint64_t moved; /* of these, bytes that were moved */
};

/* Makes a file without a name in this folder. Returns a descriptor, or -errno with why. */
int pages_file(const char *folder, struct error *why);

/* Gives up some pages that were not moved yet; false: there are none. */
bool pages_give_up(struct pages *cpus, size_t nr);

/* Gives up pages until all CPUs together have at most `bytes`. Whether any were given up. */
bool pages_fit(struct pages *cpus, size_t nr, uint64_t bytes);

/*
 * Moves the pages of CPU i to offset `at` of a file: afterwards cpus[i].bytes are there, in whole
 * pages. Returns 0, or -errno: why some pages had to be given up.
 */
int pages_move(struct pages *cpus, size_t nr, size_t i, int out, uint64_t at);

#endif
