/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command - the commands: what `kvmtop NAME ...` does, for each NAME, and `kvmtop` without one.
 *
 * A new command is one file, one line in command.c, and its mode in options.h.
 */
#ifndef KVMTOP_CMD_COMMAND_H
#define KVMTOP_CMD_COMMAND_H

#include <stdio.h>

#include "cmd/command_line.h"

extern const struct command top_command, exits_command, export_command, format_command,
	help_command, record_command, report_command, timeline_command, why_command;

/* Runs the command that argv names, or the program without one. Returns the exit status. */
int command_main(int argc, char **argv);

const struct command *command_by_name(const char *name); /* NULL: there is none */

/* A name and what it is, a line each; for the shell's completion with a tab between them. */
void command_list(FILE *out, bool for_shell);
void command_topics(FILE *out, bool for_shell);

/* "exits, format, ..." */
void command_names(char *buf, size_t size);

#endif
