// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON by hand: a million events a second leave no time for objects. */
#include <string.h>

#include "lib/text.h"
#include "trace/timeline/out.h"

#define NUMBER_SIZE 24

/* ---- text ---- */

/* Digits of a number at the end of buf, which has NUMBER_SIZE bytes; where they begin. */
static char *digits(char *buf, uint64_t number, int min)
{
	char *at = buf + (NUMBER_SIZE - 1);

	*at = '\0';
	while (number || min > 0) {
		*--at = (char)('0' + number % 10);
		number /= 10;
		min--;
	}
	return at;
}

/*
 * The next character of text as JSON has it within quotes, at most 6 bytes and a NUL. Returns how
 * many bytes of text it is. A byte that is not UTF-8 becomes a question mark.
 */
static size_t escape(const char *text, size_t len, char *buf)
{
	unsigned char c = (unsigned char)*text;
	uint32_t code;
	size_t n;

	if (c == '"' || c == '\\') {
		snprintf(buf, 7, "\\%c", c);
		return 1;
	}
	if (c < 0x20 || c == 0x7f) {
		snprintf(buf, 7, "\\u%04x", c);
		return 1;
	}
	n = utf8_decode(text, len, &code);
	snprintf(buf, 7, "%.*s", n ? (int)n : 1, n ? text : "?");
	return n ? n : 1;
}

