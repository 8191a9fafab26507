/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inside - events recorded by a guest's own kernel, beside the host's events.
 *
 * trace-cmd record -A makes a file for the guest, with the host's times. Its events are drawn as
 * points on a track for each of the guest's CPUs, in a process of their own. KVM events in the file
 * belong to guests within the guest: kvm.h draws them like a host's.
 */
#ifndef KVMTOP_TRACE_TIMELINE_INSIDE_H
#define KVMTOP_TRACE_TIMELINE_INSIDE_H

#include "trace/timeline/clock.h"
#include "trace/timeline/out.h"
#include "trace/recording/trace.h"

struct inside_file;

/* The caller sets trace, clock and out, which must outlive this, and zeroes the rest. */
struct timeline_inside {
	const struct trace *trace;
	const struct timeline_clock *clock;
	struct timeline_out *out;
	struct inside_file *files; /* by their index in the stream */
	size_t nr_files;
};

void timeline_inside_release(struct timeline_inside *inside);

/* Takes any event of the stream. */
void timeline_inside_add(struct timeline_inside *inside, const struct trace_event *event);

#endif
