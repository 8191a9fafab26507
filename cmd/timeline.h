/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline - `kvmtop timeline`: recordings as a picture for Perfetto and chrome://tracing.
 */
#ifndef KVMTOP_CMD_TIMELINE_H
#define KVMTOP_CMD_TIMELINE_H

#include "cmd/command.h"

extern const struct command timeline_command;

#endif
