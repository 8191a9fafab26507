/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repeats - finds events that two buffers of one trace.dat recorded.
 *
 * Both buffers have such an event with the same content, each with the time at which it was written
 * there. On a CPU these times differ by what it takes to write an event, or by an interrupt.
 */
#ifndef KVMTOP_TRACE_RECORDING_REPEATS_H
#define KVMTOP_TRACE_RECORDING_REPEATS_H

#include "trace/recording/event.h"

#define REPEATS_EVENTS 16 /* kept of a CPU */
#define REPEATS_UNITS 1000000 /* of the clock: repeats that are further apart are two events */
#define REPEATS_BUFFERS 64 /* in each file; events of further buffers are no repeats */

/* The last events of a CPU, in all buffers of a file. Zero-initialised is empty. */
struct repeats {
	struct {
		uint64_t time, hash; /* hash: of the content */
		uint64_t buffers;    /* a bit for each buffer that had the event */
	} events[REPEATS_EVENTS];
	unsigned int next; /* in events: the oldest, which the next event replaces */
};

/* Whether the event of this buffer is a repeat of another buffer's. Keeps it if not. */
bool repeats_has(struct repeats *repeats, unsigned int buffer, const struct trace_event *event);

#endif
