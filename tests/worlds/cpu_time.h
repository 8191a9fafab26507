/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_time - how the time that something takes grows: whatever else the machine does, and whatever
 * checks the build has.
 */
#ifndef KVMTOP_TESTS_WORLDS_CPU_TIME_H
#define KVMTOP_TESTS_WORLDS_CPU_TIME_H

#include <time.h>

/* The least CPU time of three runs, in seconds. */
static inline double least_cpu_s(void (*run)(void *arg), void *arg)
{
	double least = 0;

	for (int i = 0; i < 3; i++) {
		struct timespec begin, end;
		double s;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		run(arg);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
		s = (double)(end.tv_sec - begin.tv_sec) +
		    (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
		least = !i || s < least ? s : least;
	}
	return least;
}

#endif
