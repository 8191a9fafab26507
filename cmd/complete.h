/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete - what can stand in place of a command line's last word, for the shell's completion.
 *
 * All words come from the table of options; the files in packaging/completion/ only pass them to
 * the shell.
 * A line of output is a word, or a word, a tab and its meaning. A line that begins with a tab tells
 * the shell what to complete itself: files, folders or commands.
 */
#ifndef KVMTOP_CMD_COMPLETE_H
#define KVMTOP_CMD_COMPLETE_H

#include "cmd/command.h"
#include "core/views/view.h"

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
