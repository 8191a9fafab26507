// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds fields by name, and the bytes of dynamic fields. */
#include "trace/recording/event.h"

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
