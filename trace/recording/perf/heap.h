/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap - the records of a perf.data that wait until no earlier one can come, the earliest first.
 */
#ifndef KVMTOP_TRACE_RECORDING_PERF_HEAP_H
#define KVMTOP_TRACE_RECORDING_PERF_HEAP_H

#include "trace/recording/perf/bytes.h"
#include "trace/recording/perf/sample.h"

struct perf_entry {
	uint64_t order; /* of two records of the same time, the one with the lower order is first */
	struct perf_sample sample;
	struct perf_block *block;
	int64_t lost; /* 0: a sample */
};

/* Zero-initialised is empty; the owner frees the list. */
struct perf_heap {
	struct perf_entry *list; /* list[0] is the earliest */
	size_t nr, room;
};

/* Holds the entry's block. */
void perf_heap_push(struct perf_heap *heap, const struct perf_entry *entry);

/* Takes the earliest out, of at least one. The caller drops its block. */
void perf_heap_pop(struct perf_heap *heap, struct perf_entry *ret_entry);

#endif
