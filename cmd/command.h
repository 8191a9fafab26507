/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command - what `kvmtop NAME ...` does, for each NAME.
 *
 * A new command is one file and one line in command.c.
 */
#ifndef KVMTOP_CMD_COMMAND_H
#define KVMTOP_CMD_COMMAND_H

#include <stddef.h>
#include <stdio.h>

struct option_table;

struct command {
	const char *name; /* "report" */
	const char *help; /* a line for --help */
	const struct option_table *options;
	/* argv[0] is the command's name. Returns the exit status; prints its own errors (say.h). */
	int (*run)(int argc, char **argv);
};

const struct command *command_by_name(const char *name); /* NULL: there is none */

/* "exits, format, ..." */
void commands_names(char *buf, size_t size);

/* A line for each, for --help. */
void commands_help(FILE *out);

/* The same for the shell's completion: a tab between name and help. */
void commands_complete(FILE *out);

#endif
