/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command - the commands: what `kvmtop NAME ...` does, for each NAME, and `kvmtop` without one.
 *
 * A new command is one file, one line in command.c, and its mode in options.h.
 */
#ifndef KVMTOP_CMD_COMMAND_H
#define KVMTOP_CMD_COMMAND_H

#include <stdio.h>

#include "cmd/options.h"

struct view_type;

/* ---- command_line.c: the table of options; help, completion and errors follow it ---- */

struct command {
	const char *name; /* "report"; "": kvmtop itself */
	const char *help; /* a line for --help */
	const char *usage; /* "Usage: ..." and what it does, lines that end in newlines */
	const char *footer; /* after the options */
	struct option_command command; /* its modes, and what its words are */
	/* Reads the words, and values that depend on each other. 0 or -EINVAL with error. */
	int (*understand)(struct options *options, struct error *error);
	/* Returns the exit status; prints its own errors (say.h). */
	int (*run)(struct options *options);
};

/*
 * Reads the command line of the command, argv[0] being its name. 0, or -EINVAL with error: a usage
 * error. A word for -r that names a file is looked at, to see what it is; else nothing depends on
 * the machine.
 */
int options_parse(const struct command *command, int argc, char **argv,
		  struct options *ret_options, struct error *error);

extern const struct option_table option_table;

/* ---- command.c: the commands ---- */

extern const struct command top_command, exits_command, export_command, format_command,
	record_command, report_command, timeline_command, where_command, who_command,
	why_command;

/* Runs the command that argv names, or the program without one. Returns the exit status. */
int command_main(int argc, char **argv);

const struct command *command_by_name(const char *name); /* NULL: there is none */

/* A name and what it is, a line each; for the shell's completion with a tab between them. */
void command_list(FILE *out, bool for_shell);

/* "exits, format, ..." */
void command_names(char *buf, size_t size);

/* ---- report.c: what is said of any recording ---- */

struct trace;

/* Warns where the order of events, or the time between, may be wrong. remedy: of two clocks. */
void say_clocks(const struct trace *trace, const char *remedy);

/*
 * ---- complete.c: the words that can complete a command line, for the shell ----
 *
 * All words come from the table of options; the files in packaging/completion/ only pass them to
 * the shell. A line of output is a word, or a word, a tab and its meaning. A line that begins with
 * a tab names what the shell completes itself: files, folders or commands.
 */

struct completion {
	enum offer offer;
	const struct option_spec *spec;	 /* the option that the word belongs to; NULL: none */
	const struct command *command;
	const struct view_type *view;	 /* the one in the command line, or the default */
	const char *sysroot;		 /* the one in the command line; "": this machine */
};

/* words: the command line without the program's name; the last word is to be completed. */
void completion_find(char **words, size_t nr, struct completion *ret_completion);

/* Prints the words that need neither the machine's guests nor its events. */
void completion_print(const struct completion *completion);

#endif
