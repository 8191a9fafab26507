// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws the bar. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "trace/progress.h"

#define BAR_AFTER_NS UINT64_C(1000000000)
#define BAR_EVERY_NS UINT64_C(100000000)
#define BAR_WIDTH 40

void progress_begin(struct progress *progress)
{
	*progress = (struct progress){ .began_ns = clock_now_ns() };
}

void progress_show(struct progress *progress, const struct trace *trace)
{
	uint64_t now = clock_now_ns(), done, total;
	char line[BAR_WIDTH + 1];
	int width;

	if (now - progress->began_ns < BAR_AFTER_NS || now - progress->shown_ns < BAR_EVERY_NS ||
	    !isatty(STDERR_FILENO))
		return;
	trace_progress(trace, &done, &total);
	done = done < total ? done : total;
	width = total ? (int)((double)done / (double)total * BAR_WIDTH) : 0;
	memset(line, ' ', BAR_WIDTH);
	memset(line, '#', (size_t)width);
	line[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r[%s] %" PRIu64 " of %" PRIu64 " MiB", line, done >> 20, total >> 20);
	fflush(stderr);
	progress->shown_ns = now;
}

void progress_end(const struct progress *progress)
{
	if (progress->shown_ns)
		fputs("\r\033[K", stderr);
}
