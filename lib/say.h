/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * say - prints errors and notices of the program and its commands, and gives the exit status.
 *
 * Everything below them returns 0 or -errno and a struct error; only commands print. Controls and
 * what is not UTF-8 are printed as '?'.
 */
#ifndef KVMTOP_LIB_SAY_H
#define KVMTOP_LIB_SAY_H

#include "lib/error.h"

/* STATUS_FOUND: of `kvmtop why`, which found something. */
enum { STATUS_OK = 0, STATUS_FAILURE = 1, STATUS_USAGE = 2, STATUS_FOUND = 3 };

/* Prints the error's text or, if it is "", the errno's; returns STATUS_FAILURE. */
int say_failure(int err, const struct error *error);

/* Prints a notice: "kvmtop: TEXT". Of NULL and "" nothing. */
void say(const char *text);

/* Prints the text of a call that succeeded, a notice, and empties it. */
void say_notice(struct error *error);

/* command: "" for the program itself, "report" for a command. Returns STATUS_USAGE. */
int say_usage(const char *command, const struct error *error);

/*
 * Flushes standard output at the end. Returns status, or STATUS_FAILURE if output could not be
 * written (a full disk is an error; a reader that went away is none).
 */
int say_end(int status);

#endif