/* How many bytes at text need no escape in JSON: nearly always all. */
static size_t plain_length(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

/* ---- arguments ---- */

void args_clear(struct timeline_args *args)
{
	args->len = 0;
	args->text[0] = '\0';
}

/* All of it or nothing. */
static bool append(struct timeline_args *args, const char *text, size_t len)
{
	if (len >= sizeof(args->text) - args->len)
		return false;
	memcpy(args->text + args->len, text, len);
	args->len += len;
	args->text[args->len] = '\0';
	return true;
}

static bool append_text(struct timeline_args *args, const char *text, size_t len)
{
	char escaped[8];
	bool fits = append(args, "\"", 1);

	for (size_t i = 0; fits && i < len;) {
		size_t plain = plain_length(text + i, len - i);

		fits = append(args, text + i, plain);
		i += plain;
		if (!fits || i == len)
			break;
		i += escape(text + i, len - i, escaped);
		fits = append(args, escaped, strlen(escaped));
	}
	return fits && append(args, "\"", 1);
}

static bool append_name(struct timeline_args *args, const char *name)
{
	return (!args->len || append(args, ",", 1)) && append_text(args, name, strlen(name)) &&
	       append(args, ":", 1);
}

static void finish(struct timeline_args *args, size_t before, bool fits)
{
	if (fits)
		return;
	args->len = before;
	args->text[before] = '\0';
}

void args_add_json(struct timeline_args *args, const char *name, const char *json)
{
	size_t before = args->len;

	finish(args, before, append_name(args, name) && append(args, json, strlen(json)));
}

void args_add_number(struct timeline_args *args, const char *name, int64_t number)
{
	char text[NUMBER_SIZE], *at;

	at = digits(text, number < 0 ? -(uint64_t)number : (uint64_t)number, 1);
	if (number < 0)
		*--at = '-';
	args_add_json(args, name, at);
}

void args_add_hex(struct timeline_args *args, const char *name, uint64_t number)
{
	char text[NUMBER_SIZE], *at = text + sizeof(text);

	*--at = '\0';
	*--at = '"';
	do
		*--at = "0123456789abcdef"[number % 16];
	while (number /= 16);
	*--at = 'x';
	*--at = '0';
	*--at = '"';
	args_add_json(args, name, at);
}

void args_add_text(struct timeline_args *args, const char *name, const char *text, size_t len)
{
	size_t before = args->len;

	finish(args, before, append_name(args, name) && append_text(args, text, len));
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

/* ---- events ---- */

static void put(struct timeline_out *out, const char *text)
{
	fputs_unlocked(text, out->file);
}

static void put_number(struct timeline_out *out, const char *name, int64_t number)
{
	char buf[NUMBER_SIZE];

	put(out, name);
	if (number < 0)
		putc_unlocked('-', out->file);
	put(out, digits(buf, number < 0 ? -(uint64_t)number : (uint64_t)number, 1));
}

/* Microseconds with exactly three decimals: no ns is rounded away. */
static void put_time(struct timeline_out *out, const char *name, int64_t ns)
{
	uint64_t number = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char buf[NUMBER_SIZE];

	put(out, name);
	if (ns < 0)
		putc_unlocked('-', out->file);
	put(out, digits(buf, number / 1000, 1));
	putc_unlocked('.', out->file);
	put(out, digits(buf, number % 1000, 3));
}

static void put_text(struct timeline_out *out, const char *name, const char *text)
{
	size_t len = strlen(text);
	char escaped[8];

	put(out, name);
	putc_unlocked('"', out->file);
	for (size_t i = 0; i < len;) {
		size_t plain = plain_length(text + i, len - i);

		fwrite_unlocked(text + i, 1, plain, out->file);
		i += plain;
		if (i == len)
			break;
		i += escape(text + i, len - i, escaped);
		put(out, escaped);
	}
	putc_unlocked('"', out->file);
}

static void put_args(struct timeline_out *out, const struct timeline_args *args)
{
	if (args && args->len) {
		put(out, ",\"args\":{");
		put(out, args->text);
		putc_unlocked('}', out->file);
	}
}

static void open_event(struct timeline_out *out, const char *kind)
{
	put(out, out->has_events ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	put(out, kind);
	putc_unlocked('"', out->file);
	out->has_events = true;
}

static void put_event(struct timeline_out *out, const char *kind,
		      const struct timeline_event *event)
{
	open_event(out, kind);
	out->nr_events++;
	put_text(out, ",\"name\":", event->name);
	if (event->category)
		put_text(out, ",\"cat\":", event->category);
	put_number(out, ",\"pid\":", event->process);
	put_number(out, ",\"tid\":", event->track);
	put_time(out, ",\"ts\":", event->ns);
}

void out_begin(struct timeline_out *out, FILE *file)
{
	*out = (struct timeline_out){ .file = file };
	put(out, "{\"traceEvents\":[");
}

static void put_metadata(struct timeline_out *out, const char *what, int32_t process,
			 const int64_t *track)
{
	open_event(out, "M");
	put(out, ",\"cat\":\"__metadata\""); /* Chrome's own name; its importers want one */
	put_text(out, ",\"name\":", what);
	put_number(out, ",\"pid\":", process);
	if (track)
		put_number(out, ",\"tid\":", *track);
}

int32_t out_process(struct timeline_out *out, const char *name)
{
	int32_t process = ++out->nr_processes;

	put_metadata(out, "process_name", process, NULL);
	put_text(out, ",\"args\":{\"name\":", name);
	put(out, "}}");
	put_metadata(out, "process_sort_index", process, NULL);
	put_number(out, ",\"args\":{\"sort_index\":", process);
	put(out, "}}");
	return process;
}

void out_track(struct timeline_out *out, int32_t process, int64_t track, const char *name,
	       int64_t order)
{
	put_metadata(out, "thread_name", process, &track);
	put_text(out, ",\"args\":{\"name\":", name);
	put(out, "}}");
	put_metadata(out, "thread_sort_index", process, &track);
	put_number(out, ",\"args\":{\"sort_index\":", order);
	put(out, "}}");
}

void out_slice(struct timeline_out *out, const struct timeline_event *event, int64_t end_ns,
	       const struct timeline_args *args)
{
	put_event(out, "X", event);
	put_time(out, ",\"dur\":", end_ns > event->ns ? end_ns - event->ns : 0);
	put_args(out, args);
	putc_unlocked('}', out->file);
}

void out_instant(struct timeline_out *out, const struct timeline_event *event,
		 const struct timeline_args *args)
{
	put_event(out, "i", event);
	put(out, ",\"s\":\"t\"");
	put_args(out, args);
	putc_unlocked('}', out->file);
}

void out_counter(struct timeline_out *out, const struct timeline_event *event, const char *value)
{
	put_event(out, "C", event);
	put(out, ",\"args\":{\"value\":");
	put(out, value);
	put(out, "}}");
}

void out_end(struct timeline_out *out, const struct timeline_args *metadata)
{
	put(out, "\n],\n\"displayTimeUnit\":\"ns\",\"metadata\":{");
	put(out, metadata->text);
	put(out, "}}\n");
}
