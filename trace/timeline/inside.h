/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inside - what a guest's own kernel recorded, beside the host's recording.
 *
 * trace-cmd record -A makes a file for the guest with the host's times. The events are points on a
 * track for each of the guest's CPUs, in a process of their own. KVM's events in there are about
 * guests within the guest: they are not drawn here, but as those of a host (kvm.h).
 */
#ifndef KVMTOP_TRACE_TIMELINE_INSIDE_H
#define KVMTOP_TRACE_TIMELINE_INSIDE_H

#include "trace/timeline/clock.h"
#include "trace/timeline/out.h"
#include "trace/trace.h"

struct inside_file;

/* Begins with the trace, the clock and the output, which must outlive it, and zeroes. */
struct timeline_inside {
	const struct trace *trace;
	const struct timeline_clock *clock;
	struct timeline_out *out;
	struct inside_file *files; /* by their index in the stream */
	size_t nr_files;
};

void timeline_inside_release(struct timeline_inside *inside);

/* Takes any event of the stream: 0 or -ENOMEM. */
int timeline_inside_add(struct timeline_inside *inside, const struct trace_event *event);

#endif
