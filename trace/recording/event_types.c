// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a type of the stream from an event's format when the event first occurs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "trace/recording/event_types.h"

void event_types_init(struct event_types *types, struct trace_file *file)
{
	*types = (struct event_types){
		.file = file,
		.common_type = { "common_type", 0, 2, 0 },
		.common_pid = { "common_pid", 4, 4, 0 },
	};
}

void event_types_set_machine(struct event_types *types, bool is_big_endian)
{
	bool is_local_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	types->swap = is_big_endian != is_local_big ? TRACE_FIELD_SWAP : 0;
	types->common_type.flags = types->swap;
	types->common_pid.flags = types->swap;
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

static int keep(struct event_types *types, struct format *format, const char *system)
{
	struct event_type *slot;

	array_grow(&types->by_id, &types->nr, format->id + 1);
	slot = &types->by_id[format->id];
	if (slot->type || slot->format.name) {
		format_release(format);
		return 0;
	}
	slot->system = strdup(system);
	if (!slot->system)
		return -ENOMEM;
	for (size_t i = 0; i < format->nr_fields; i++)
		format->fields[i].flags |= types->swap;
	slot->format = *format;
	return 0;
}

int event_types_add(struct event_types *types, const char *text, size_t size,
		    const char *system)
{
	struct format format;
	int err = format_read(text, size, &format);

	if (err)
		return err;
	err = keep(types, &format, system);
	if (err)
		format_release(&format);
	return err;
}

static int add_type(struct event_types *types, struct event_type *slot, size_t id)
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
	if (!slot->type)
		return -ENOMEM;
	slot->vcpu = trace_field(slot->type, "vcpu_id");
	if (!slot->vcpu && trace_field(slot->type, "pswmask"))
		slot->vcpu = trace_field(slot->type, "id"); /* s390 */
	return 0;
}

/* NULL: no memory. */
static const struct event_type *type_of(struct event_types *types, size_t id)
{
	if (id < types->nr && types->by_id[id].type)
		return &types->by_id[id];
	array_grow(&types->by_id, &types->nr, id + 1);
	return add_type(types, &types->by_id[id], id) < 0 ? NULL : &types->by_id[id];
}

int event_types_set(struct event_types *types, struct trace_event *event, const void *data,
		    uint32_t size)
{
	const struct event_type *type;
	size_t id;

	event->data = data;
	event->size = size;
	id = trace_field_number(&types->common_type, event);
	type = type_of(types, id);
	if (!type)
		return -ENOMEM;
	event->id = id;
	event->type = type->type;
	event->tid = (int32_t)trace_field_number(&types->common_pid, event);
	event->thread_key = (uint64_t)types->file->index << 32 | (uint32_t)event->tid;
	event->vcpu = type->vcpu ? (int32_t)trace_field_number(type->vcpu, event) : -1;
	return 0;
}

int event_types_set_counted(struct event_types *types, struct trace_event *event, uint16_t id,
			    uint64_t counted)
{
	const struct event_type *type = type_of(types, id);

	if (!type)
		return -ENOMEM;
	event->data = ""; /* readers of fields add offsets to it */
	event->size = 0;
	event->id = id;
	event->type = type->type;
	event->vcpu = -1;
	event->counted = counted;
	return 0;
}

enum trace_clock trace_clock_by_name(const char *name)
{
	if (strcmp(name, "x86-tsc") == 0 || strcmp(name, "ppc-tb") == 0 ||
	    strcmp(name, "tsc") == 0 || strcmp(name, "tsc2nsec") == 0)
		return TRACE_CLOCK_CYCLES;
	return strcmp(name, "counter") == 0 ? TRACE_CLOCK_COUNT : TRACE_CLOCK_NS;
}
