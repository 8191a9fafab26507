// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads numbers and texts at offsets in a file or in memory, and files piece by piece. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/xalloc.h"
#include "trace/recording/reader.h"

ssize_t bytes_read(const struct trace_file *file, void *buf, size_t size, uint64_t offset)
{
	ssize_t got;

	do
		got = pread(file->fd, buf, size, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* ---- cursor */

uint64_t cursor_end(const struct cursor *cursor)
{
	return cursor->memory ? cursor->size : cursor->file->info.size;
}

bool cursor_check(struct cursor *cursor, bool makes_sense)
{
	if (!cursor->err && !makes_sense)
		cursor->err = -EINVAL;
	return !cursor->err;
}

void cursor_get(struct cursor *cursor, void *buf, size_t size)
{
	ssize_t got = 0;

	if (!cursor->err && !cursor->memory) {
		got = bytes_read(cursor->file, buf, size, cursor->at);
		if (got < 0)
			cursor->err = (int)got;
		else
			cursor_check(cursor, (size_t)got == size);
	} else if (cursor_check(cursor, cursor->at <= cursor->size &&
					size <= cursor->size - cursor->at)) {
		memcpy(buf, cursor->memory + cursor->at, size);
	}
	if (cursor->err)
		memset(buf, 0, size);
	else
		cursor->at += size;
}

uint16_t cursor_u16(struct cursor *cursor)
{
	uint8_t bytes[sizeof(uint16_t)];

	cursor_get(cursor, bytes, sizeof(bytes));
	return bytes_u16(bytes, cursor->swap);
}

uint32_t cursor_u32(struct cursor *cursor)
{
	uint8_t bytes[sizeof(uint32_t)];

	cursor_get(cursor, bytes, sizeof(bytes));
	return bytes_u32(bytes, cursor->swap);
}

uint64_t cursor_u64(struct cursor *cursor)
{
	uint8_t bytes[sizeof(uint64_t)];

	cursor_get(cursor, bytes, sizeof(bytes));
	return bytes_u64(bytes, cursor->swap);
}

void cursor_skip(struct cursor *cursor, uint64_t size)
{
	uint64_t end = cursor_end(cursor);

	if (cursor_check(cursor, cursor->at <= end && size <= end - cursor->at))
		cursor->at += size;
}

char *cursor_text(struct cursor *cursor, uint64_t size, size_t most)
{
	char *text;

	if (!cursor_check(cursor, size <= most && size <= cursor_end(cursor)))
		return NULL;
	text = xcalloc(1, size + 1);
	cursor_get(cursor, text, size);
	if (!cursor->err)
		return text;
	free(text);
	return NULL;
}

void cursor_name(struct cursor *cursor, char *name, size_t size)
{
	size_t len = 0;

	do
		cursor_get(cursor, &name[len], 1);
	while (name[len] && ++len < size);
	cursor_check(cursor, len < size);
	if (cursor->err)
		name[0] = '\0';
}

/* ---- window */

void window_init(struct window *window, struct trace_file *file, const struct head *head,
		 size_t piece)
{
	off_t now = file->info.size ? lseek(file->fd, 0, SEEK_CUR) : 0;

	*window = (struct window){
		.file = file,
		.buf = xmalloc(WINDOW_WANT_MAX + piece),
		.room = WINDOW_WANT_MAX + piece,
		.offset = now > 0 ? (uint64_t)now : head->len,
		.limit = UINT64_MAX,
	};
	memcpy(window->buf, head->bytes, head->len);
	window->at = window->buf;
	window->end = window->buf + head->len;
	file->done = head->len;
}

void window_release(struct window *window)
{
	free(window->buf);
	window->buf = NULL;
	window->at = window->end = NULL;
}

void window_seek(struct window *window, uint64_t offset, uint64_t limit)
{
	window->at = window->end;
	window->offset = offset;
	window->limit = limit;
	if (lseek(window->file->fd, (off_t)offset, SEEK_SET) < 0)
		window->err = -errno;
}

bool window_read(struct window *window, size_t size)
{
	size_t left = window_left(window);

	memmove(window->buf, window->at, left);
	while (left < size && !window->err && window->offset < window->limit) {
		size_t most = window->room - left;
		ssize_t got;

		if (most > window->limit - window->offset)
			most = window->limit - window->offset;
		got = read(window->file->fd, window->buf + left, most);
		if (got == 0)
			break;
		if (got > 0) {
			left += (size_t)got;
			window->offset += (size_t)got;
			window->file->done = window->offset;
		} else if (errno != EINTR) {
			window->err = -errno;
		}
	}
	window->at = window->buf;
	window->end = window->buf + left;
	return left >= size;
}

bool window_end(struct window *window, size_t size)
{
	struct trace_file *file = window->file;
	uint64_t offset = window_offset(window);
	size_t left = window_left(window);

	if (window->err)
		trace_add_problem(file, offset, "%s", strerror(-window->err));
	else if (window->offset < file->info.size)
		trace_add_problem(file, offset, "the file became shorter while it was read");
	else if (left > 0)
		trace_add_problem(file, offset, "the last record has %zu of %zu bytes", left, size);
	else if (offset == 0 && !file->trace->has_records)
		trace_add_problem(file, 0, "the file is empty");
	window_release(window);
	return false;
}
