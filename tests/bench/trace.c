// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace - how many events a second the readers of recordings yield.
 *
 * usage: build/tests/bench/trace FILE...
 */
#include <stdio.h>
#include <sys/resource.h>

#include "lib/clock.h"
#include "trace/recording/trace.h"

static int read_all(int nr, char **paths)
{
	const struct trace_event *event;
	uint64_t began = clock_now_ns(), nr_events = 0, sum = 0;
	struct trace *trace;
	struct rusage usage;
	struct error error = { "" };

	if (trace_open((const char *const *)paths, (size_t)nr, TRACE_ANY, NULL, &trace, &error) <
	    0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	while (trace_next(trace, &event) > 0) {
		nr_events++;
		sum += event->time + event->id;
	}
	trace_close(trace);
	began = clock_now_ns() - began;
	getrusage(RUSAGE_SELF, &usage);
	printf("%llu events, %.1f M/s, %ld KiB resident, sum %llx\n",
	       (unsigned long long)nr_events, (double)nr_events * 1e3 / (double)began,
	       usage.ru_maxrss, (unsigned long long)sum);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: trace FILE...\n");
		return 2;
	}
	return read_all(argc - 1, argv + 1);
}
