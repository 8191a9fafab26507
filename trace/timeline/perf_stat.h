/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_stat - what `perf stat -I MS -x SEP` (or -j) printed, as counters.
 *
 * Each value is of the interval that ends at its time, so it is drawn from the beginning of that
 * interval. perf has scaled it already if counters had to take turns.
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
	char name[192]; /* the event and where it was counted: "kvm:kvm_exit CPU0" */
	char value[32]; /* digits, perhaps with a point */
};

/*
 * Parses a line, which it changes. Returns 1; 0 if there is no value in it (a comment, an event
 * that was not counted); or -EINVAL if perf does not print such lines.
 */
int perf_line_parse(char *text, struct perf_line *ret_line);

/* "rdtsc N": the host's TSC when perf began, which the user may put into the first line. */
bool perf_anchor_parse(const char *text, uint64_t *ret_tsc);

/*
 * Draws all of a file. anchor_ns: when perf began, in the timeline, unless the file says it. 0, or
 * -errno with why, which names the first line that is wrong.
 */
int timeline_perf(FILE *in, const char *path, const struct timeline_clock *clock,
		  int64_t anchor_ns, struct timeline_out *out, struct why *why);

#endif
