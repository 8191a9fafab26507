/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete - what can stand in place of a command line's last word, for the shell's completion.
 *
 * All words come from the tables of options; the files in packaging/completion/ only pass them to
 * the shell.
 * A line of output is a word, or a word, a tab and its meaning. A line that begins with a tab tells
 * the shell what to complete itself: files, folders or commands.
 */
#ifndef KVMTOP_CMD_COMPLETE_H
#define KVMTOP_CMD_COMPLETE_H

#include "cmd/option.h"
#include "host/guest.h"
#include "core/views/view.h"

struct completion {
	enum offer offer;
	const struct option_spec *spec;	     /* the option that the word belongs to; NULL: none */
	const struct option_table *table;    /* the command's */
	const struct command *command;	     /* NULL: none, the program itself */
	const struct view_type *view;	     /* the one in the command line, or the usual one */
	const char *sysroot;		     /* the one in the command line; "": this machine */
};

/* words: the command line without the program's name; the last word is to be completed. */
void completion_find(char **words, size_t nr, struct completion *ret_completion);

/* Prints the words that need neither the machine's guests nor its events. */
void completion_print(const struct completion *completion);

/* Prints one of them. */
void completion_print_guest(const struct guest *guest);
void completion_print_pid(const struct guest *guest);
void completion_print_field(const char *name);
void completion_print_event(const char *name); /* nothing, if it is none */

#endif
