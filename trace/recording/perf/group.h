/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group - the events of a group that have no samples (perf record -e '{a,b}:S').
 *
 * Each sample of the group's first event has how often each event of the group has happened so
 * far. A count is 0 in the beginning; its growth is what has happened since the sample before. An
 * id is of an event on one CPU, and of one thread or of all threads. Where threads inherit their
 * events, the count is of the id and the sample's thread.
 *
 * Sources: enum perf_event_read_format in uapi/linux/perf_event.h, deliver_sample_group() in
 * tools/perf/util/session.c.
 */
#ifndef KVMTOP_TRACE_RECORDING_PERF_GROUP_H
#define KVMTOP_TRACE_RECORDING_PERF_GROUP_H

#include "trace/recording/perf/sample.h"

#define PERF_COUNTS_MAX (1u << 20) /* counts that are remembered, for each id or id and thread */

/* The latest counts. Zero-initialised is empty. */
struct perf_counts {
	struct perf_count *hash;
};

void perf_counts_release(struct perf_counts *counts);

struct perf_counted {
	uint16_t tracepoint;
	bool is_of_thread; /* of the sample's thread; else of any threads of the CPU */
	uint64_t nr;
};

enum perf_group {
	PERF_GROUP_NONE, /* no tracepoint was counted */
	PERF_GROUP_COUNTS,
	PERF_GROUP_UNKNOWN, /* the header does not have the events of some counts */
	PERF_GROUP_DAMAGED,
};

/* What the counts of a sample are. */
enum perf_group perf_group_look(const struct perf_header *header, const struct perf_sample *sample);

/*
 * Takes counts out of the sample up to the next event that happened and has no sample. 1, 0: there
 * is no more, or -E2BIG: there are more counts than are remembered.
 */
int perf_group_take(struct perf_counts *counts, const struct perf_header *header,
		    struct perf_sample *sample, struct perf_counted *ret_counted);

#endif
