/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete - what can stand in place of a command line's last word, for the shell's completion.
 *
 * All of it comes from the tables of options; the files in completion/ only hand it to the shell. A
 * line of output is a word, perhaps with a tab and its meaning behind it. A line that begins with a
 * tab names what the shell itself completes: files, folders or commands.
 */
#ifndef KVMTOP_CMD_COMPLETE_H
#define KVMTOP_CMD_COMPLETE_H

#include "cmd/option.h"
#include "host/guest.h"
#include "views/view.h"

struct completion {
	enum offer offer;
	const struct option_spec *spec;	     /* the option that the word belongs to; NULL: none */
	const struct option_table *table;    /* of the command */
	const struct command *command;	     /* NULL: the program without one */
	const struct view_type *view;	     /* that the line names, or the usual one */
	const char *sysroot;		     /* that the line names; "": this machine */
};

/* words: of the command line, without the program's name; the last one is to be completed. */
void completion_find(char **words, size_t nr, struct completion *ret_completion);

/* Prints the words that need neither the machine's guests nor its events. */
void completion_print(const struct completion *completion);

/* Prints one of them. */
void completion_print_guest(const struct guest *guest);
void completion_print_pid(const struct guest *guest);
void completion_print_field(const char *name);
void completion_print_event(const char *name); /* nothing, if it is none */

#endif
