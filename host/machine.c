// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads small files of /proc and /sys, and sees to the limit on open files. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/file.h"
#include "host/machine.h"

#define RESERVE 16 /* descriptors for reading /proc and /sys */
#define INIT_PID_NAMESPACE "pid:[4026531836]" /* linux/proc_ns.h: PROC_PID_INIT_INO */

void host_name(const struct env *env, char *buf, size_t size)
{
	char name[HOST_NAME_MAX + 2];

	if (env_read(env, name, sizeof(name), "/proc/sys/kernel/hostname") <= 0 &&
	    !env_is_captured(env))
		gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".\n")] = '\0';
	snprintf(buf, size, "%s", name[0] ? name : env_is_captured(env) ? "captured" : "localhost");
}

/* ---- CPUs: Documentation/admin-guide/cputopology.rst */

/* Reads the CPU number at *text and moves *text after the number; -1: there is no number. */
static int number(const char **text)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)**text))
		return -1;
	n = strtol(*text, &end, 10);
	*text = end;
	return n < CPUS_MAX ? (int)n : -1;
}

int cpus_next(struct cpus *cpus)
{
	while (cpus->at && cpus->next > cpus->last) {
		cpus->next = cpus->last = number(&cpus->at);
		if (cpus->next >= 0 && *cpus->at == '-') {
			cpus->at++;
			cpus->last = number(&cpus->at);
		}
		cpus->at = cpus->next >= 0 && *cpus->at == ',' ? cpus->at + 1 : NULL;
	}
	return cpus->next <= cpus->last ? cpus->next++ : -1;
}

int cpus_count(const char *list)
{
	struct cpus cpus = cpus_of(list);
	int nr = 0;

	while (cpus_next(&cpus) >= 0)
		nr++;
	return nr;
}

int cpus_end(const struct env *env, const char *name)
{
	char list[CPUS_TEXT];
	long err = env_read(env, list, sizeof(list), "%s", name);
	struct cpus cpus = cpus_of(list);
	int end = 0;

	for (int cpu; (cpu = cpus_next(&cpus)) >= 0;) {
		if (cpu >= end)
			end = cpu + 1;
	}
	return err < 0 ? (int)err : end;
}

int host_cpus(const struct env *env)
{
	char list[CPUS_TEXT];

	env_read(env, list, sizeof(list), CPUS_ONLINE);
	return cpus_count(list);
}

/* ---- schedstat */

bool schedstat_is_on(const struct env *env)
{
	char text[96];

	return env_read(env, text, sizeof(text), "/proc/self/schedstat") > 0 &&
	       strpbrk(text, "123456789");
}

/* ---- lockdown */

/* The level is in brackets: "none [integrity] confidentiality". */
struct lockdown lockdown_read(const struct env *env)
{
	struct lockdown lockdown;
	char text[128];
	const char *start;

	env_read(env, text, sizeof(text), "/sys/kernel/security/lockdown");
	start = strchr(text, '[');
	if (!start || strncmp(start, "[none]", 6) == 0)
		start = "[";
	snprintf(lockdown.level, sizeof(lockdown.level), "%.*s",
		 (int)strcspn(start + 1, "]\n"), start + 1);
	return lockdown;
}

/* ---- descriptors */

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
	ssize_t n;

	if (*fd < 0 && descriptors_are_left())
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return read_small(path, buf, size) > 0;
	n = pread(*fd, buf, size - 1, 0);
	buf[n > 0 ? n : 0] = '\0';
	if (n > 0)
		return true;
	close(*fd);
	*fd = -1;
	return false;
}

bool descriptors_are_short(int err)
{
	return err == -EMFILE || err == -ENFILE;
}

void descriptors_explain(struct error *error, unsigned int nr_events, uint64_t needed)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	error_set(error, 0,
		  "%u events not counted: %llu descriptors needed, the limit is %llu: raise "
			"it with ulimit -n, LimitNOFILE= or CAP_SYS_RESOURCE",
		  nr_events, (unsigned long long)needed, (unsigned long long)limit.rlim_cur);
}

/* ---- the pid namespace */

bool pid_namespace_is_other(const struct env *env)
{
	char path[PATH_MAX], link[64];
	ssize_t len;

	env_path(env, path, sizeof(path), "/proc/self/ns/pid");
	len = readlink(path, link, sizeof(link) - 1);
	if (len < 0)
		return false;
	link[len] = '\0';
	return strcmp(link, INIT_PID_NAMESPACE) != 0;
}

int pid_namespace_check(const struct env *env, const char *what, struct error *error)
{
	if (!pid_namespace_is_other(env))
		return 0;
	return error_set(error, -EXDEV, "%s has the pids of the host's pid namespace, and this is "
				    "another one: run in the host's (docker run --pid=host)", what);
}
