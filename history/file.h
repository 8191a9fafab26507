/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file - a history file: an SQLite database of packed moments, see kvmtop-history(5).
 *
 * One process writes, others read at the same time. Each moment is a transaction of its own.
 */
#ifndef KVMTOP_HISTORY_FILE_H
#define KVMTOP_HISTORY_FILE_H

#include "history/store.h"

/* What a file may hold; the oldest moments are dropped with each commit. 0: no limit. */
struct file_limits {
	uint64_t age_ns;
	uint64_t size; /* bytes on disk, everything included */
};

struct history_file;

/*
 * Opens a file to write, or makes it, and begins a segment. -EINVAL: a file of another program, or
 * of a newer version, which is left as it is; -EBUSY: another process writes; others as the system
 * has them, with why.
 */
int history_file_create(const char *path, const struct segment *segment,
			const struct file_limits *limits, struct history_file **ret_file,
			struct why *why);

/*
 * Adds a moment, with the same packed, in one transaction: fields that are new, guests, the moment,
 * the rows of its minute when that is over. After an error nothing of it is in the file, and the
 * next call tries again with the next moment. is_pending fields stay to be written.
 */
int history_file_add(struct history_file *file, const struct moment *moment,
		     const struct packed *packed, struct why *why);

/* Adds a notice, as one line: "2 samples were lost". */
int history_file_note(struct history_file *file, uint64_t time_ns, const char *text,
		      struct why *why);

/* Opens a file to read. Errors as above, and -ENOENT. */
int history_file_open(const char *path, struct history_file **ret_file, struct why *why);

/* Writes what is left (the rows of the last minute), closes. NULL is fine. */
int history_file_close(struct history_file *file, struct why *why);

/* For readers; valid as long as the file is open. */
struct store history_file_store(struct history_file *file);

#endif
