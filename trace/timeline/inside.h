/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inside - what a guest's own kernel recorded, beside what its host did.
 *
 * trace-cmd record -A makes a file for the guest whose times are those of its host. Its events are
 * points on a track for each of the guest's CPUs, in a process of their own. What is KVM's in there
 * is of guests within the guest, and not drawn here (timeline_kvm).
 */
#ifndef KVMTOP_TRACE_TIMELINE_INSIDE_H
#define KVMTOP_TRACE_TIMELINE_INSIDE_H

#include "trace/timeline/clock.h"
#include "trace/timeline/out.h"
#include "trace/trace.h"

struct inside_file;

/* Begins as the trace, the clock, the output and zeroes; all of those must outlive it. */
struct timeline_inside {
	const struct trace *trace;
	const struct timeline_clock *clock;
	struct timeline_out *out;
	struct inside_file *files; /* by their index in the stream */
	size_t nr_files;
};

void timeline_inside_release(struct timeline_inside *inside);

/* An event of the stream, whosever it is: 0 or -ENOMEM. */
int timeline_inside_add(struct timeline_inside *inside, const struct trace_event *event);

#endif
