/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockdown - what the kernel forbids even root: kernel_lockdown(7), in securityfs.
 */
#ifndef KVMTOP_HOST_LOCKDOWN_H
#define KVMTOP_HOST_LOCKDOWN_H

#include "host/env.h"

struct lockdown {
	char level[32]; /* "integrity", "confidentiality"; "": none, or not known */
};

struct lockdown lockdown_read(const struct env *env);

#endif
