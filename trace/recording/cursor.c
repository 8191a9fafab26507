// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads numbers and texts at offsets in a file or in memory. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/recording/cursor.h"

uint64_t cursor_end(const struct cursor *cursor)
{
	return cursor->memory ? cursor->size : cursor->file->info.size;
}

int cursor_get(struct cursor *cursor, void *buf, size_t size)
{
	ssize_t got;

	if (cursor->memory) {
		if (cursor->at > cursor->size || size > cursor->size - cursor->at)
			return -EINVAL;
		memcpy(buf, cursor->memory + cursor->at, size);
		cursor->at += size;
		return 0;
	}
	do
		got = pread(cursor->file->fd, buf, size, (off_t)cursor->at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if ((size_t)got < size)
		return -EINVAL;
	cursor->at += size;
	return 0;
}

int cursor_u16(struct cursor *cursor, uint16_t *ret)
{
	uint16_t value;
	int err = cursor_get(cursor, &value, sizeof(value));

	if (!err)
		*ret = cursor->is_big_endian ? be16toh(value) : le16toh(value);
	return err;
}

int cursor_u32(struct cursor *cursor, uint32_t *ret)
{
	uint32_t value;
	int err = cursor_get(cursor, &value, sizeof(value));

	if (!err)
		*ret = cursor->is_big_endian ? be32toh(value) : le32toh(value);
	return err;
}

int cursor_u64(struct cursor *cursor, uint64_t *ret)
{
	uint64_t value;
	int err = cursor_get(cursor, &value, sizeof(value));

	if (!err)
		*ret = cursor->is_big_endian ? be64toh(value) : le64toh(value);
	return err;
}

int cursor_skip(struct cursor *cursor, uint64_t size)
{
	if (cursor->at > cursor_end(cursor) || size > cursor_end(cursor) - cursor->at)
		return -EINVAL;
	cursor->at += size;
	return 0;
}

int cursor_text(struct cursor *cursor, uint64_t size, char **ret_text)
{
	char *text;
	int err;

	if (size > CURSOR_TEXT_MAX || size > cursor_end(cursor))
		return -EINVAL;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	err = cursor_get(cursor, text, size);
	text[size] = '\0';
	if (err)
		free(text);
	else
		*ret_text = text;
	return err;
}

int cursor_name(struct cursor *cursor, char *name, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		int err = cursor_get(cursor, &name[i], 1);

		if (err)
			return err;
		if (!name[i])
			return 0;
	}
	return -EINVAL;
}
