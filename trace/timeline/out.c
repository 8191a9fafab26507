// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments, and what all formats have in common. */
#include <errno.h>
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

static void add_arg(struct timeline_args *args, enum timeline_arg_kind kind, const char *name,
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
	add_arg(args, ARG_NUMBER, name, number, "", 0);
}

void args_add_hex(struct timeline_args *args, const char *name, uint64_t number)
{
	add_arg(args, ARG_HEX, name, (int64_t)number, "", 0);
}

void args_add_text(struct timeline_args *args, const char *name, const char *text, size_t len)
{
	add_arg(args, ARG_TEXT, name, 0, text, len);
}

void args_add_decimal(struct timeline_args *args, const char *name, const char *text)
{
	add_arg(args, ARG_DECIMAL, name, 0, text, strlen(text));
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
	for (size_t i = 0; i < event->type->nr_fields; i++) {
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

enum event_kind { EVENT_SLICE, EVENT_INSTANT, EVENT_COUNTER };

/* Arguments of this size follow; of a counter its value. */
struct waiting_event {
	enum event_kind kind;
	struct timeline_event event;
	int64_t end_ns;
	size_t size;
};

/* text: of a counter. */
static void write_event(struct timeline_out *out, const struct waiting_event *event,
			const struct timeline_args *args, const char *text)
{
	if (event->kind == EVENT_SLICE)
		out->format->slice(out->state, &event->event, event->end_ns, args);
	else if (event->kind == EVENT_INSTANT)
		out->format->instant(out->state, &event->event, args);
	else
		out->format->counter(out->state, &event->event, text);
}

static void add_event(struct timeline_out *out, enum event_kind kind,
		      const struct timeline_event *event, int64_t end_ns,
		      const struct timeline_args *args, const char *text)
{
	struct waiting_event waiting = { kind, *event, end_ns > event->ns ? end_ns : event->ns, 0 };

	out->nr_events++;
	if (!out->waiting) {
		write_event(out, &waiting, args, text);
		return;
	}
	if (event->ns < out->earliest_ns)
		out->earliest_ns = event->ns;
	waiting.event.name = out_keep(out, event->name);
	waiting.size = text ? strlen(text) + 1 : args ? args->used : 0;
	fwrite_unlocked(&waiting, sizeof(waiting), 1, out->waiting);
	if (waiting.size)
		fwrite_unlocked(text ? text : args->data, 1, waiting.size, out->waiting);
}

void out_slice(struct timeline_out *out, const struct timeline_event *event, int64_t end_ns,
	       const struct timeline_args *args)
{
	add_event(out, EVENT_SLICE, event, end_ns, args, NULL);
}

void out_instant(struct timeline_out *out, const struct timeline_event *event,
		 const struct timeline_args *args)
{
	add_event(out, EVENT_INSTANT, event, event->ns, args, NULL);
}

void out_counter(struct timeline_out *out, const struct timeline_event *event, const char *value)
{
	add_event(out, EVENT_COUNTER, event, event->ns, NULL, value);
}

void out_wait(struct timeline_out *out, FILE *waiting)
{
	out->waiting = waiting;
	out->earliest_ns = INT64_MAX;
}

bool out_has_failed(const struct timeline_out *out)
{
	return ferror(out->file) || (out->waiting && ferror(out->waiting));
}

static int64_t since(int64_t ns, int64_t base_ns)
{
	return __builtin_sub_overflow(ns, base_ns, &ns) ? INT64_MAX : ns;
}

int out_settle(struct timeline_out *out)
{
	int64_t base_ns = out->nr_events ? out->earliest_ns : 0;
	struct timeline_clock *clock = &out->clock;
	struct waiting_event event;
	struct timeline_args args;
	FILE *file = out->waiting;
	int err;

	if (!file)
		return 0;
	out->waiting = NULL;
	errno = EIO;
	err = fflush(file) || ferror(file) ? -errno : 0;
	rewind(file);
	while (!err && fread_unlocked(&event, sizeof(event), 1, file)) {
		if (event.size > sizeof(args.data) ||
		    fread_unlocked(args.data, 1, event.size, file) != event.size) {
			err = -EIO;
			break;
		}
		args.used = event.size;
		event.event.ns = since(event.event.ns, base_ns);
		event.end_ns = since(event.end_ns, base_ns);
		write_event(out, &event, &args, args.data);
	}
	if (!err && ferror(file))
		err = -EIO;
	fclose(file);
	clock->base += (uint64_t)(clock->hz ? (__int128)base_ns * clock->hz / 1000000000 : base_ns);
	return err;
}

void out_end(struct timeline_out *out, const struct timeline_args *metadata)
{
	out->format->end(out->state, metadata);
	hash_free(out->kept, free);
}
