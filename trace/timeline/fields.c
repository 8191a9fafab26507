// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as JSON numbers if a reader keeps them exact, else as text. */
#include <string.h>

#include "trace/timeline/fields.h"

void timeline_fields_add(struct timeline_args *args, const struct trace_event *event)
{
	if (event->counted)
		args_add_number(args, "counted", (int64_t)event->counted);
	for (size_t i = 0; !event->counted && i < event->type->nr_fields; i++) {
		const struct trace_field *field = &event->type->fields[i];
		uint64_t number;
		const void *data;
		size_t size;

		if (strncmp(field->name, "common_", 7) == 0)
			continue;
		if (field->flags & TRACE_FIELD_STRING) {
			data = trace_field_data(field, event, &size);
			if (data)
				args_add_text(args, field->name, data, strnlen(data, size));
			continue;
		}
		if (field->flags & (TRACE_FIELD_ARRAY | TRACE_FIELD_DYNAMIC))
			continue;
		number = trace_field_number(field, event);
		/* Readers have doubles, and most fields of 8 bytes are addresses: as hex text. */
		if (field->size < 8 || field->flags & TRACE_FIELD_SIGNED ||
		    strcmp(field->name, "ns") == 0)
			args_add_number(args, field->name, (int64_t)number);
		else
			args_add_hex(args, field->name, number);
	}
}
