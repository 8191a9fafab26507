// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a type of the stream from a libtraceevent event when the event first occurs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/tep_types.h"

#define NR_IDS 65536 /* common_type has 16 bits */

int tep_types_init(struct tep_types *types, struct trace_file *file)
{
	tep_set_loglevel(TEP_LOG_NONE);
	*types = (struct tep_types){
		.file = file,
		.tep = tep_alloc(),
		.common_type = { "common_type", 0, 2, 0 },
		.common_pid = { "common_pid", 4, 4, TRACE_FIELD_SIGNED },
	};
	return types->tep ? 0 : -ENOMEM;
}

void tep_types_set_machine(struct tep_types *types, bool is_big_endian, bool is_32bit)
{
	bool is_local_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	tep_set_file_bigendian(types->tep, is_big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(types->tep, is_local_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(types->tep, is_32bit ? 4 : 8);
	types->swap = is_big_endian != is_local_big ? TRACE_FIELD_SWAP : 0;
	types->common_type.flags = types->swap;
	types->common_pid.flags = TRACE_FIELD_SIGNED | types->swap;
}

void tep_types_release(struct tep_types *types)
{
	for (size_t i = 0; i < types->nr; i++) {
		free(types->by_id[i].fields);
		free(types->by_id[i].format);
	}
	free(types->by_id);
	tep_free(types->tep);
}

/* The event's ID in a format file, or -1. */
static int id_of_format(const char *text)
{
	const char *line = strstr(text, "\nID:");
	long id = line ? strtol(line + 4, NULL, 10) : -1;

	return id >= 0 && id < NR_IDS ? (int)id : -1;
}

/*
 * Parses the fields only: the print format is not needed, and libtraceevent 1.7 crashes on some
 * damaged print formats.
 */
static void parse_fields(struct tep_types *types, const char *text, const char *system)
{
	const char *end = strstr(text, "print fmt:");
	size_t len = end ? (size_t)(end - text) : strlen(text);
	char *fields;
	int size = asprintf(&fields, "%.*sprint fmt: \"\"\n", (int)len, text);

	if (size < 0)
		return;
	tep_parse_event(types->tep, fields, (unsigned long)size, system);
	free(fields);
}

int tep_types_parse(struct tep_types *types, const char *text, size_t size, const char *system)
{
	char *copy = strndup(text, size);
	int id = copy ? id_of_format(copy) : -1, err = copy ? -EINVAL : -ENOMEM;

	if (id >= 0)
		parse_fields(types, copy, system);
	if (id >= 0 && tep_find_event(types->tep, id))
		err = array_grow(&types->by_id, &types->nr, (size_t)id + 1);
	if (err || types->by_id[id].format || types->by_id[id].type) {
		free(copy);
		return err;
	}
	types->by_id[id].format = copy;
	return 0;
}

/* ---- types */

static unsigned int field_flags(const struct tep_types *types, unsigned long flags)
{
	unsigned int ret = types->swap;

	if (flags & TEP_FIELD_IS_SIGNED)
		ret |= TRACE_FIELD_SIGNED;
	if (flags & TEP_FIELD_IS_ARRAY)
		ret |= TRACE_FIELD_ARRAY;
	if (flags & TEP_FIELD_IS_STRING)
		ret |= TRACE_FIELD_STRING;
	if ((flags & TEP_FIELD_IS_DYNAMIC) && !(flags & TEP_FIELD_IS_RELATIVE))
		ret |= TRACE_FIELD_DYNAMIC;
	return ret;
}

static size_t count_fields(const struct tep_format_field *field)
{
	size_t nr = 0;

	for (; field; field = field->next)
		nr++;
	return nr;
}

static size_t add_fields(const struct tep_types *types, struct trace_field *fields,
			 const struct tep_format_field *from)
{
	size_t nr = 0;

	for (; from; from = from->next) {
		if (from->offset < 0 || from->size < 0)
			continue;
		fields[nr++] = (struct trace_field){
			.name = from->name,
			.offset = (uint32_t)from->offset,
			.size = (uint32_t)from->size,
			.flags = field_flags(types, from->flags),
		};
	}
	return nr;
}

static int add_type(struct tep_types *types, struct tep_type *slot, int id)
{
	struct tep_event *event = tep_find_event(types->tep, id);
	struct trace_type type = { .id = (uint64_t)id, .system = "", .name = "unknown" };
	struct trace_field *fields;

	type.file = types->file->index;
	if (event) {
		type.system = event->system;
		type.name = event->name;
		fields = calloc(count_fields(event->format.fields) +
					count_fields(event->format.common_fields) + 1,
				sizeof(*fields));
		if (!fields)
			return -ENOMEM;
		slot->fields = fields;
		type.nr_fields = add_fields(types, fields, event->format.fields);
		type.nr_fields += add_fields(types, fields + type.nr_fields,
					     event->format.common_fields);
		type.fields = fields;
		type.format = slot->format;
	}
	slot->type = trace_add_type(types->file->trace, &type);
	if (!slot->type)
		return -ENOMEM;
	slot->vcpu = trace_field(slot->type, "vcpu_id");
	return 0;
}

int tep_types_set(struct tep_types *types, struct trace_event *event, const void *data,
		  uint32_t size)
{
	struct tep_type *type;
	size_t id;
	int err;

	event->data = data;
	event->size = size;
	id = trace_field_number(&types->common_type, event);
	if (id >= types->nr || !types->by_id[id].type) {
		err = array_grow(&types->by_id, &types->nr, id + 1);
		if (!err)
			err = add_type(types, &types->by_id[id], (int)id);
		if (err)
			return err;
	}
	type = &types->by_id[id];
	event->id = id;
	event->type = type->type;
	event->tid = (int32_t)trace_field_number(&types->common_pid, event);
	event->thread_key = (uint64_t)types->file->index << 32 | (uint32_t)event->tid;
	event->vcpu = type->vcpu ? (int32_t)trace_field_number(type->vcpu, event) : -1;
	return 0;
}

const char *tep_types_comm(const struct tep_types *types, int tid)
{
	const char *comm = tep_is_pid_registered(types->tep, tid) ?
				   tep_data_comm_from_pid(types->tep, tid) : NULL;

	return comm && strcmp(comm, "<...>") != 0 ? comm : "";
}

enum trace_clock tep_clock(const char *name)
{
	if (strcmp(name, "x86-tsc") == 0 || strcmp(name, "ppc-tb") == 0 ||
	    strcmp(name, "tsc") == 0)
		return TRACE_CLOCK_CYCLES;
	return strcmp(name, "counter") == 0 ? TRACE_CLOCK_COUNT : TRACE_CLOCK_NS;
}
