/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * out - writes Chrome's trace format, event by event; Perfetto and chrome://tracing read it.
 *
 *	{"traceEvents":[{"ph":"X","name":"HLT","cat":"kvm","pid":1,"tid":7,"ts":1.234,...},...],
 *	 "displayTimeUnit":"ns","metadata":{...}}
 *
 * Each event has a category: Chrome's importers stop at one that has none.
 *
 * Times are handed in as nanoseconds since the beginning and written as microseconds with three
 * decimals. Events may come in any order: readers of the file sort them.
 */
#ifndef KVMTOP_TRACE_TIMELINE_OUT_H
#define KVMTOP_TRACE_TIMELINE_OUT_H

#include <stdbool.h>
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

/* Makes this time the one that is after_ns after the beginning. */
static inline void timeline_clock_begin(struct timeline_clock *clock, uint64_t time,
					uint64_t after_ns)
{
	unsigned __int128 after = after_ns;

	/* The base may be before 0: only differences are used. */
	clock->base = time - (uint64_t)(clock->hz ? after * clock->hz / 1000000000 : after);
	clock->has_base = true;
}

static inline int64_t timeline_clock_ns(const struct timeline_clock *clock, uint64_t time)
{
	int64_t since = (int64_t)(time - clock->base);

	if (!clock->hz)
		return since;
	return (int64_t)((__int128)since * 1000000000 / (int64_t)clock->hz);
}

/* ---- events */

/* The arguments of one event as JSON, without the braces. */
struct timeline_args {
	char text[2048];
	size_t len;
};

void args_clear(struct timeline_args *args);
/* An argument for which there is no room is left out. */
void args_add_number(struct timeline_args *args, const char *name, int64_t number);
void args_add_hex(struct timeline_args *args, const char *name, uint64_t number);
void args_add_text(struct timeline_args *args, const char *name, const char *text, size_t len);
/* json: a value as it is to be written. */
void args_add_json(struct timeline_args *args, const char *name, const char *json);

/*
 * Adds all numbers and texts of a recorded event, by the names of their fields: as JSON numbers if
 * a reader keeps them exact, else as text. Of events that were only counted: how many.
 */
void args_add_fields(struct timeline_args *args, const struct trace_event *event);

struct timeline_out {
	FILE *file;
	bool has_events;
	uint64_t nr_events; /* names of processes and tracks are not counted */
	int32_t nr_processes; /* numbers given to processes so far */
};

/* One bar, point or value on a track. args may be NULL. */
struct timeline_event {
	const char *name, *category;
	int32_t process;
	int64_t track;
	int64_t ns;
};

void out_begin(struct timeline_out *out, FILE *file);

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

/* metadata: its members. */
void out_end(struct timeline_out *out, const struct timeline_args *metadata);

#endif
