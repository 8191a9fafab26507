// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmtop - which guest, which vCPU, which VM exits, and what they cost.
 *
 * Ends what a killed program left on the host, runs the command, or the program without one, and
 * returns the exit status at once, although closing events takes seconds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/process.h"
#include "cmd/command.h"
#include "trace/tracer/tracer.h"

#define PROGRAM "kvmtop"

/* ---- recordings of a `kvmtop record` that was killed ---- */

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

/*
 * An instance of tracefs goes on tracing, and costs the host time, until it is removed. An instance
 * of ours is called kvmtop-PID (trace/tracer/tracer.h). Prints a line for each. It needs root: for
 * others nothing happens.
 */
static void end_stale_recordings(void)
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

/* ---- the end ---- */

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

/*
 * The kernel waits for RCU whenever the last event of a tracepoint is closed, about 36 ms each. So
 * a child inherits the descriptors and ends after this process: a process that waits for this one
 * need not wait for RCU. All output must have been flushed before. If no child can be created, this
 * process waits for RCU itself.
 */
static void __attribute__((noreturn)) leave(int status)
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

int main(int argc, char **argv)
{
	stdfd_fill();
	if (stack_raise() < 0) {
		say("a stack may not have the 1024 KiB here that are needed: ulimit -s 1024");
		return STATUS_FAILURE;
	}
	signals_init();
	/* Not LC_NUMERIC: a decimal comma would change the numbers of -s, CSV and JSON. */
	setlocale(LC_CTYPE, "");
	end_stale_recordings();
	leave(say_end(command_main(argc, argv)));
}
