/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure - CPU time, medians, and the end of a benchmark that cannot go on.
 */
#ifndef KVMTOP_BENCH_MEASURE_H
#define KVMTOP_BENCH_MEASURE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"

/* Of all threads of this process, in ms: a busy machine does not count as cost. */
static inline double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static inline int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts the values. */
static inline double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare_doubles);
	return values[nr / 2];
}

/* Ends the program after an error; error may be NULL. */
static inline void check(int err, const struct error *error)
{
	if (!err)
		return;
	fprintf(stderr, "bench: %s\n", error && error->text[0] ? error->text : strerror(-err));
	exit(1);
}

static inline void *must(void *memory)
{
	check(memory ? 0 : -ENOMEM, NULL);
	return memory;
}

#endif
