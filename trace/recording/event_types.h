/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_types - the formats of a file's events as types of the stream, and its threads' names.
 *
 * No format reaches libtraceevent: 1.7 crashes where one byte of a declaration is damaged.
 */
#ifndef KVMTOP_TRACE_RECORDING_EVENT_TYPES_H
#define KVMTOP_TRACE_RECORDING_EVENT_TYPES_H

#include "arch/event_format.h"
#include "trace/recording/reader.h"

/* The names of threads, by their tids. Zero-initialised is empty. */
struct comms {
	struct comm *hash, *ended; /* ended: in the order in which they ended */
	size_t nr; /* in both */
};

void comms_release(struct comms *comms);

/* A thread's latest name, which ends with a NUL or after `size` bytes. */
void comms_set(struct comms *comms, int32_t tid, const char *name, size_t size);

/* The thread has ended: its name is kept until another thread needs the room. */
void comms_end(struct comms *comms, int32_t tid);

/* Lines of a tid and a name, as in tracefs' saved_cmdlines; other lines are skipped. */
void comms_read(struct comms *comms, const char *text);

/* "" where the name is not known. */
const char *comms_get(const struct comms *comms, int32_t tid);

/* An event by its number. */
struct event_type {
	const struct trace_type *type; /* NULL: no such event occurred yet */
	const struct trace_field *vcpu; /* NULL: it has none */
	struct format format; /* without a name: not known */
	char *system;
};

struct event_types {
	struct trace_file *file;
	struct event_type *by_id;
	size_t nr;
	struct comms comms;
	unsigned int swap; /* TRACE_FIELD_SWAP, or 0: numbers are in this machine's byte order */
	bool has_damaged; /* formats: this is a problem of the file */
	uint64_t symbols_at; /* where the kernel's list of symbols is; 0: nowhere */
};

/* The types become the file's. */
void event_types_init(struct event_types *types, struct trace_file *file);
void event_types_release(struct event_types *types); /* takes zeroes, too */

/*
 * Sets what an event's bytes say: type, id, tid, vcpu and thread_key. An event of no known format
 * gets the type "unknown".
 */
void event_types_set(struct event_types *types, struct trace_event *event, const void *data,
		     uint32_t size);

/* What a clock's name ("local", "x86-tsc" ...) says about its unit. */
enum trace_clock trace_clock_by_name(const char *name);

/*
 * ---- the formats as trace.dat (version 6) begins with them, and perf.data has them as its tracing
 * data: magic, version and machine come first, then texts with their sizes. All functions read at
 * the cursor, which has the error if there is one.
 */

#define TRACING_MAGIC "\027\010\104tracing"
#define TRACING_MAGIC_SIZE 10
#define TRACING_NAME_SIZE 256
#define TRACING_SYMBOLS_MAX (1 << 26) /* bytes of the list of symbols */

struct tracing_machine {
	bool is_32bit;
	uint32_t page_size;
};

/* What follows magic and version; the cursor and the types get the byte order. */
struct tracing_machine tracing_read_machine(struct cursor *cursor, struct event_types *types);

/* What follows the machine, up to the names of threads, which only some versions have. */
void tracing_read_formats(struct cursor *cursor, struct event_types *types, bool has_comms);

/* Parts of these, which trace.dat 7 has in sections of their own. */
void tracing_read_events(struct cursor *cursor, struct event_types *types, const char *system);
void tracing_read_systems(struct cursor *cursor, struct event_types *types);
void tracing_read_comms(struct cursor *cursor, struct event_types *types);

/* The list of symbols, with its size before it: see read_symbols of struct trace_reader. */
char *tracing_read_symbols(struct cursor *cursor, size_t *ret_size);

#endif
