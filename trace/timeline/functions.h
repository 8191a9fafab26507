/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions - function calls that uftrace saw, as slices.
 *
 * Reads what `uftrace dump --chrome` writes, one event after the other, so that files of any size
 * do: begins ("B") and ends ("E"), which become slices. An end without a begin belongs to a call
 * that was running when the trace began; a begin without an end, to one that was still running when
 * it ended. Both are drawn up to there, in the category "cut".
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
	struct timeline_clock *clock; /* without a base the first event gives it one */
	uint64_t after_ns;	      /* that is so much before that event */
	/* What to take off the time of the nr-th thread (from 0) to have the host's; or NULL. */
	int64_t (*offset)(const void *state, size_t nr, uint64_t time);
	const void *state;
	bool has_cut;
	int64_t cut_ns; /* nothing before it is drawn */
	const char *name; /* of the processes, for those that have none */
};

/* Returns 0, or -errno with why, which names the offset at which it makes no sense. */
int timeline_functions(FILE *in, const char *path, const struct functions_config *config,
		       struct timeline_out *out, struct why *why);

/* The time of an event as uftrace writes it: microseconds, here in thousandths of them. */
bool functions_time(const char *text, uint64_t *ret_time);

#endif
