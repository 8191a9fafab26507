// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chrome's trace format, which Perfetto and chrome://tracing read:
 *
 *	{"traceEvents":[{"ph":"X","name":"HLT","cat":"kvm","pid":1,"tid":7,"ts":1.234,...},...],
 *	 "displayTimeUnit":"ns","metadata":{...}}
 *
 * Times are microseconds with three decimals. Each event has a category: Chrome's importers stop at
 * one that has none. JSON by hand: a million events a second leave no time for objects.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "lib/xalloc.h"
#include "trace/timeline/out.h"

#define NUMBER_SIZE 24

struct chrome {
	FILE *file;
	bool has_events;
};

/* ---- values ---- */

static void put(const struct chrome *chrome, const char *text)
{
	fputs_unlocked(text, chrome->file);
}

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

static void put_number(const struct chrome *chrome, const char *name, int64_t number)
{
	char buf[NUMBER_SIZE];

	put(chrome, name);
	if (number < 0)
		putc_unlocked('-', chrome->file);
	put(chrome, digits(buf, number < 0 ? -(uint64_t)number : (uint64_t)number, 1));
}

static void put_hex(const struct chrome *chrome, uint64_t number)
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
	put(chrome, at);
}

/* Exactly three decimals: no ns is rounded away. */
static void put_time(const struct chrome *chrome, const char *name, int64_t ns)
{
	uint64_t number = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char buf[NUMBER_SIZE];

	put(chrome, name);
	if (ns < 0)
		putc_unlocked('-', chrome->file);
	put(chrome, digits(buf, number / 1000, 1));
	putc_unlocked('.', chrome->file);
	put(chrome, digits(buf, number % 1000, 3));
}

/* Nearly all of a text needs no escape. A byte that is not UTF-8 becomes a question mark. */
static void put_quoted(const struct chrome *chrome, const char *text, size_t len)
{
	putc_unlocked('"', chrome->file);
	for (size_t i = 0, n; i < len; i += n) {
		unsigned char c = (unsigned char)text[i];
		uint32_t code;

		for (n = i; n < len && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' &&
			    text[n] != '\\'; n++)
			;
		n -= i;
		if (!n && c >= 0x80)
			n = utf8_decode(text + i, len - i, &code);
		fwrite_unlocked(text + i, 1, n, chrome->file);
		if (n)
			continue;
		n = 1;
		if (c == '"' || c == '\\')
			fprintf(chrome->file, "\\%c", c);
		else if (c < 0x80)
			fprintf(chrome->file, "\\u%04x", c);
		else
			putc_unlocked('?', chrome->file);
	}
	putc_unlocked('"', chrome->file);
}

static void put_text(const struct chrome *chrome, const char *name, const char *text)
{
	put(chrome, name);
	put_quoted(chrome, text, strlen(text));
}

static void put_value(const struct chrome *chrome, const struct timeline_arg *arg)
{
	switch ((enum timeline_arg_kind)arg->kind) {
	case ARG_NUMBER:
		put_number(chrome, "", arg->number);
		return;
	case ARG_HEX:
		put_hex(chrome, (uint64_t)arg->number);
		return;
	case ARG_TEXT:
		put_quoted(chrome, arg->text, arg->len);
		return;
	case ARG_DECIMAL:
		put(chrome, arg->text);
		return;
	}
}

/* An object's members. */
static void put_members(const struct chrome *chrome, const struct timeline_args *args)
{
	const char *before = "";

	for (const struct timeline_arg *arg = args_first(args); arg; arg = args_after(args, arg)) {
		put_text(chrome, before, arg->name);
		putc_unlocked(':', chrome->file);
		put_value(chrome, arg);
		before = ",";
	}
}

/* ---- events ---- */

static void *chrome_begin(FILE *file)
{
	struct chrome *chrome = xcalloc(1, sizeof(*chrome));

	chrome->file = file;
	put(chrome, "{\"traceEvents\":[");
	return chrome;
}

