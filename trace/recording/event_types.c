// SPDX-License-Identifier: GPL-2.0-or-later
/* Fields of events, types made from formats, names of threads, and reading them from files. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "trace/recording/event_types.h"

#define NAME_SIZE 32
#define COMMS_MAX 65536

struct comm {
	int32_t tid;
	char name[NAME_SIZE];
	UT_hash_handle hh;
};

/* ---- fields */

const struct trace_field *trace_field(const struct trace_type *type, const char *name)
{
	for (size_t i = 0; i < type->nr_fields; i++) {
		if (strcmp(type->fields[i].name, name) == 0)
			return &type->fields[i];
	}
	return NULL;
}

const void *trace_field_data(const struct trace_field *field, const struct trace_event *event,
			     size_t *ret_size)
{
	struct trace_field pos = { NULL, field->offset, 4, field->flags & TRACE_FIELD_SWAP };
	uint64_t offset = field->offset, size = field->size;

	if (field->flags & TRACE_FIELD_DYNAMIC) {
		if (event->size < 4 || offset > event->size - 4)
			return NULL;

		uint64_t where = trace_field_number(&pos, event);

		offset = where & 0xffff;
		size = where >> 16;
	}
	if (offset > event->size || size > event->size - offset)
		return NULL;
	*ret_size = size;
	return (const uint8_t *)event->data + offset;
}

/* ---- names of threads */

void comms_release(struct comms *comms)
{
	hash_free(comms->hash, free);
	hash_free(comms->ended, free);
	comms->nr = 0;
}

static struct comm *find_comm(struct comm *hash, int32_t tid)
{
	struct comm *comm;

	HASH_FIND_INT(hash, &tid, comm);
	return comm;
}

/* A name of a thread that lives; NULL: there is no room. */
static struct comm *add_comm(struct comms *comms, int32_t tid)
{
	struct comm *comm = find_comm(comms->ended, tid);

	if (!comm && comms->nr == COMMS_MAX)
		comm = comms->ended; /* the thread that ended first */
	if (!comm && comms->nr == COMMS_MAX)
		return NULL;
	if (comm) {
		HASH_DEL(comms->ended, comm);
	} else {
		comm = xcalloc(1, sizeof(*comm));
		comms->nr++;
	}
	comm->tid = tid;
	hash_add(comms->hash, tid, comm);
	return comm;
}

void comms_set(struct comms *comms, int32_t tid, const char *name, size_t size)
{
	struct comm *comm = find_comm(comms->hash, tid);

	if (!comm)
		comm = add_comm(comms, tid);
	if (comm && !utf8_clean(name, strnlen(name, size), comm->name, NAME_SIZE))
		comm->name[0] = '\0';
}

void comms_read(struct comms *comms, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *name;
		long tid = strtol(text, &name, 10);

		/* The kernel writes "<...>" for a name that it has forgotten. */
		if (name > text && name < text + len && *name == ' ' && tid >= 0 &&
		    tid <= INT32_MAX && strncmp(name, " <...>", 6) != 0)
			comms_set(comms, (int32_t)tid, name + 1,
				  (size_t)(text + len - name - 1));
		text += len + (text[len] == '\n');
	}
}

void comms_end(struct comms *comms, int32_t tid)
{
	struct comm *comm = find_comm(comms->hash, tid);

	if (!comm)
		return;
	HASH_DEL(comms->hash, comm);
	hash_add(comms->ended, tid, comm);
}

const char *comms_get(const struct comms *comms, int32_t tid)
{
	const struct comm *comm = find_comm(comms->hash, tid);

	if (!comm)
		comm = find_comm(comms->ended, tid);
	if (comm)
		return comm->name;
	return tid == 0 ? "<idle>" : "";
}

/* ---- types */

void event_types_init(struct event_types *types, struct trace_file *file)
{
	*types = (struct event_types){ .file = file };
	file->types = types;
}

void event_types_release(struct event_types *types)
{
	for (size_t i = 0; i < types->nr; i++) {
		format_release(&types->by_id[i].format);
		free(types->by_id[i].system);
	}
	free(types->by_id);
	comms_release(&types->comms);
}

/*
 * Reads the text of a format file and keeps it. The first format of a number counts. False: the
 * format is damaged.
 */
