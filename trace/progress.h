/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress - a bar on standard error that says how much of a recording was read.
 *
 * Only on a terminal, and only where reading takes over a second.
 */
#ifndef KVMTOP_TRACE_PROGRESS_H
#define KVMTOP_TRACE_PROGRESS_H

#include <stdint.h>

#include "trace/trace.h"

struct progress {
	uint64_t began_ns, shown_ns; /* shown_ns 0: not yet */
};

void progress_begin(struct progress *progress);
/* Looks at the clock: to be called now and then. */
void progress_show(struct progress *progress, const struct trace *trace);
void progress_end(const struct progress *progress); /* without a trace on the screen */

#endif
