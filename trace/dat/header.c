// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads numbers and texts where they are in a file, and the list of formats. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/dat/header.h"

#define TEXT_MAX (1 << 20)

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

/* A text of a given size, with a NUL behind it; to be freed. */
int cursor_text(struct cursor *cursor, uint64_t size, char **ret_text)
{
	char *text;
	int err;

	if (size > TEXT_MAX || size > cursor_end(cursor))
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

static int expect(struct cursor *cursor, const char *name)
{
	char got[DAT_NAME_SIZE];
	int err = cursor_name(cursor, got, sizeof(got));

	return err ? err : strcmp(got, name) == 0 ? 0 : -EINVAL;
}

/* What a ring's page and a record look like: kbuffer knows. */
static int skip_text(struct cursor *cursor, const char *name)
{
	uint64_t size = 0;
	int err = expect(cursor, name);

	if (!err)
		err = cursor_u64(cursor, &size);
	return err ? err : cursor_skip(cursor, size);
}

int dat_header_events(struct cursor *cursor, struct tep_types *types, const char *system)
{
	uint32_t nr = 0;
	int err = cursor_u32(cursor, &nr);

	for (uint32_t i = 0; i < nr && !err; i++) {
		uint64_t size = 0;
		char *text = NULL;

		err = cursor_u64(cursor, &size);
		if (!err)
			err = cursor_text(cursor, size, &text);
		if (err)
			return err;
		err = tep_types_parse(types, text, size, system);
		free(text);
		if (err == -EINVAL)
			err = 0; /* one that nobody understands; its records are "unknown" */
	}
	return err;
}

int dat_header_systems(struct cursor *cursor, struct tep_types *types)
{
	char name[DAT_NAME_SIZE];
	uint32_t nr = 0;
	int err = cursor_u32(cursor, &nr);

	for (uint32_t i = 0; i < nr && !err; i++) {
		err = cursor_name(cursor, name, sizeof(name));
		if (!err)
			err = dat_header_events(cursor, types, name);
	}
	return err;
}

static int skip_sized(struct cursor *cursor)
{
	uint32_t size;
	int err = cursor_u32(cursor, &size);

	return err ? err : cursor_skip(cursor, size);
}

int dat_header_comms(struct cursor *cursor, struct tep_types *types)
{
	uint64_t size;
	char *text;
	int err = cursor_u64(cursor, &size);

	if (err)
		return err;
	if (size > TEXT_MAX)
		return cursor_skip(cursor, size);
	err = cursor_text(cursor, size, &text);
	if (err)
		return err;
	tep_parse_saved_cmdlines(types->tep, text);
	free(text);
	return 0;
}


int dat_header_machine(struct cursor *cursor, struct dat_machine *ret_machine)
{
	struct dat_machine machine;
	uint8_t bytes[2];
	int err = cursor_get(cursor, bytes, sizeof(bytes));

	if (err)
		return err;
	if (bytes[0] > 1 || (bytes[1] != 4 && bytes[1] != 8))
		return -EINVAL;
	machine.is_big_endian = cursor->is_big_endian = bytes[0];
	machine.is_32bit = bytes[1] == 4;
	err = cursor_u32(cursor, &machine.page_size);
	if (!err)
		*ret_machine = machine;
	return err;
}

int dat_header_formats(struct cursor *cursor, struct tep_types *types, bool has_comms)
{
	int err = skip_text(cursor, "header_page");

	if (!err)
		err = skip_text(cursor, "header_event");
	if (!err)
		err = dat_header_events(cursor, types, "ftrace");
	if (!err)
		err = dat_header_systems(cursor, types);
	if (!err)
		err = skip_sized(cursor); /* kallsyms */
	if (!err)
		err = skip_sized(cursor); /* printk */
	return !err && has_comms ? dat_header_comms(cursor, types) : err;
}

void dat_set_machine(struct tep_handle *tep, const struct dat_machine *machine)
{
	tep_set_file_bigendian(tep, machine->is_big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, machine->is_32bit ? 4 : 8);
}
