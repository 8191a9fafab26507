/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions - function calls that uftrace saw, as slices.
 *
 * Reads what `uftrace dump --chrome` writes, event by event, so that a file may have any size:
 * begins ("B") and ends ("E"), which become slices. An end without a begin is of a call that was
 * running when the trace began; a begin without an end is of a call that was still running when the
 * trace ended. Both are drawn from or to there, in the category "cut".
 */
#ifndef KVMTOP_TRACE_TIMELINE_FUNCTIONS_H
#define KVMTOP_TRACE_TIMELINE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/why.h"
#include "trace/timeline/clock.h"
#include "trace/timeline/out.h"

/* Puts the trace on the host's clock, and cuts it. */
struct functions_config {
	struct timeline_clock *clock; /* without a base, the first event sets it */
	uint64_t after_ns;	      /* how long after the base that event is then */
	/* What to subtract from a time of the nr-th thread (from 0) for the host's; or NULL. */
	int64_t (*offset)(const void *state, size_t nr, uint64_t time);
	const void *state;
	bool has_cut;
	int64_t cut_ns; /* nothing before this is drawn */
	const char *name; /* for processes that have none */
};

/* 0, or -errno with why, which names the offset of what is wrong. */
int timeline_functions(FILE *in, const char *path, const struct functions_config *config,
		       struct timeline_out *out, struct why *why);

/* Nanoseconds from the time of an event as uftrace writes it, in microseconds with decimals. */
bool functions_time(const char *text, uint64_t *ret_time);

#endif
