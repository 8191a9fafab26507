/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why_not - why debugfs' counters cannot be read, in words for the user.
 *
 * Each returns -errno with why; it may differ from err: lockdown is always -EPERM.
 */
#ifndef KVMTOP_PROVIDERS_DEBUGFS_WHY_NOT_H
#define KVMTOP_PROVIDERS_DEBUGFS_WHY_NOT_H

#include "lib/why.h"
#include "host/env.h"
#include "host/machine.h"

int debugfs_why_locked(const struct lockdown *lockdown, struct why *why);

/* err: the -errno of opening path. */
int debugfs_why_unreadable(const struct env *env, const char *path, int err, struct why *why);

/* There is no folder kvm, or we may not enter it: debugfs usually has the mode 0700. */
int debugfs_why_no_folder(const struct env *env, int err, struct why *why);

#endif
