// SPDX-License-Identifier: GPL-2.0-or-later
/* Source: Documentation/trace/events.rst, tracefs events/SYSTEM/EVENT/id. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/read.h"
#include "providers/trace_event.h"

int trace_event_id(const struct env *env, const char *system, const char *event, uint64_t *ret_id)
{
	char path[PATH_MAX], text[32];
	uint64_t id;
	long n;

	snprintf(path, sizeof(path), "%s/events/%s/%s/id", env->tracefs, system, event);
	n = read_small(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	id = strtoull(text, NULL, 10);
	if (!id)
		return -EINVAL;
	*ret_id = id;
	return 0;
}

int trace_check(const struct env *env, struct why *why)
{
	if (env->tracefs)
		return 0;
	return why_set(why, -ENOENT, "tracefs is not mounted: mount -t tracefs tracefs "
				     "/sys/kernel/tracing");
}

int trace_has_no_kvm(const struct env *env, struct why *why)
{
	return why_set(why, -ENOENT, "no KVM events in %s/events: load the kvm module",
		       env->tracefs);
}
