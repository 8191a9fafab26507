/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window - a file of any size, or a pipe, seen through a small window.
 *
 * Hands out pointers into a plain file that is mapped piece by piece, or into what was read of
 * anything else: nothing is copied per record. What is cut off a file while it is read is not
 * handed out; it reads as zeros from then on, also where that was handed out before.
 */
#ifndef KVMTOP_TRACE_WINDOW_H
#define KVMTOP_TRACE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/mapped.h"

struct head;

struct window {
	const uint8_t *at, *end; /* what is left of the piece */
	uint64_t offset;	 /* of `end`, from where the window began */
	uint64_t base;		 /* of a plain file: where the window began in it */
	uint64_t length;	 /* of a plain file: how long it was last, from there */
	struct mapped mapped;	 /* of a plain file: the piece */
	uint8_t *buf;		 /* of anything else: the piece; else NULL */
	int fd;
	int err;     /* -errno of what failed, else 0 */
	bool is_cut; /* the file became shorter than it was: what is left was in front of the cut */
};

/* From `head` on, which was just read from fd: 0 or -ENOMEM. It must stay where it is. */
int window_init(struct window *window, int fd, const struct head *head);
void window_release(struct window *window);

/* Gets more until there are `size` bytes (up to 64 KiB) at window->at, or the file has no more. */
void window_fill(struct window *window, size_t size);

/* The same; false: the file has less. */
bool window_want(struct window *window, size_t size);

/* What keeps the file from being read to its end, in words; NULL: nothing does. */
const char *window_error(const struct window *window);

static inline size_t window_left(const struct window *window)
{
	return (size_t)(window->end - window->at);
}

/*
 * Whether the next `size` bytes are there for sure; if not, ask window_want(). Behind a cut are
 * zeros up to the end of the page, and no memory from there on: what comes next tells. Where it is
 * 0 in sound files, too, that must be rare.
 */
static inline bool window_has(const struct window *window, size_t size)
{
	uint32_t behind;

	if (window_left(window) < size + sizeof(behind))
		return false;
	memcpy(&behind, window->at + size, sizeof(behind));
	return behind && !window->mapped.is_cut;
}

/* The next `size` bytes and behind them, or NULL: the file has less. */
static inline const uint8_t *window_take(struct window *window, size_t size)
{
	if (!window_has(window, size) && !window_want(window, size))
		return NULL;
	window->at += size;
	return window->at - size;
}

/* The place in the file of window->at. */
static inline uint64_t window_offset(const struct window *window)
{
	return window->offset - window_left(window);
}

#endif
