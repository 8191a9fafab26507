// SPDX-License-Identifier: GPL-2.0-or-later
/* Leaves the closing of events to a child. */
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "cmd/leave.h"

static bool is_perf_event(DIR *fds, const char *name)
{
	char target[64];
	ssize_t n = readlinkat(dirfd(fds), name, target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	return strstr(target, "perf_event") != NULL;
}

/* Whether events are open. closes_others: closes all other descriptors. */
static bool has_events(bool closes_others)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;
	bool any = false;

	while (fds && (entry = readdir(fds))) {
		int fd = atoi(entry->d_name);

		if (is_perf_event(fds, entry->d_name))
			any = true;
		else if (closes_others && entry->d_name[0] != '.' && fd != dirfd(fds))
			close(fd);
	}
	if (fds)
		closedir(fds);
	return any;
}

/* Keeps the events open until the parent has ended; the child closes them by ending, too. */
static void hold_until_alone(pid_t parent)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	while (getppid() == parent)
		nanosleep(&pause, NULL);
}

void leave(int status)
{
	pid_t parent = getpid();

	if (has_events(false) && fork() == 0) {
		setsid();
		/* No process must wait for a pipe, lock, terminal or folder of this child. */
		if (has_events(true) && chdir("/") == 0)
			hold_until_alone(parent);
	}
	_exit(status);
}
