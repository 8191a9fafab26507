/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters_shared - the memory that the counting BPF programs share with bpf_engine.c.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_COUNTERS_SHARED_H
#define KVMTOP_PROVIDERS_TRACEPOINT_COUNTERS_SHARED_H

#include <linux/types.h>

#define COUNTERS_MAX 512 /* events and reasons together: 4 KiB for each slot */
#define COUNTERS_CHUNK 256 /* slots of threads that are added at once */
#define COUNTERS_CHUNKS 64 /* of which the first ones are one map */
#define COUNTERS_SPLITS 5  /* events that are split by reason */
#define COUNTERS_DENSE 0x1000 /* codes below this need no hash table */

/* A slot: the counts of one CPU or thread, in cache lines that no other writes. */
struct counter_values {
	__u64 values[COUNTERS_MAX];
};

struct counter_code {
	__u64 code;
	__u64 split;
};

#endif
