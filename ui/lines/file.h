/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file - a file that whole records are appended to, or standard output.
 *
 * Knows bytes only. Each record is flushed when it is written, so that neither a signal nor a crash
 * loses any. A record that a regular file has no room for is taken back: no line is ever torn.
 */
#ifndef KVMTOP_UI_LINES_FILE_H
#define KVMTOP_UI_LINES_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/why.h"

struct record_file {
	const char *path; /* not ours; NULL: standard output */
	FILE *stream;
	bool is_regular;
	bool is_cut; /* its last line has no end yet */
};

/* Makes the file if there is none (0644); overwrites: else empties it. 0, or -errno with why. */
int record_file_open(const char *path, bool overwrites, struct record_file *ret_file,
		     struct why *why);

/*
 * The first bytes of a regular file, enough for any header, as a string for the caller to free;
 * NULL when there are none. 0, or -errno with why.
 */
int record_file_head(const struct record_file *file, char **ret_head, struct why *why);

/* True of a regular file that holds nothing now, even if it held something when it was opened. */
bool record_file_is_empty(const struct record_file *file);

/* Writes and flushes one record. 0, or -errno with why. */
int record_file_write(struct record_file *file, const char *text, size_t size, struct why *why);

/* Closes it; standard output is flushed only. 0, or -errno with why if something was lost. */
int record_file_close(struct record_file *file, struct why *why);

#endif
