/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_file - the file of a test of recordings: the test writes it, and the program reads it.
 */
#ifndef KVMTOP_TESTS_WORLDS_TRACE_FILE_H
#define KVMTOP_TESTS_WORLDS_TRACE_FILE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tests/worlds/trace_world_linux.h"

static char path[64];

static inline int set_up(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/kvmtop-trace.XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static inline int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static inline struct trace *open_it(void)
{
	const char *paths[] = { path };
	struct trace *trace = NULL;
	struct error error = { "" };

	if (trace_open(paths, 1, TRACE_ANY, NULL, &trace, &error) != 0)
		fail_msg("%s", error.text);
	return trace;
}

/* How many events there are up to the end, and how many problems. */
static inline size_t count_events(struct trace *trace, size_t *ret_problems)
{
	const struct trace_event *event;
	size_t nr = 0, problems = 0;

	while (trace_next(trace, &event) == 1)
		nr += event->type != NULL;
	while (trace_problem(trace, problems))
		problems++;
	*ret_problems = problems;
	return nr;
}

#endif
