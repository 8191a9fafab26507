/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample - the parts of a record of perf.data that the reader wants.
 *
 * Source: uapi/linux/perf_event.h.
 */
#ifndef KVMTOP_TRACE_PERF_SAMPLE_H
#define KVMTOP_TRACE_PERF_SAMPLE_H

#include "trace/perf/header.h"

struct perf_sample {
	uint64_t time;
	int32_t pid, tid, cpu;
	const uint8_t *raw; /* NULL: none */
	uint32_t raw_size;
};

/* The sample of `size` bytes at `at`, behind its record's header. False: it makes no sense. */
bool perf_sample_read(const struct perf_header *header, const uint8_t *at, size_t size,
		      struct perf_sample *ret_sample);

/* What stands at the end of any other record. */
void perf_sample_read_id(const struct perf_header *header, const uint8_t *at, size_t size,
			 struct perf_sample *ret_sample);

#endif
