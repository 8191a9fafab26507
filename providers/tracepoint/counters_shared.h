/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters_shared - what the counting BPF programs and their reader both know.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_COUNTERS_SHARED_H
#define KVMTOP_PROVIDERS_TRACEPOINT_COUNTERS_SHARED_H

#include <linux/types.h>

#include "providers/bpf/placeholders.h"

#define COUNTERS_MAX 512   /* events and reasons together; 4 KiB for each place that counts */
#define COUNTERS_SPLITS 8  /* events that are split by reason */
#define COUNTERS_DENSE 0x1000 /* codes below this need no hash table */

/* What one CPU, or one thread, has counted: so many lines of its own, which no other writes. */
struct counter_values {
	__u64 values[COUNTERS_MAX];
};

struct counter_code {
	__u64 code;
	__u64 split;
};

#define OFFSET_VALUE ((COUNTERS_MAX - 1) * 8) /* of a counter: the last one is never used */
#define NUMBER_SPLIT 0x7e7e01  /* which split */
#define NUMBER_TYPE 0x7e7e02   /* struct split's type_of_field */

#endif
