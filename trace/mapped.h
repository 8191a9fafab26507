/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped - a piece of a file in memory that outlives the file's being cut.
 *
 * A mapped page that is no longer in the file raises SIGBUS when it is touched. Here it reads as
 * zeros from then on, and is_cut says so; SIGBUS of anything else goes where it went before. For
 * one thread.
 */
#ifndef KVMTOP_TRACE_MAPPED_H
#define KVMTOP_TRACE_MAPPED_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct mapped {
	const uint8_t *begin; /* NULL: nothing is mapped */
	size_t size;
	volatile sig_atomic_t is_cut; /* a page of it was not in the file when it was touched */
	struct mapped *next;
};

/*
 * Maps a piece in place of the one before; `offset` is a multiple of the page size. It must stay
 * where it is until it is released. 0 or -errno of mmap() (then nothing is mapped): no file of
 * this kind, no memory.
 */
int mapped_set(struct mapped *mapped, int fd, uint64_t offset, size_t size);
void mapped_release(struct mapped *mapped);

#endif
