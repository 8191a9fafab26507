// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the content of an event with the last events of its CPU. */
#include "trace/recording/repeats.h"

/* The kernel's flags, which an interrupt between the two buffers may change. */
#define FLAGS_BEGIN 2
#define FLAGS_END 4

static uint64_t hash_of(const struct trace_event *event)
{
	const uint8_t *data = event->data;
	uint64_t hash = event->size;

	for (uint32_t i = 0; i < event->size; i++) {
		if (i < FLAGS_BEGIN || i >= FLAGS_END)
			hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

bool repeats_has(struct repeats *repeats, unsigned int buffer, const struct trace_event *event)
{
	uint64_t bit, hash;

	if (buffer >= REPEATS_BUFFERS || !event->type)
		return false;
	bit = UINT64_C(1) << buffer;
	hash = hash_of(event);
	for (unsigned int i = 0; i < REPEATS_EVENTS; i++) {
		unsigned int at = (repeats->next + i) % REPEATS_EVENTS; /* the oldest first */

		if (!repeats->events[at].buffers || repeats->events[at].hash != hash ||
		    repeats->events[at].buffers & bit ||
		    event->time - repeats->events[at].time > REPEATS_UNITS)
			continue;
		repeats->events[at].buffers |= bit;
		return true;
	}
	repeats->events[repeats->next].time = event->time;
	repeats->events[repeats->next].hash = hash;
	repeats->events[repeats->next].buffers = bit;
	repeats->next = (repeats->next + 1) % REPEATS_EVENTS;
	return false;
}