static bool add_format(struct event_types *types, const char *text, size_t size, const char *system)
{
	struct event_type *slot;
	struct format format;

	if (format_read(text, size, &format) < 0)
		return false;
	array_grow(&types->by_id, &types->nr, format.id + 1);
	slot = &types->by_id[format.id];
	if (slot->type || slot->format.name) {
		format_release(&format);
		return true;
	}
	for (size_t i = 0; i < format.nr_fields; i++)
		format.fields[i].flags |= types->swap;
	slot->system = xstrdup(system);
	slot->format = format;
	return true;
}

static void add_type(struct event_types *types, struct event_type *slot, size_t id)
{
	const struct format *format = &slot->format;
	struct trace_type type = {
		.file = types->file->index,
		.id = id,
		.system = format->name ? slot->system : "",
		.name = format->name ? format->name : "unknown",
		.fields = format->fields,
		.nr_fields = format->nr_fields,
		.format = format->print,
	};

	slot->type = trace_add_type(types->file->trace, &type);
	slot->vcpu = trace_field(slot->type, "vcpu_id");
	if (!slot->vcpu && trace_field(slot->type, "pswmask"))
		slot->vcpu = trace_field(slot->type, "id"); /* s390 */
}

static const struct event_type *type_of(struct event_types *types, size_t id)
{
	if (id < types->nr && types->by_id[id].type)
		return &types->by_id[id];
	array_grow(&types->by_id, &types->nr, id + 1);
	add_type(types, &types->by_id[id], id);
	return &types->by_id[id];
}

/* Each record begins with the event's number (16 bits), flags, and the thread. */
#define COMMON_TID 4
#define COMMON_SIZE 8

void event_types_set(struct event_types *types, struct trace_event *event, const void *data,
		     uint32_t size)
{
	const struct event_type *type;
	bool is_whole = size >= COMMON_SIZE;

	event->data = data;
	event->size = size;
	event->id = is_whole ? bytes_u16(data, types->swap) : 0;
	type = type_of(types, event->id);
	event->type = type->type;
	event->tid = is_whole ? (int32_t)bytes_u32((const uint8_t *)data + COMMON_TID, types->swap)
			      : 0;
	event->thread_key = (uint64_t)types->file->index << 32 | (uint32_t)event->tid;
	event->vcpu = type->vcpu ? (int32_t)trace_field_number(type->vcpu, event) : -1;
}

enum trace_clock trace_clock_by_name(const char *name)
{
	if (strcmp(name, "x86-tsc") == 0 || strcmp(name, "ppc-tb") == 0 ||
	    strcmp(name, "tsc") == 0 || strcmp(name, "tsc2nsec") == 0)
		return TRACE_CLOCK_CYCLES;
	return strcmp(name, "counter") == 0 ? TRACE_CLOCK_COUNT : TRACE_CLOCK_NS;
}

/* ---- tracing data */

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
		char *text = cursor_text(cursor, size, CURSOR_TEXT_MAX);

		if (text && !add_format(types, text, size, system))
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
	text = cursor_text(cursor, size, CURSOR_TEXT_MAX);
	if (text)
		comms_read(&types->comms, text);
	free(text);
}

char *tracing_read_symbols(struct cursor *cursor, size_t *ret_size)
{
	uint32_t size = cursor_u32(cursor);
	char *text = size ? cursor_text(cursor, size, TRACING_SYMBOLS_MAX) : NULL;

	if (text)
		*ret_size = size;
	return text;
}

struct tracing_machine tracing_read_machine(struct cursor *cursor, struct event_types *types)
{
	struct tracing_machine machine;
	uint8_t bytes[2];

	cursor_get(cursor, bytes, sizeof(bytes));
	cursor_check(cursor, bytes[0] <= 1 && (bytes[1] == 4 || bytes[1] == 8));
	cursor->swap = bytes[0] != IS_BIG_HERE;
	types->swap = cursor->swap ? TRACE_FIELD_SWAP : 0;
	machine.is_32bit = bytes[1] == 4;
	machine.page_size = cursor_u32(cursor);
	return machine;
}

void tracing_read_formats(struct cursor *cursor, struct event_types *types, bool has_comms)
{
	skip_text(cursor, "header_page");
	skip_text(cursor, "header_event");
	tracing_read_events(cursor, types, "ftrace");
	tracing_read_systems(cursor, types);
	types->symbols_at = cursor->at;
	cursor_skip(cursor, cursor_u32(cursor)); /* kallsyms */
	cursor_skip(cursor, cursor_u32(cursor)); /* printk */
	if (has_comms)
		tracing_read_comms(cursor, types);
}
