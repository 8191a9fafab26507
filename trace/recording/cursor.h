/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cursor - an offset in a file, or in memory, to read from.
 *
 * All functions return 0, -EINVAL where the file has ended, or another -errno.
 */
#ifndef KVMTOP_TRACE_RECORDING_CURSOR_H
#define KVMTOP_TRACE_RECORDING_CURSOR_H

#include "trace/recording/reader.h"

#define CURSOR_TEXT_MAX (1 << 20) /* bytes of a text that is read at once */

struct cursor {
	struct trace_file *file;
	uint64_t at;
	bool is_big_endian; /* the file's numbers */
	/* If set, this is read instead of the file; `at` counts from its begin. */
	const uint8_t *memory;
	uint64_t size;
};

uint64_t cursor_end(const struct cursor *cursor); /* where the file, or the memory, ends */
int cursor_get(struct cursor *cursor, void *buf, size_t size);
int cursor_u16(struct cursor *cursor, uint16_t *ret);
int cursor_u32(struct cursor *cursor, uint32_t *ret);
int cursor_u64(struct cursor *cursor, uint64_t *ret);
int cursor_skip(struct cursor *cursor, uint64_t size);
int cursor_name(struct cursor *cursor, char *name, size_t size); /* up to a NUL */
/* A text of `size` bytes, at most CURSOR_TEXT_MAX, and a NUL after it; to be freed. */
int cursor_text(struct cursor *cursor, uint64_t size, char **ret_text);

#endif
