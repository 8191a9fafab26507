/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracing_data - the formats of events as trace.dat (version 6) begins with them, and perf.data has
 * them as its tracing data.
 *
 * Magic, version and machine come first, then texts with their sizes. All functions read at the
 * cursor, which has the error if there is one.
 */
#ifndef KVMTOP_TRACE_RECORDING_TRACING_DATA_H
#define KVMTOP_TRACE_RECORDING_TRACING_DATA_H

#include "trace/recording/bytes.h"
#include "trace/recording/event_types.h"

#define TRACING_MAGIC "\027\010\104tracing"
#define TRACING_MAGIC_SIZE 10
#define TRACING_NAME_SIZE 256

struct tracing_machine {
	bool is_big_endian, is_32bit;
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

#endif
