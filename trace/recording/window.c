// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a file in pieces into one buffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/recording/reader.h"
#include "trace/recording/window.h"

/*
 * The fastest size between 32 KiB and 4 MiB: a larger piece does not fit into the processor's
 * cache. Each piece is read to the beginning of the same memory page, which is a tenth faster than
 * to other addresses. The unread rest of the previous piece is copied in front of the page.
 */
#define PIECE_SIZE (256 * 1024)
#define PAGE 4096

/* The bytes of a regular file from `len` bytes before the descriptor's position to the end. */
static uint64_t find_length(int fd, size_t len)
{
	off_t now = lseek(fd, 0, SEEK_CUR);
	struct stat st;

	if (now < (off_t)len || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < now)
		return 0;
	return (uint64_t)st.st_size - (uint64_t)now + len;
}

int window_init(struct window *window, int fd, const struct head *head)
{
	*window = (struct window){ .fd = fd };
	window->buf = aligned_alloc(PAGE, WINDOW_WANT_MAX + PIECE_SIZE);
	if (!window->buf)
		return -ENOMEM;
	memcpy(window->buf, head->bytes, head->len);
	window->at = window->buf;
	window->end = window->buf + head->len;
	window->offset = head->len;
	window->length = find_length(fd, head->len);
	return 0;
}

void window_release(struct window *window)
{
	free(window->buf);
	window->buf = NULL;
}

bool window_want(struct window *window, size_t size)
{
	uint8_t *piece = window->buf + WINDOW_WANT_MAX, *end = piece;
	size_t left = window_left(window);

	if (left >= size)
		return true;
	memmove(piece - left, window->at, left);
	window->at = piece - left;
	while ((size_t)(end - window->at) < size && !window->err) {
		ssize_t got = read(window->fd, end, PIECE_SIZE - (size_t)(end - piece));

		if (got == 0)
			break;
		if (got > 0)
			end += got;
		else if (errno != EINTR)
			window->err = -errno;
	}
	window->end = end;
	window->offset += (uint64_t)(end - piece);
	return window_left(window) >= size;
}

const char *window_error(const struct window *window)
{
	if (window->err)
		return strerror(-window->err);
	return window->offset < window->length ? "the file became shorter while it was read" : NULL;
}
