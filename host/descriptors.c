// SPDX-License-Identifier: GPL-2.0-or-later
/* The limit on open files. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/file.h"
#include "host/descriptors.h"

#define RESERVE 16

void descriptors_raise(uint64_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
		return;
	if (limit.rlim_max < needed) {
		struct rlimit raised = { needed, needed };

		if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
			return;
	}
	limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The kernel gives the lowest number that is free. */
bool descriptors_are_left(void)
{
	int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	struct rlimit limit;

	if (lowest < 0)
		return errno != EMFILE;
	close(lowest);
	return getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	       (rlim_t)lowest + RESERVE < limit.rlim_cur;
}

bool descriptors_read(int *fd, const char *path, char *buf, size_t size)
{
	if (*fd < 0 && descriptors_are_left())
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? read_small(path, buf, size) > 0 : read_again(*fd, buf, size);
}

bool descriptors_are_short(int err)
{
	return err == -EMFILE || err == -ENFILE;
}

void descriptors_explain(struct error *why, unsigned int nr_events, uint64_t needed)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	error_set(why, 0,
		  "%u events not counted: %llu descriptors needed, the limit is %llu: raise "
			"it with ulimit -n, LimitNOFILE= or CAP_SYS_RESOURCE",
		  nr_events, (unsigned long long)needed, (unsigned long long)limit.rlim_cur);
}
