/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample - the fields of a perf.data record that the reader needs.
 *
 * Source: uapi/linux/perf_event.h.
 */
#ifndef KVMTOP_TRACE_RECORDING_PERF_SAMPLE_H
#define KVMTOP_TRACE_RECORDING_PERF_SAMPLE_H

#include "trace/recording/perf/header.h"

struct perf_sample {
	uint64_t time;
	int32_t pid, tid, cpu;
	uint32_t raw_size;
	const uint8_t *raw; /* NULL: none */
	/* How often each event of a group has happened so far, see group.h. NULL: no group. */
	const uint8_t *counts;
	uint32_t nr_counts;
	uint8_t count_size; /* bytes of each; fewer than 16: no ids */
	bool counts_by_thread; /* see struct perf_layout */
	bool is_of_several; /* stands for several events */
	uint64_t id; /* of the sample's own event; 0: the sample does not have it */
};

/* Parses a sample of `size` bytes at `at`, after the record's header. False: it is damaged. */
bool perf_sample_read(const struct perf_header *header, const uint8_t *at, size_t size,
		      struct perf_sample *ret_sample);

/* Parses the fields at the end of a record that is not a sample. */
void perf_sample_read_id(const struct perf_header *header, const uint8_t *at, size_t size,
			 struct perf_sample *ret_sample);

#endif
