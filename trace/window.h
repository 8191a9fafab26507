/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window - a file of any size, or a pipe, read through a small window.
 *
 * Reads large pieces and hands out pointers into them: nothing is copied per record. It is read
 * and not mapped, because a mapped file that is cut while it is read ends the program (SIGBUS), and
 * because pipes work the same way.
 */
#ifndef KVMTOP_TRACE_WINDOW_H
#define KVMTOP_TRACE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct head;

struct window {
	const uint8_t *at, *end; /* what is left of the piece */
	uint64_t offset;	 /* in the file, of `end` */
	uint8_t *buf;
	int fd;
	int err; /* -errno of a read that failed, else 0 */
};

/* Of the file's begin, or of a pipe whose first bytes are in `head`: 0 or -ENOMEM. */
int window_init(struct window *window, int fd, const struct head *head);
void window_release(struct window *window);

/* Reads more until there are `size` bytes (up to 64 KiB) at window->at, or the file has no more. */
void window_fill(struct window *window, size_t size);

static inline size_t window_left(const struct window *window)
{
	return (size_t)(window->end - window->at);
}

/* The next `size` bytes and behind them, or NULL: the file has less. */
static inline const uint8_t *window_take(struct window *window, size_t size)
{
	const uint8_t *at;

	if (window_left(window) < size)
		window_fill(window, size);
	if (window_left(window) < size)
		return NULL;
	at = window->at;
	window->at += size;
	return at;
}

/* The place in the file of window->at. */
static inline uint64_t window_offset(const struct window *window)
{
	return window->offset - window_left(window);
}

#endif
