// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the machine's name and its online CPUs. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/read.h"
#include "host/cpus.h"
#include "host/machine.h"

void host_name(const struct env *env, char *buf, size_t size)
{
	char path[PATH_MAX], name[HOST_NAME_MAX + 2] = "";

	env_path(env, path, sizeof(path), "/proc/sys/kernel/hostname");
	if (read_small(path, name, sizeof(name)) <= 0 && !env_is_captured(env))
		gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".\n")] = '\0';
	snprintf(buf, size, "%s", name[0] ? name : env_is_captured(env) ? "captured" : "localhost");
}

static int count_one(void *arg, int cpu)
{
	(void)cpu;
	++*(int *)arg;
	return 0;
}

int host_cpus(const struct env *env)
{
	int nr = 0;

	cpus_online(env, count_one, &nr);
	return nr;
}
