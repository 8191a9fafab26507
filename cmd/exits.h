/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exits - `kvmtop exits`: VM exits by thread and reason, counted until told to stop.
 *
 * The options mean what they mean to kvmexit(8) of bcc, the sort keys what they mean to
 * `perf kvm stat`.
 */
#ifndef KVMTOP_CMD_EXITS_H
#define KVMTOP_CMD_EXITS_H

#include "cmd/command.h"

extern const struct command exits_command;

#endif
