/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format - `kvmtop format`: prints each record of kvmtrace, xentrace and ACRN files by rules.
 */
#ifndef KVMTOP_CMD_FORMAT_H
#define KVMTOP_CMD_FORMAT_H

#include "cmd/command.h"

extern const struct command format_command;

#endif
