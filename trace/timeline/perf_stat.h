/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_stat - the output of `perf stat -I MS -x SEP` (or -j), as counters.
 *
 * A line's time is the end of an interval, so the value is drawn from the beginning of the
 * interval. perf has already scaled the values of multiplexed counters. Where an event was not
 * counted a bar says so, and the counter is 0: Chrome's have a value at every moment.
 */
#ifndef KVMTOP_TRACE_TIMELINE_PERF_STAT_H
#define KVMTOP_TRACE_TIMELINE_PERF_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/error.h"
#include "trace/timeline/out.h"

struct perf_line {
	uint64_t ns; /* since perf began; the end of the interval */
	char name[192]; /* the event and the counted CPU or thread: "kvm:kvm_exit CPU0" */
	char value[32]; /* digits, may have a point; "": not counted in this interval */
};

/*
 * Parses a line, and changes it. separator: the character that -x gave perf, the same in all lines
 * of a file; 0: not known yet, the first line with a time sets it. Returns 1; 0 if the line is not
 * of an event's interval (a comment, an event that is not supported, the summary); or -EINVAL if it
 * is not a line of perf stat.
 */
int perf_line_parse(char *text, char *separator, struct perf_line *ret_line);

/*
 * Draws a file. anchor_ns: the time in the timeline when perf began, if the file has no "rdtsc N".
 * 0, or -errno with error, which names the first wrong line.
 */
int timeline_perf(FILE *in, const char *path, const struct timeline_clock *clock,
		  int64_t anchor_ns, struct timeline_out *out, struct error *error);

#endif
