// SPDX-License-Identifier: GPL-2.0-or-later
/* Says why debugfs' counters cannot be read. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "providers/debugfs/why_not.h"

int debugfs_why_locked(const struct lockdown *lockdown, struct why *why)
{
	bool is_all = strcmp(lockdown->level, "confidentiality") == 0;

	return why_set(why, -EPERM, "debugfs counters are blocked by kernel lockdown (%s): %s",
		       lockdown->level,
		       is_all ? "so are tracepoints: boot with "
				"lockdown=integrity" : "use tracepoints");
}

int debugfs_why_unreadable(const struct env *env, const char *path, int err, struct why *why)
{
	bool is_forbidden = err == -EPERM || err == -EACCES;
	struct lockdown lockdown = { "" };

	if (is_forbidden)
		lockdown = lockdown_read(env);
	if (lockdown.level[0])
		return debugfs_why_locked(&lockdown, why);
	if (is_forbidden)
		return why_set(why, -EPERM, "cannot read %s: %s: %s", path, strerror(-err),
			       err == -EPERM ? "probably because of kernel lockdown: use "
					       "tracepoints" :
					       "root is needed");
	return why_set(why, err, "cannot read %s: %s%s", path, strerror(-err),
		       err == -EMFILE ? ": raise the limit with ulimit -n" : "");
}

int debugfs_why_no_folder(const struct env *env, int err, struct why *why)
{
	const char *path = env->debugfs_kvm;
	char debugfs[PATH_MAX];

	if (!path) {
		path = env_path(env, debugfs, sizeof(debugfs), "/sys/kernel/debug");
		err = euidaccess(path, X_OK) < 0 && errno == EACCES ? -EACCES : -ENOENT;
	}
	if (err != -ENOENT)
		return debugfs_why_unreadable(env, path, err, why);
	return why_set(why, err, "no debugfs counters: %s%s: load the kvm module%s", path,
		       env->debugfs_kvm ? " has none" : "/kvm is missing",
		       env->debugfs_kvm ? "" : ", mount debugfs");
}
