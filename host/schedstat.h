/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedstat - whether the kernel measures how long threads wait for a CPU.
 *
 * Source: proc(5), schedstat; fs/proc/base.c, proc_pid_schedstat(): without CONFIG_SCHEDSTATS and
 * delay accounting the file is all zeros.
 */
#ifndef KVMTOP_HOST_SCHEDSTAT_H
#define KVMTOP_HOST_SCHEDSTAT_H

#include <stdbool.h>

#include "host/env.h"

/* Reads the file of this process, which has certainly run. False if the file cannot be read. */
bool schedstat_is_on(const struct env *env);

#endif
