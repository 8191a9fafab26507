/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters_shared - the memory that the counting BPF programs share with bpf_engine.c.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_COUNTERS_SHARED_H
#define KVMTOP_PROVIDERS_TRACEPOINT_COUNTERS_SHARED_H

#include <linux/types.h>

#include "providers/bpf/placeholders.h"

#define COUNTERS_MAX 512 /* events and reasons together: 4 KiB for each slot */
#define COUNTERS_SPLITS 8  /* events that are split by reason */
#define COUNTERS_DENSE 0x1000 /* codes below this need no hash table */

/* A slot: the counts of one CPU or thread, in cache lines that no other writes. */
struct counter_values {
	__u64 values[COUNTERS_MAX];
};

struct counter_code {
	__u64 code;
	__u64 split;
};

/* Placeholders, see providers/bpf/placeholders.h. The last counter is never used. */
#define OFFSET_VALUE ((COUNTERS_MAX - 1) * 8) /* the offset of a counter */
#define NUMBER_SPLIT 0x7e7e01 /* the number of the split */
#define NUMBER_TYPE 0x7e7e02 /* struct split's type_of_field */

#endif
