// SPDX-License-Identifier: GPL-2.0-or-later
/* Source: Documentation/trace/events.rst, tracefs events/SYSTEM/EVENT/id. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "host/machine.h"
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

/*
 * Of the levels of lockdown only confidentiality forbids root to read tracefs; set at boot, it
 * leaves tracefs without any file. The level is not known where securityfs is not mounted.
 */
int trace_check_lockdown(const struct env *env, struct why *why)
{
	struct lockdown lockdown = lockdown_read(env);

	if (strcmp(lockdown.level, "confidentiality") != 0)
		return 0;
	return why_set(why, -EPERM, "trace events are blocked by kernel lockdown (%s): boot with "
				    "lockdown=integrity",
		       lockdown.level);
}

int trace_why_none(const struct env *env, int unread_err, struct why *why)
{
	char path[PATH_MAX];
	int err = trace_check_lockdown(env, why);

	if (err)
		return err;
	err = unread_err;
	snprintf(path, sizeof(path), "%s/events", env->tracefs);
	if (!err && access(path, R_OK | X_OK) < 0)
		err = -errno;
	if (err == -EACCES)
		return why_set(why, err, "cannot read %s: %s: run as root, or grant it: setcap "
					 "cap_perfmon,cap_dac_read_search,cap_sys_ptrace+ep kvmtop",
			       path, strerror(-err));
	if (err)
		return why_set(why, -EPERM, "cannot read %s: %s: probably because of kernel "
					    "lockdown: boot with lockdown=integrity",
			       path, strerror(-err));
	return why_set(why, -ENOENT, "no KVM events in %s: load the kvm module", path);
}
