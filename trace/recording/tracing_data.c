// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the list of event formats, and the names of threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recording/tracing_data.h"

static int expect(struct cursor *cursor, const char *name)
{
	char got[TRACING_NAME_SIZE];
	int err = cursor_name(cursor, got, sizeof(got));

	return err ? err : strcmp(got, name) == 0 ? 0 : -EINVAL;
}

/* The formats of a page and a record are not needed: dat/page.c has them built in. */
static int skip_text(struct cursor *cursor, const char *name)
{
	uint64_t size = 0;
	int err = expect(cursor, name);

	if (!err)
		err = cursor_u64(cursor, &size);
	return err ? err : cursor_skip(cursor, size);
}

/* The event's records have the type "unknown". Said once for each file. */
static void add_damaged(const struct cursor *cursor, uint64_t at, struct event_types *types)
{
	if (!types->has_damaged)
		trace_add_problem(cursor->file, cursor->memory ? 0 : at,
				  "the format of an event is damaged");
	types->has_damaged = true;
}

int tracing_read_events(struct cursor *cursor, struct event_types *types, const char *system)
{
	uint32_t nr = 0;
	int err = cursor_u32(cursor, &nr);

	for (uint32_t i = 0; i < nr && !err; i++) {
		uint64_t size = 0, begin;
		char *text = NULL;

		err = cursor_u64(cursor, &size);
		begin = cursor->at;
		if (!err)
			err = cursor_text(cursor, size, &text);
		if (err)
			return err;
		err = event_types_add(types, text, size, system);
		free(text);
		if (err == -EINVAL) {
			add_damaged(cursor, begin, types);
			err = 0;
		}
	}
	return err;
}

int tracing_read_systems(struct cursor *cursor, struct event_types *types)
{
	char name[TRACING_NAME_SIZE];
	uint32_t nr = 0;
	int err = cursor_u32(cursor, &nr);

	for (uint32_t i = 0; i < nr && !err; i++) {
		err = cursor_name(cursor, name, sizeof(name));
		if (!err)
			err = tracing_read_events(cursor, types, name);
	}
	return err;
}

static int skip_sized(struct cursor *cursor)
{
	uint32_t size;
	int err = cursor_u32(cursor, &size);

	return err ? err : cursor_skip(cursor, size);
}

int tracing_read_comms(struct cursor *cursor, struct event_types *types)
{
	uint64_t size;
	char *text;
	int err = cursor_u64(cursor, &size);

	if (err)
		return err;
	if (size > CURSOR_TEXT_MAX)
		return cursor_skip(cursor, size);
	err = cursor_text(cursor, size, &text);
	if (err)
		return err;
	comms_read(&types->comms, text);
	free(text);
	return 0;
}

int tracing_read_machine(struct cursor *cursor, struct event_types *types,
			 struct tracing_machine *ret_machine)
{
	struct tracing_machine machine;
	uint8_t bytes[2];
	int err = cursor_get(cursor, bytes, sizeof(bytes));

	if (err)
		return err;
	if (bytes[0] > 1 || (bytes[1] != 4 && bytes[1] != 8))
		return -EINVAL;
	machine.is_big_endian = cursor->is_big_endian = bytes[0];
	machine.is_32bit = bytes[1] == 4;
	err = cursor_u32(cursor, &machine.page_size);
	if (err)
		return err;
	event_types_set_machine(types, machine.is_big_endian);
	*ret_machine = machine;
	return 0;
}

int tracing_read_formats(struct cursor *cursor, struct event_types *types, bool has_comms)
{
	int err = skip_text(cursor, "header_page");

	if (!err)
		err = skip_text(cursor, "header_event");
	if (!err)
		err = tracing_read_events(cursor, types, "ftrace");
	if (!err)
		err = tracing_read_systems(cursor, types);
	if (!err)
		err = skip_sized(cursor); /* kallsyms */
	if (!err)
		err = skip_sized(cursor); /* printk */
	return !err && has_comms ? tracing_read_comms(cursor, types) : err;
}
