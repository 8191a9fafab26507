/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exits_command - `kvmtop exits`: VM exits by thread and reason, counted until told to stop.
 *
 * The options mean what they mean to kvmexit(8) of bcc, the sort keys what they mean to
 * `perf kvm stat`.
 */
#ifndef KVMTOP_EXITS_COMMAND_H
#define KVMTOP_EXITS_COMMAND_H

#include "command.h"

extern const struct command exits_command;

#endif
