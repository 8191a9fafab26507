// SPDX-License-Identifier: GPL-2.0-or-later
/* Tells our pid namespace from the host's: pid_namespaces(7), namespaces(7). */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "host/pid_namespace.h"

#define INIT_PID_NAMESPACE "pid:[4026531836]" /* linux/proc_ns.h: PROC_PID_INIT_INO */

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

int pid_namespace_check(const struct env *env, const char *what, struct why *why)
{
	if (!pid_namespace_is_other(env))
		return 0;
	return why_set(why, -EXDEV, "%s has the pids of the host's pid namespace, and this is "
				    "another one: run in the host's (docker run --pid=host)", what);
}
