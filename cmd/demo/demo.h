/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demo - a tiny guest of our own, so that kvmtop has something to show on a host without guests.
 *
 * A child process runs a few dozen bytes of machine code through /dev/kvm (x86-64, AArch64, RISC-V
 * or POWER) and makes exits of several kinds. It ends with its parent, even if that is killed. The
 * tests use the same guest with exact numbers.
 */
#ifndef KVMTOP_CMD_DEMO_DEMO_H
#define KVMTOP_CMD_DEMO_DEMO_H

#include <sys/types.h>

#include "lib/error.h"
#include "cmd/demo/vm.h"

extern const struct demo_plan demo_default; /* a few thousand exits a second, for ever */

/*
 * Starts a child that runs the plan, named "kvmtop-demo"; returns once its vCPUs run, or -errno
 * with error. End it with demo_stop(), which waits for it; it ends by itself when this process is
 * gone.
 */
int demo_start(const struct demo_plan *plan, pid_t *ret_pid, struct error *error);
void demo_stop(pid_t pid);

#endif
