/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why_not - why debugfs' counters cannot be read, in words for the user.
 *
 * Each returns -errno with why, which may be another one than err: what lockdown forbids is -EPERM.
 */
#ifndef KVMTOP_PROVIDERS_DEBUGFS_WHY_NOT_H
#define KVMTOP_PROVIDERS_DEBUGFS_WHY_NOT_H

#include "base/why.h"
#include "host/env.h"
#include "host/lockdown.h"

int debugfs_why_locked(const struct lockdown *lockdown, struct why *why);

/* err: what came of opening path. */
int debugfs_why_unreadable(const struct env *env, const char *path, int err, struct why *why);

/* There is no folder kvm, or none that we are let into: 0700 is usual for debugfs. */
int debugfs_why_no_folder(const struct env *env, int err, struct why *why);

#endif
