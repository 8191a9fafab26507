/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events - which trace events of KVM a kernel has: their fields, and what to count for each.
 *
 * The kernel is this machine's or a captured one's: the names are the same for both.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_EVENTS_H
#define KVMTOP_PROVIDERS_TRACEPOINT_EVENTS_H

#include "core/provider.h"
#include "providers/tracepoint/engine.h"

struct tracepoint_events {
	struct provider_args args;
	struct counter *counters;
	size_t nr, room;
	int unread_err; /* of the last event that is left out because its id cannot be read */
};

/* Adds all fields. 0, or -errno with why: no event was found. */
int tracepoint_events_find(struct tracepoint_events *events, const struct provider_args *args,
			   struct error *why);

/* Reads the events' ids again. */
void tracepoint_events_number(struct tracepoint_events *events);

void tracepoint_events_release(struct tracepoint_events *events);

#endif
