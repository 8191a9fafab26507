// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps or reads pieces of a file one after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/reader.h"
#include "trace/window.h"

/* The best of 64 KiB to 4 MiB: a larger one leaves the processor's cache before it is read. */
#define PIECE_SIZE (256 * 1024)

/* ---- plain files */

/*
 * How long the file is now. What is behind its end is no longer left, and what is written there
 * later is something else.
 */
static void look(struct window *window)
{
	uint64_t offset = window_offset(window), length = 0;
	struct stat st;

	if (fstat(window->fd, &st) < 0)
		window->err = -errno;
	else if ((uint64_t)st.st_size > window->base)
		length = (uint64_t)st.st_size - window->base;
	if (length < window->length)
		window->is_cut = true;
	if (!window->is_cut || length < window->length)
		window->length = length;
	if (length >= window->offset)
		return;
	window->offset = length > offset ? length : offset;
	window->end = window->at + (window->offset - offset);
}

static void map_piece(struct window *window)
{
	uint64_t offset = window_offset(window), place = window->base + offset;
	uint64_t before = place % (uint64_t)sysconf(_SC_PAGESIZE), size;

	look(window);
	if (window->err || window->length <= window->offset)
		return;
	size = window->length - offset + before;
	if (size > PIECE_SIZE)
		size = PIECE_SIZE;
	window->err = mapped_set(&window->mapped, window->fd, place - before, size);
	window->at = window->end = window->mapped.begin;
	window->offset = offset;
	if (window->err)
		return;
	window->at += before;
	window->end += size;
	window->offset += size - before;
}

/* Where the head was read from, if that can be mapped. */
static bool begin_mapped(struct window *window, const struct head *head)
{
	off_t now = lseek(window->fd, 0, SEEK_CUR);
	struct stat st;

	if (now < (off_t)head->len || fstat(window->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	window->base = (uint64_t)now - head->len;
	map_piece(window);
	window->err = 0;
	return window->mapped.begin;
}

/* ---- anything else */

static void read_piece(struct window *window, size_t size)
{
	size_t left = window_left(window);

	memmove(window->buf, window->at, left);
	window->at = window->buf;
	while (left < size) {
		ssize_t got = read(window->fd, window->buf + left, PIECE_SIZE - left);

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

/* ---- either */

int window_init(struct window *window, int fd, const struct head *head)
{
	*window = (struct window){ .fd = fd };
	if (begin_mapped(window, head))
		return 0;
	window->buf = malloc(PIECE_SIZE);
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
	mapped_release(&window->mapped);
	free(window->buf);
	window->buf = NULL;
}

void window_fill(struct window *window, size_t size)
{
	if (window->err)
		return;
	if (window->buf)
		read_piece(window, size);
	else
		map_piece(window);
}

bool window_want(struct window *window, size_t size)
{
	/* Nobody waits for what comes behind. */
	size_t least = window->buf ? size : size + sizeof(uint32_t);

	if (window_left(window) < least)
		window_fill(window, least);
	if (!window->buf && !window_has(window, size)) {
		look(window);
		if (window->mapped.is_cut && !window->is_cut)
			window->err = -EIO; /* the page is in the file, and cannot be read */
	}
	return !window->err && window_left(window) >= size;
}

const char *window_error(const struct window *window)
{
	if (window->err)
		return strerror(-window->err);
	return window->is_cut ? "the file became shorter while it was read" : NULL;
}
