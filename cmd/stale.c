// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks for instances of processes that have ended. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/file.h"
#include "cmd/stale.h"
#include "trace/tracer/ring.h"

#define PROGRAM "kvmtop"

/* The pid in the name of an instance; 0: it is none of ours. */
static pid_t pid_of(const char *name)
{
	const char *number = strncmp(name, RING_NAME_PREFIX, strlen(RING_NAME_PREFIX)) == 0 ?
				     name + strlen(RING_NAME_PREFIX) : "";
	size_t len = strspn(number, "0123456789");

	return len && len < 10 && !number[len] ? (pid_t)atoi(number) : 0;
}

/* The pid may be another program's by now. */
static bool has_ended(pid_t pid)
{
	char path[64], name[32];

	if (kill(pid, 0) < 0 && errno == ESRCH)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	return read_small(path, name, sizeof(name)) > 0 &&
	       strncmp(name, PROGRAM, strlen(PROGRAM)) != 0;
}

/* The kernel keeps an instance that is in use, as one of a process in another pid namespace is. */
static void end_all(DIR *instances)
{
	struct dirent *entry;

	while ((entry = readdir(instances))) {
		pid_t pid = pid_of(entry->d_name);

		if (pid && has_ended(pid) &&
		    unlinkat(dirfd(instances), entry->d_name, AT_REMOVEDIR) == 0)
			fprintf(stderr, "kvmtop: the recording of process %d, which was killed, "
				"went on in tracefs: it is ended\n", (int)pid);
	}
}

void stale_end(void)
{
	static const char *const paths[] = { "/sys/kernel/tracing/instances",
					     "/sys/kernel/debug/tracing/instances" };
	DIR *instances = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(paths) && !instances; i++)
		instances = opendir(paths[i]);
	if (!instances)
		return;
	end_all(instances);
	closedir(instances);
}
