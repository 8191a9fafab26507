/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * out - the events of a timeline, one by one, on their way into a file of some format.
 *
 * Times are nanoseconds since the beginning, or before it if events wait. They may come in any
 * order: readers of the file sort them; of two that begin at once on a track, the first is the
 * outer one.
 */
#ifndef KVMTOP_TRACE_TIMELINE_OUT_H
#define KVMTOP_TRACE_TIMELINE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/recording/trace.h"

/* ---- from the words of time in recordings to nanoseconds since the beginning */

struct timeline_clock {
	bool has_base;
	uint64_t base; /* what is 0 in the timeline */
	uint64_t hz;   /* cycles in a second; 0: times are nanoseconds */
	bool has_no_tsc; /* the recording's times are of another clock than the TSC */
};

static inline void timeline_clock_begin(struct timeline_clock *clock, uint64_t time)
{
	clock->base = time;
	clock->has_base = true;
}

static inline int64_t timeline_clock_ns(const struct timeline_clock *clock, uint64_t time)
{
	int64_t since = (int64_t)(time - clock->base);

	if (!clock->hz)
		return since;
	return (int64_t)((__int128)since * 1000000000 / (int64_t)clock->hz);
}

/* ---- arguments */

enum timeline_arg_kind {
	ARG_NUMBER,
	ARG_HEX,     /* the number is an address or a set of bits */
	ARG_TEXT,
	ARG_DECIMAL, /* the text is a number: "2.5" */
};

struct timeline_arg {
	const char *name; /* stays where it is until the end of the output */
	int64_t number;
	uint32_t len; /* of text */
	uint8_t kind;
	char text[]; /* ends with a NUL */
};

/* The arguments of one event, one after the other. */
struct timeline_args {
	size_t used;
	_Alignas(struct timeline_arg) char data[2048];
};

/* How many bytes an argument with a text of this length takes. */
static inline size_t args_size(size_t len)
{
	const size_t align = _Alignof(struct timeline_arg);

	return (offsetof(struct timeline_arg, text) + len + 1 + align - 1) & ~(align - 1);
}

/* NULL: there is none. */
static inline const struct timeline_arg *args_first(const struct timeline_args *args)
{
	return args && args->used ? (const void *)args->data : NULL;
}

static inline const struct timeline_arg *args_after(const struct timeline_args *args,
						   const struct timeline_arg *arg)
{
	const char *next = (const char *)arg + args_size(arg->len);

	return next < args->data + args->used ? (const void *)next : NULL;
}

void args_clear(struct timeline_args *args);
/* An argument for which there is no room is left out. */
void args_add_number(struct timeline_args *args, const char *name, int64_t number);
void args_add_hex(struct timeline_args *args, const char *name, uint64_t number);
void args_add_text(struct timeline_args *args, const char *name, const char *text, size_t len);
void args_add_decimal(struct timeline_args *args, const char *name, const char *text);
/* All of them, if there is room for all. */
void args_join(struct timeline_args *args, const struct timeline_args *more);
/* In no more memory than they need, for free(); NULL: args is NULL, or there are none. */
struct timeline_args *args_copy(const struct timeline_args *args);

/*
 * Adds all numbers and texts of a recorded event, by the names of their fields: as numbers if a
 * reader with doubles keeps them exact, else as hex.
 */
void args_add_fields(struct timeline_args *args, const struct trace_event *event);

/* ---- events */

/* One bar, point or value on a track. args may be NULL. */
struct timeline_event {
	const char *name;
	const char *category; /* stays where it is until the end of the output */
	int32_t process;
	int64_t track;
	int64_t ns;
	/* Not 0: an arrow of this number begins here, or ends: at the begin of a slice. */
	uint64_t flow;
	bool ends_flow;
};

/* A writer. state is its own, from begin() to end(), which frees it. */
struct timeline_format {
	const char *name; /* as --format takes it */
	void *(*begin)(FILE *file);
	void (*process)(void *state, int32_t process, const char *name);
	void (*track)(void *state, int32_t process, int64_t track, const char *name,
		      int64_t order);
	void (*slice)(void *state, const struct timeline_event *event, int64_t end_ns,
		      const struct timeline_args *args);
	void (*instant)(void *state, const struct timeline_event *event,
			const struct timeline_args *args);
	void (*counter)(void *state, const struct timeline_event *event, const char *value);
	void (*end)(void *state, const struct timeline_args *metadata);
};

extern const struct timeline_format timeline_chrome, timeline_perfetto;

#define TIMELINE_FORMATS "chrome perfetto"

struct timeline_out {
	struct timeline_clock clock; /* the caller's: from the sources' times to the timeline's */
	FILE *file;
	const struct timeline_format *format;
	void *state; /* of the format's */
	struct kept_text *kept;
	FILE *waiting; /* events, until the earliest time is known; NULL: they do not wait */
	int64_t earliest_ns;
	uint64_t nr_events; /* names of processes and tracks are not counted */
	int32_t nr_processes; /* numbers given to processes so far */
};

/* out is zero-initialised before, except the clock. */
void out_begin(struct timeline_out *out, FILE *file, const struct timeline_format *format);

/*
 * Readers drop what is before 0. Where sources are read one after the other, each event waits in
 * this file, which is closed in the end, and out_settle() makes the earliest time of all the base.
 */
void out_wait(struct timeline_out *out, FILE *waiting);
/* A file cannot be written any more. */
bool out_has_failed(const struct timeline_out *out);
/* Before out_end(): 0, or -errno if the events could not be kept. */
int out_settle(struct timeline_out *out);

/* A copy of the text, which stays until the end of the output; equal texts are one. */
const char *out_keep(struct timeline_out *out, const char *text);

/* A new process of this name: its number. */
int32_t out_process(struct timeline_out *out, const char *name);
/* Names a track; tracks of a process are shown in ascending order. */
void out_track(struct timeline_out *out, int32_t process, int64_t track, const char *name,
	       int64_t order);

void out_slice(struct timeline_out *out, const struct timeline_event *event, int64_t end_ns,
	       const struct timeline_args *args);
void out_instant(struct timeline_out *out, const struct timeline_event *event,
		 const struct timeline_args *args);
/* value: a number as text. */
void out_counter(struct timeline_out *out, const struct timeline_event *event, const char *value);

/* metadata: what is said of the whole. */
void out_end(struct timeline_out *out, const struct timeline_args *metadata);

#endif
