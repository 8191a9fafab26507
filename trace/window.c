// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads pieces of a file one after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/reader.h"
#include "trace/window.h"

#define WINDOW_SIZE (128 * 1024)

int window_init(struct window *window, int fd, const struct head *head)
{
	*window = (struct window){ .fd = fd };
	window->buf = malloc(WINDOW_SIZE);
	if (!window->buf)
		return -ENOMEM;
	memcpy(window->buf, head->bytes, head->len);
	window->at = window->buf;
	window->end = window->buf + head->len;
	window->offset = head->len;
	return 0;
}

void window_release(struct window *window)
{
	free(window->buf);
	window->buf = NULL;
}

void window_fill(struct window *window, size_t size)
{
	size_t left = window_left(window);

	if (window->err)
		return;
	memmove(window->buf, window->at, left);
	window->at = window->buf;
	while (left < size) {
		ssize_t got = read(window->fd, window->buf + left, WINDOW_SIZE - left);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			window->err = -errno;
		if (got <= 0)
			break;
		left += (size_t)got;
		window->offset += (size_t)got;
	}
	window->end = window->buf + left;
}
