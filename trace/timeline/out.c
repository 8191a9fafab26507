// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments, and what all formats have in common. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "trace/timeline/out.h"

/* ---- arguments ---- */

void args_clear(struct timeline_args *args)
{
	args->used = 0;
}

static void add(struct timeline_args *args, enum timeline_arg_kind kind, const char *name,
		int64_t number, const char *text, size_t len)
{
	struct timeline_arg *arg = (void *)(args->data + args->used);

	if (len > sizeof(args->data) || args_size(len) > sizeof(args->data) - args->used)
		return;
	arg->name = name;
	arg->number = number;
	arg->len = (uint32_t)len;
	arg->kind = (uint8_t)kind;
	memcpy(arg->text, text, len);
	arg->text[len] = '\0';
	args->used += args_size(len);
}

void args_add_number(struct timeline_args *args, const char *name, int64_t number)
{
	add(args, ARG_NUMBER, name, number, "", 0);
}

void args_add_hex(struct timeline_args *args, const char *name, uint64_t number)
{
	add(args, ARG_HEX, name, (int64_t)number, "", 0);
}

void args_add_text(struct timeline_args *args, const char *name, const char *text, size_t len)
{
	add(args, ARG_TEXT, name, 0, text, len);
}

void args_add_decimal(struct timeline_args *args, const char *name, const char *text)
{
	add(args, ARG_DECIMAL, name, 0, text, strlen(text));
}

void args_join(struct timeline_args *args, const struct timeline_args *more)
{
	if (more->used > sizeof(args->data) - args->used)
		return;
	memcpy(args->data + args->used, more->data, more->used);
	args->used += more->used;
}

struct timeline_args *args_copy(const struct timeline_args *args)
{
	size_t size = offsetof(struct timeline_args, data) + (args ? args->used : 0);

	return args && args->used ? memcpy(xmalloc(size), args, size) : NULL;
}

void args_add_fields(struct timeline_args *args, const struct trace_event *event)
{
	if (event->counted)
		args_add_number(args, "counted", (int64_t)event->counted);
	for (size_t i = 0; !event->counted && i < event->type->nr_fields; i++) {
		const struct trace_field *field = &event->type->fields[i];
		uint64_t number;
		const void *data;
		size_t size;

		if (field->flags & TRACE_FIELD_COMMON)
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

/* ---- formats ---- */

const struct timeline_format *timeline_format_by_name(const char *name)
{
	static const struct timeline_format *const formats[] = { &timeline_chrome,
								 &timeline_perfetto };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	}
	return NULL;
}

/* ---- texts ---- */

struct kept_text {
	UT_hash_handle hh;
	char text[];
};

const char *out_keep(struct timeline_out *out, const char *text)
{
	size_t len = strlen(text);
	struct kept_text *kept;

	HASH_FIND(hh, out->kept, text, len, kept);
	if (!kept) {
		kept = xcalloc(1, sizeof(*kept) + len + 1);
		memcpy(kept->text, text, len);
		HASH_ADD(hh, out->kept, text, len, kept);
	}
	return kept->text;
}

/* ---- events ---- */

void out_begin(struct timeline_out *out, FILE *file, const struct timeline_format *format)
{
	out->file = file;
	out->format = format;
	out->state = format->begin(file);
}

int32_t out_process(struct timeline_out *out, const char *name)
{
	int32_t process = ++out->nr_processes;

	out->format->process(out->state, process, name);
	return process;
}

void out_track(struct timeline_out *out, int32_t process, int64_t track, const char *name,
	       int64_t order)
{
	out->format->track(out->state, process, track, name, order);
}

void out_slice(struct timeline_out *out, const struct timeline_event *event, int64_t end_ns,
	       const struct timeline_args *args)
{
	out->nr_events++;
	out->format->slice(out->state, event, end_ns > event->ns ? end_ns : event->ns, args);
}

void out_instant(struct timeline_out *out, const struct timeline_event *event,
		 const struct timeline_args *args)
{
	out->nr_events++;
	out->format->instant(out->state, event, args);
}

void out_counter(struct timeline_out *out, const struct timeline_event *event, const char *value)
{
	out->nr_events++;
	out->format->counter(out->state, event, value);
}

void out_end(struct timeline_out *out, const struct timeline_args *metadata)
{
	out->format->end(out->state, metadata);
	hash_free(out->kept, free);
}
