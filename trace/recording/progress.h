/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress - a progress bar on standard error while a recording is read, and other lines that are
 * shown for a while.
 *
 * The bar is only drawn on a terminal, and only if reading takes more than a second.
 */
#ifndef KVMTOP_TRACE_RECORDING_PROGRESS_H
#define KVMTOP_TRACE_RECORDING_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/recording/trace.h"

struct progress {
	uint64_t began_ns, shown_ns; /* shown_ns 0: not shown yet */
};

void progress_begin(struct progress *progress);
/* Draws the bar if it is time to; to be called often. */
void progress_show(struct progress *progress, const struct trace *trace);
void progress_end(const struct progress *progress); /* erases the bar */

/* A stream that reads from `in` and draws the bar. Closing the stream leaves `in` open. */
FILE *progress_watch(FILE *in);

/* On a terminal: replaces the line on standard error by this text, cut to the width. */
void progress_line(const char *text);

#endif
