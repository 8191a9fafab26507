/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_line - the table of options, and a command line read by it.
 *
 * Help and completion follow the table; the manual is checked against it.
 */
#ifndef KVMTOP_CMD_COMMAND_LINE_H
#define KVMTOP_CMD_COMMAND_LINE_H

#include "cmd/options.h"

struct command {
	const char *name; /* "report"; "": kvmtop itself */
	const char *help; /* a line for --help */
	const char *usage; /* "Usage: ..." and what it does, lines that end in newlines */
	const char *footer; /* after the options */
	struct option_command command; /* its modes, and what its words are */
	/* Reads the words, and values that depend on each other. 0 or -EINVAL with why. */
	int (*understand)(struct options *options, struct error *why);
	/* Returns the exit status; prints its own errors (say.h). */
	int (*run)(struct options *options);
};

/*
 * Reads the command line of the command, argv[0] being its name. 0, or -EINVAL with why: a usage
 * error. A word for -r that names a file is looked at, to see what it is; else nothing depends on
 * the machine.
 */
int options_parse(const struct command *command, int argc, char **argv,
		  struct options *ret_options, struct error *why);

extern const struct option_table option_table;

#endif
