/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window - a file of any size, or a pipe, read piece by piece.
 *
 * Hands out pointers into the piece that was read last, which hold until more is wanted: nothing is
 * copied per record.
 */
#ifndef KVMTOP_TRACE_RECORDING_WINDOW_H
#define KVMTOP_TRACE_RECORDING_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct head;

struct window {
	const uint8_t *at, *end; /* what is left of the piece */
	uint64_t offset;	 /* of `end`, from where the window began */
	uint64_t length;	 /* of a plain file: what there was to read at the begin; else 0 */
	uint8_t *buf;
	int fd;
	int err; /* -errno of a read that failed, else 0 */
};

/* From `head` on, which was just read from fd: 0 or -ENOMEM. */
int window_init(struct window *window, int fd, const struct head *head);
void window_release(struct window *window);

#define WINDOW_WANT_MAX 65536

/* Reads more if need be: whether there are `size` bytes, at most WINDOW_WANT_MAX, at window->at. */
bool window_want(struct window *window, size_t size);

/* What keeps the file from being read to its end, in words; NULL: nothing does. */
const char *window_error(const struct window *window);

static inline size_t window_left(const struct window *window)
{
	return (size_t)(window->end - window->at);
}

/* The offset of window->at, from where the window began. */
static inline uint64_t window_offset(const struct window *window)
{
	return window->offset - window_left(window);
}

#endif