static void open_event(struct chrome *chrome, const char *kind)
{
	put(chrome, chrome->has_events ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	put(chrome, kind);
	putc_unlocked('"', chrome->file);
	chrome->has_events = true;
}

static void put_event(struct chrome *chrome, const char *kind, const struct timeline_event *event)
{
	open_event(chrome, kind);
	put_text(chrome, ",\"name\":", event->name);
	put_text(chrome, ",\"cat\":", event->category);
	put_number(chrome, ",\"pid\":", event->process);
	put_number(chrome, ",\"tid\":", event->track);
	put_time(chrome, ",\"ts\":", event->ns);
}

static void close_event(const struct chrome *chrome, const struct timeline_args *args)
{
	if (args_first(args)) {
		put(chrome, ",\"args\":{");
		put_members(chrome, args);
		putc_unlocked('}', chrome->file);
	}
	putc_unlocked('}', chrome->file);
}

/* Binds to the slice that is open then. */
static void put_flow(struct chrome *chrome, const struct timeline_event *event)
{
	if (!event->flow)
		return;
	put_event(chrome, event->ends_flow ? "f" : "s", event);
	if (event->ends_flow)
		put(chrome, ",\"bp\":\"e\"");
	put_number(chrome, ",\"id\":", (int64_t)event->flow);
	putc_unlocked('}', chrome->file);
}

static void put_metadata(struct chrome *chrome, const char *what, int32_t process,
			 const int64_t *track)
{
	open_event(chrome, "M");
	put(chrome, ",\"cat\":\"__metadata\""); /* Chrome's own name; its importers want one */
	put_text(chrome, ",\"name\":", what);
	put_number(chrome, ",\"pid\":", process);
	if (track)
		put_number(chrome, ",\"tid\":", *track);
}

static void put_name(struct chrome *chrome, const char *what, int32_t process,
		     const int64_t *track, const char *name)
{
	put_metadata(chrome, what, process, track);
	put_text(chrome, ",\"args\":{\"name\":", name);
	put(chrome, "}}");
}

static void put_order(struct chrome *chrome, const char *what, int32_t process,
		      const int64_t *track, int64_t order)
{
	put_metadata(chrome, what, process, track);
	put_number(chrome, ",\"args\":{\"sort_index\":", order);
	put(chrome, "}}");
}

static void chrome_process(void *state, int32_t process, const char *name)
{
	put_name(state, "process_name", process, NULL, name);
	put_order(state, "process_sort_index", process, NULL, process);
}

static void chrome_track(void *state, int32_t process, int64_t track, const char *name,
			 int64_t order)
{
	put_name(state, "thread_name", process, &track, name);
	put_order(state, "thread_sort_index", process, &track, order);
}

static void chrome_slice(void *state, const struct timeline_event *event, int64_t end_ns,
			 const struct timeline_args *args)
{
	put_event(state, "X", event);
	put_time(state, ",\"dur\":", end_ns - event->ns);
	close_event(state, args);
	put_flow(state, event);
}

static void chrome_instant(void *state, const struct timeline_event *event,
			   const struct timeline_args *args)
{
	put_event(state, "i", event);
	put(state, ",\"s\":\"t\"");
	close_event(state, args);
	put_flow(state, event);
}

static void chrome_counter(void *state, const struct timeline_event *event, const char *value)
{
	put_event(state, "C", event);
	put(state, ",\"args\":{\"value\":");
	put(state, value);
	put(state, "}}");
}

static void chrome_end(void *state, const struct timeline_args *metadata)
{
	put(state, "\n],\n\"displayTimeUnit\":\"ns\",\"metadata\":{");
	put_members(state, metadata);
	put(state, "}}\n");
	free(state);
}

const struct timeline_format timeline_chrome = {
	.name = "chrome",
	.begin = chrome_begin,
	.process = chrome_process,
	.track = chrome_track,
	.slice = chrome_slice,
	.instant = chrome_instant,
	.counter = chrome_counter,
	.end = chrome_end,
};
