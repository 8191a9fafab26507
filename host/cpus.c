// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the kernel's CPU lists. Source: Documentation/admin-guide/cputopology.rst. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>

#include "lib/read.h"
#include "host/cpus.h"

/* Reads the CPU number at *text and moves *text behind the number; -1: there is no number. */
static long number(const char **text)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)**text))
		return -1;
	n = strtol(*text, &end, 10);
	*text = end;
	return n < CPUS_MAX ? n : -1;
}

int cpus_parse(const char *list, int (*add)(void *arg, int cpu), void *arg)
{
	int nr = 0;

	for (;; list++) {
		long first = number(&list), last = first;

		if (first < 0)
			return nr;
		if (*list == '-') {
			list++;
			last = number(&list);
		}
		for (long cpu = first; cpu <= last; cpu++, nr++) {
			int err = add(arg, (int)cpu);

			if (err < 0)
				return err;
		}
		if (*list != ',')
			return nr;
	}
}

static int read_list(const struct env *env, const char *name, int (*add)(void *arg, int cpu),
		     void *arg)
{
	char path[PATH_MAX], list[4096];
	long n = read_small(env_path(env, path, sizeof(path), "%s", name), list, sizeof(list));

	return n < 0 ? (int)n : cpus_parse(list, add, arg);
}

int cpus_online(const struct env *env, int (*add)(void *arg, int cpu), void *arg)
{
	return read_list(env, CPUS_ONLINE, add, arg);
}

static int take_end(void *arg, int cpu)
{
	int *end = arg;

	if (cpu >= *end)
		*end = cpu + 1;
	return 0;
}

int cpus_end(const struct env *env, const char *list)
{
	int end = 0, nr = read_list(env, list, take_end, &end);

	return nr < 0 ? nr : end;
}
