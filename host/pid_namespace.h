/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pid_namespace - whether our pids and tids are the kernel's own.
 *
 * BPF programs, tracefs (its events and set_event_pid) and the names of debugfs' folders have the
 * pids of the host's pid namespace; /proc and perf_event_open(2) have the pids of our namespace. In
 * a container one thread has two numbers, and one number can mean two threads.
 */
#ifndef KVMTOP_HOST_PID_NAMESPACE_H
#define KVMTOP_HOST_PID_NAMESPACE_H

#include <stdbool.h>

#include "lib/why.h"
#include "host/env.h"

/* False where /proc/self/ns/pid cannot be read: the namespace is then taken for the host's. */
bool pid_namespace_is_other(const struct env *env);

/* 0, or -EXDEV with why pids that `what` ("BPF", "tracefs") has cannot be used from here. */
int pid_namespace_check(const struct env *env, const char *what, struct why *why);

#endif
