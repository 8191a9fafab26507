/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands - the commands that command.c lists, each in a file of its own name.
 */
#ifndef KVMTOP_CMD_COMMANDS_H
#define KVMTOP_CMD_COMMANDS_H

struct command;

extern const struct command exits_command, format_command, record_command, report_command,
	timeline_command, why_command;

#endif
