/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bytes - the bytes of a recording: numbers at an address, a cursor to read from an offset, and a
 * window for files that are read from begin to end.
 */
#ifndef KVMTOP_TRACE_RECORDING_BYTES_H
#define KVMTOP_TRACE_RECORDING_BYTES_H

#include "trace/recording/reader.h"

/* Numbers at addresses that need not be aligned; swap: not in this machine's byte order. */
static inline uint16_t bytes_u16(const uint8_t *at, bool swap)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap16(value) : value;
}

static inline uint32_t bytes_u32(const uint8_t *at, bool swap)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t bytes_u64(const uint8_t *at, bool swap)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

/* Reads up to `size` bytes at an offset of the file: how many there were, or -errno. */
ssize_t bytes_read(const struct trace_file *file, void *buf, size_t size, uint64_t offset);

#define CURSOR_TEXT_MAX (1 << 20) /* bytes of a text that is read at once */

/*
 * An offset in a file, or in memory, to read from. After an error the cursor stays at its offset,
 * and what is read is 0 or "": callers check err once, after several reads.
 */
struct cursor {
	struct trace_file *file;
	uint64_t at;
	int err; /* -EINVAL: the file has ended or makes no sense; or another -errno of a read */
	bool is_big_endian; /* the file's numbers */
	/* If set, this is read instead of the file; `at` counts from its begin. */
	const uint8_t *memory;
	uint64_t size;
};

uint64_t cursor_end(const struct cursor *cursor); /* where the file, or the memory, ends */
void cursor_get(struct cursor *cursor, void *buf, size_t size);
uint16_t cursor_u16(struct cursor *cursor);
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);
void cursor_skip(struct cursor *cursor, uint64_t size);
void cursor_name(struct cursor *cursor, char *name, size_t size); /* up to a NUL */
/* A text of `size` bytes, at most CURSOR_TEXT_MAX, and a NUL after it, to be freed; or NULL. */
char *cursor_text(struct cursor *cursor, uint64_t size);
/* What was read must be so, else it is an error. Returns whether there was none so far. */
bool cursor_check(struct cursor *cursor, bool makes_sense);

/*
 * A file of any size, or a pipe, read piece by piece. Hands out pointers into the piece that was
 * read last, which hold until more is wanted: nothing is copied for each record.
 */
struct window {
	const uint8_t *at, *end; /* what is left of the piece */
	uint64_t offset;	 /* of `end` in the file */
	uint64_t limit;		 /* in the file: no more is read; UINT64_MAX: there is none */
	uint8_t *buf;
	size_t room; /* bytes of buf */
	struct trace_file *file;
	int err; /* -errno of a read that failed, else 0 */
};

#define WINDOW_PIECE (256 * 1024) /* bytes; the fastest size between 32 KiB and 4 MiB */

/* From `head` on, which was just read from the file. Reads pieces of about `piece` bytes. */
void window_init(struct window *window, struct trace_file *file, const struct head *head,
		 size_t piece);
void window_release(struct window *window);

/* Goes to an offset of a plain file, to read up to a limit. */
void window_seek(struct window *window, uint64_t offset, uint64_t limit);

static inline size_t window_left(const struct window *window)
{
	return (size_t)(window->end - window->at);
}

#define WINDOW_WANT_MAX 65536

bool window_read(struct window *window, size_t size);

/* Reads more if need be: whether there are `size` bytes, at most WINDOW_WANT_MAX, at window->at. */
static inline bool window_want(struct window *window, size_t size)
{
	return window_left(window) >= size || window_read(window, size);
}

/*
 * At the end of a file's records: what keeps the file from being read to its end, an incomplete
 * record of `size` bytes, or that there is nothing, is a problem of the file. Gives the memory
 * back. Returns false.
 */
bool window_end(struct window *window, size_t size);

/* The offset of window->at in the file. */
static inline uint64_t window_offset(const struct window *window)
{
	return window->offset - window_left(window);
}

#endif
