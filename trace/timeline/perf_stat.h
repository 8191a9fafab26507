/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_stat - what `perf stat -I MS -x SEP` (or -j) printed, as counters.
 *
 * Each value is of the interval that ends at its time, so it is drawn from that interval's
 * beginning. perf has scaled it already where counters had to take turns.
 */
#ifndef KVMTOP_TRACE_TIMELINE_PERF_STAT_H
#define KVMTOP_TRACE_TIMELINE_PERF_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/why.h"
#include "trace/timeline/clock.h"
#include "trace/timeline/out.h"

struct perf_line {
	uint64_t ns; /* since perf began; the end of the interval */
	char name[192]; /* event, and of what: "kvm:kvm_exit CPU0" */
	char value[32]; /* digits, perhaps with a point */
};

/*
 * Reads a line (changes it). Returns 1, 0 for one that holds no value (comments, what was not
 * counted), or -EINVAL: no line of perf's.
 */
int perf_line_parse(char *text, struct perf_line *ret_line);

/* "rdtsc N", which the user may put into the first line: what the host's TSC was as perf began. */
bool perf_anchor_parse(const char *text, uint64_t *ret_tsc);

/*
 * Draws all of a file. anchor_ns: where on the timeline perf began, unless the file says so itself.
 * Returns 0, or -errno with why, which names the first line that is none.
 */
int timeline_perf(FILE *in, const char *path, const struct timeline_clock *clock,
		  int64_t anchor_ns, struct timeline_out *out, struct why *why);

#endif
