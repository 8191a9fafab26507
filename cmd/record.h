/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record - `kvmtop record`: KVM's events into a trace.dat.
 */
#ifndef KVMTOP_CMD_RECORD_H
#define KVMTOP_CMD_RECORD_H

#include "cmd/command.h"

extern const struct command record_command;

#endif
