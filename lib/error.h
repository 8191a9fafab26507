/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error - a line for the user that says what errno cannot; where it lists words, several.
 *
 * Functions below kvmtop.c print nothing: they return 0 or -errno and, where the number alone
 * would leave the user guessing, put a sentence here: what failed, on which path, what helps.
 */
#ifndef KVMTOP_LIB_ERROR_H
#define KVMTOP_LIB_ERROR_H

struct error {
	char text[1024]; /* no trailing newline; "" when nothing was said */
};

/*
 * Sets the text (cut to fit) and returns err unchanged, for `return error_set(error, -EPERM, ...)`.
 * error NULL: the caller wants no text.
 */
int error_set(struct error *error, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a sentence to the text, if there is one: "TEXT; SENTENCE". */
void error_add(struct error *error, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
