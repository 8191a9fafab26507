/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample - what all providers said at one moment: raw, keyed, monotonic values.
 *
 * A provider adds rows in any order, but a parent's before its children's, and no key twice; it
 * knows nothing of earlier samples. One that has nothing to say about a key leaves it out: an
 * absent row is not a zero.
 */
#ifndef KVMTOP_SAMPLE_H
#define KVMTOP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLE_SOURCES 8 /* providers at the most, live and recorded */

enum {
	/* The counter started at 0 after the previous sample: all of it happened since. */
	ROW_FROM_ZERO = 1 << 0,
};

struct key {
	uint32_t guest; /* struct guest's id; GUEST_ANY: the source does not tell guests apart */
	int32_t vcpu;	/* its index; -1: not told apart */
	uint32_t field;
};

struct row {
	struct key key;
	uint32_t flags;
	uint64_t count; /* monotonic for counters, the level for gauges and peaks */
};

struct sample {
	struct row *rows;
	size_t nr_rows, cap_rows;
	uint64_t time_ns[SAMPLE_SOURCES]; /* CLOCK_MONOTONIC beside the data; 0: source is not in */
};

/* Empties it and keeps its memory. */
void sample_reset(struct sample *sample);
/* 0 or -ENOMEM. */
int sample_add(struct sample *sample, struct key key, uint64_t count, uint32_t flags);
void sample_release(struct sample *sample);

#endif
