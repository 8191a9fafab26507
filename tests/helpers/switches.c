/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switches - two threads on one CPU that give it to each other, for tests/bench/switch.
 *
 * usage: switches NR
 *
 * Prints "ns" and the time of NR switches: in proportion, of as many as there were.
 * Exit status: 0; 1 failure.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static long nr_yields;

static void *yield(void *arg)
{
	for (long i = 0; i < nr_yields; i++)
		sched_yield();
	return arg;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t count_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

int main(int argc, char **argv)
{
	uint64_t ns, nr, wanted;
	pthread_t thread;
	cpu_set_t set;

	if (argc != 2) {
		fprintf(stderr, "usage: switches NR\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	wanted = strtoul(argv[1], NULL, 10);
	nr_yields = (long)wanted / 2;
	nr = count_switches();
	ns = now_ns();
	if (pthread_create(&thread, NULL, yield, NULL))
		return 1;
	yield(NULL);
	pthread_join(thread, NULL);
	ns = now_ns() - ns;
	nr = count_switches() - nr;
	printf("ns %.0f\n", nr ? (double)ns * (double)wanted / (double)nr : 0);
	return 0;
}
