/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file - a file to which whole samples are appended, or standard output.
 *
 * Each sample is flushed when it is written, so that neither a signal nor a crash loses a sample.
 * If a regular file has no room for a sample, the written part is removed: no line is ever
 * incomplete.
 */
#ifndef KVMTOP_UI_LINES_FILE_H
#define KVMTOP_UI_LINES_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/error.h"

struct lines_file {
	const char *path; /* not ours; NULL: standard output */
	FILE *stream;
	bool is_regular;
	bool is_cut; /* its last line has no end yet */
};

/*
 * Creates the file (0644) if it does not exist; overwrites: empties an existing file. lib/output.h
 * says which files are refused. 0, or -errno with why.
 */
int lines_file_open(const char *path, bool overwrites, struct lines_file *ret_file,
		     struct error *why);

/*
 * The first bytes of a regular file, enough for any header, as a string for the caller to free;
 * NULL when there are none. 0, or -errno with why.
 */
int lines_file_head(const struct lines_file *file, char **ret_head, struct error *why);

/* Whether the file is regular and empty now, even if it was not empty when it was opened. */
bool lines_file_is_empty(const struct lines_file *file);

/* Writes and flushes one sample. 0, or -errno with why. */
int lines_file_write(struct lines_file *file, const char *text, size_t size, struct error *why);

/* Closes the file; standard output is only flushed. 0, or -errno with why if data was lost. */
int lines_file_close(struct lines_file *file, struct error *why);

#endif
