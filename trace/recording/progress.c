// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws the bar and other lines. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/clock.h"
#include "trace/recording/trace.h"

#define BAR_AFTER_NS UINT64_C(1000000000)
#define BAR_EVERY_NS UINT64_C(100000000)
#define BAR_WIDTH 40

void progress_begin(struct progress *progress)
{
	*progress = (struct progress){ .began_ns = clock_now_ns() };
}

static bool is_due(const struct progress *progress)
{
	uint64_t now = clock_now_ns();

	return now - progress->began_ns >= BAR_AFTER_NS &&
	       now - progress->shown_ns >= BAR_EVERY_NS && isatty(STDERR_FILENO);
}

void progress_step(struct progress *progress, uint64_t done, uint64_t total)
{
	char bar[BAR_WIDTH + 1], line[BAR_WIDTH + 64];
	int width;

	if (!is_due(progress))
		return;
	done = total && done > total ? total : done;
	width = total ? (int)((double)done / (double)total * BAR_WIDTH) : 0;
	memset(bar, ' ', BAR_WIDTH);
	memset(bar, '#', (size_t)width);
	bar[BAR_WIDTH] = '\0';
	if (total)
		snprintf(line, sizeof(line), "[%s] %" PRIu64 " of %" PRIu64 " MiB", bar,
			 done >> 20, total >> 20);
	else
		snprintf(line, sizeof(line), "%" PRIu64 " MiB read", done >> 20);
	progress_line(line);
	progress->shown_ns = clock_now_ns();
}

void progress_show(struct progress *progress, const struct trace *trace)
{
	uint64_t done, total;

	if (!is_due(progress))
		return;
	trace_progress(trace, &done, &total);
	progress_step(progress, done, total);
}

void progress_end(const struct progress *progress)
{
	if (progress->shown_ns)
		fputs("\r\033[K", stderr);
}

void progress_line(const char *text)
{
	struct winsize size;
	int width = 79;

	/* The last column stays empty: some terminals begin a new line after it. */
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		width = size.ws_col - 1;
	fprintf(stderr, "\r%.*s\033[K", width, text);
	fflush(stderr);
}
