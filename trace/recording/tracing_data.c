// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the list of event formats, and the names of threads. */
#include <stdlib.h>
#include <string.h>

#include "trace/recording/tracing_data.h"

/* The formats of a page and a record are not needed: dat/page.c has them built in. */
static void skip_text(struct cursor *cursor, const char *name)
{
	char got[TRACING_NAME_SIZE];

	cursor_name(cursor, got, sizeof(got));
	cursor_check(cursor, strcmp(got, name) == 0);
	cursor_skip(cursor, cursor_u64(cursor));
}

/* The event's records have the type "unknown". Said once for each file. */
static void add_damaged(const struct cursor *cursor, uint64_t at, struct event_types *types)
{
	if (!types->has_damaged)
		trace_add_problem(cursor->file, cursor->memory ? 0 : at,
				  "the format of an event is damaged");
	types->has_damaged = true;
}

void tracing_read_events(struct cursor *cursor, struct event_types *types, const char *system)
{
	uint32_t nr = cursor_u32(cursor);

	for (uint32_t i = 0; i < nr && !cursor->err; i++) {
		uint64_t size = cursor_u64(cursor), begin = cursor->at;
		char *text = cursor_text(cursor, size);

		if (text && !event_types_add(types, text, size, system))
			add_damaged(cursor, begin, types);
		free(text);
	}
}

void tracing_read_systems(struct cursor *cursor, struct event_types *types)
{
	char name[TRACING_NAME_SIZE];
	uint32_t nr = cursor_u32(cursor);

	for (uint32_t i = 0; i < nr && !cursor->err; i++) {
		cursor_name(cursor, name, sizeof(name));
		tracing_read_events(cursor, types, name);
	}
}

void tracing_read_comms(struct cursor *cursor, struct event_types *types)
{
	uint64_t size = cursor_u64(cursor);
	char *text;

	if (size > CURSOR_TEXT_MAX) {
		cursor_skip(cursor, size);
		return;
	}
	text = cursor_text(cursor, size);
	if (text)
		comms_read(&types->comms, text);
	free(text);
}

struct tracing_machine tracing_read_machine(struct cursor *cursor, struct event_types *types)
{
	struct tracing_machine machine;
	uint8_t bytes[2];

	cursor_get(cursor, bytes, sizeof(bytes));
	cursor_check(cursor, bytes[0] <= 1 && (bytes[1] == 4 || bytes[1] == 8));
	machine.is_big_endian = cursor->is_big_endian = bytes[0];
	machine.is_32bit = bytes[1] == 4;
	machine.page_size = cursor_u32(cursor);
	event_types_set_machine(types, machine.is_big_endian);
	return machine;
}

void tracing_read_formats(struct cursor *cursor, struct event_types *types, bool has_comms)
{
	skip_text(cursor, "header_page");
	skip_text(cursor, "header_event");
	tracing_read_events(cursor, types, "ftrace");
	tracing_read_systems(cursor, types);
	cursor_skip(cursor, cursor_u32(cursor)); /* kallsyms */
	cursor_skip(cursor, cursor_u32(cursor)); /* printk */
	if (has_comms)
		tracing_read_comms(cursor, types);
}
