/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress - a bar on standard error that says how much of a recording was read, and other lines
 * that are there for a while.
 *
 * The bar is only on a terminal, and only where reading takes over a second.
 */
#ifndef KVMTOP_TRACE_PROGRESS_H
#define KVMTOP_TRACE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/trace.h"

struct progress {
	uint64_t began_ns, shown_ns; /* shown_ns 0: not yet */
};

void progress_begin(struct progress *progress);
/* Looks at the clock: to be called now and then. */
void progress_show(struct progress *progress, const struct trace *trace);
/* The same, without a trace: whether it is time for progress_draw(), which takes bytes. */
bool progress_is_due(const struct progress *progress);
void progress_draw(struct progress *progress, uint64_t done, uint64_t total); /* total 0: unknown */
void progress_end(const struct progress *progress); /* without a trace on the screen */

/*
 * A stream that shows how much of `in` was read through it, and leaves `in` open when it is closed.
 * NULL: no memory.
 */
FILE *progress_watch(FILE *in);

/* Standard error is a terminal: in place of the line there, as much of this text as fits. */
void progress_line(const char *text);

#endif
