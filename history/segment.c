// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the machine who it is. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "lib/read.h"
#include "history/segment.h"
#include "host/machine.h"

/* The first line of a file below /proc/sys/kernel; "" if it cannot be read. */
static void read_text(const struct env *env, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];

	env_path(env, path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (read_small(path, text, size) < 0)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

void segment_of_machine(const struct env *env, const char *engine, double interval_s,
			struct segment *ret_segment)
{
	struct segment *segment = ret_segment;

	*segment = (struct segment){ .nr_cpus = host_cpus(env), .interval_s = interval_s };
	host_name(env, segment->host, sizeof(segment->host));
	read_text(env, "osrelease", segment->kernel, sizeof(segment->kernel));
	read_text(env, "random/boot_id", segment->boot_id, sizeof(segment->boot_id));
	snprintf(segment->arch, sizeof(segment->arch), "%s", env->arch->name);
	snprintf(segment->engine, sizeof(segment->engine), "%s", engine ? engine : "");
}
