/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file - a history file: an SQLite database of packed moments, see kvmtop-history(5).
 *
 * One process writes, others read at the same time. Each moment is a transaction of its own.
 */
#ifndef KVMTOP_HISTORY_FILE_H
#define KVMTOP_HISTORY_FILE_H

#include "history/recorder.h"
#include "history/store.h"

/*
 * What a file may hold; the oldest moments are dropped with each commit, as many as there are from
 * one moment with totals to the next. 0: no limit. The age is the time that was recorded since,
 * with pauses of the writer in the same boot: it does not depend on the wall clock.
 */
struct file_limits {
	uint64_t age_ns;
	uint64_t size; /* bytes on disk, everything included */
};

#define HISTORY_SIZE_LEAST (4 << 20) /* a smaller limit has room for hardly more than the log */

struct history_file;

/*
 * Opens a file to write, or makes it; the first moment or notice begins a segment. -EINVAL: a file
 * of another program, or of a newer version, which is left as it is; -EBUSY: another process
 * writes; others as the system has them; all with error. A damaged file is renamed, as
 * output_set_aside() does, and a new one made; then 0 is returned, and error says so. The caller
 * ignores SIGXFSZ. A process that writes a file does not read it at the same time.
 */
int history_file_create(const char *path, const struct segment *segment,
			const struct file_limits *limits, struct history_file **ret_file,
			struct error *error);

/* How many moments were dropped for the limits since the file was opened; any thread may ask. */
uint64_t history_file_dropped(const struct history_file *file);

/*
 * For a recorder; valid as long as the file is open.
 *
 * map() replaces the moment's ids of fields and guests by the ids that they have in the file, and
 * new ones get rows. What no inventory had has none, and is dropped.
 *
 * add() writes the moment in one transaction, with the rows of its minute when that is over. After
 * an error nothing of it is in the file, and the next call tries again with the next moment. The
 * first moment, and the first one after an error, needs totals and guests: until one comes that has
 * them, it is -ESTALE. A file that was removed or replaced is made anew; so is one that turns out
 * to be damaged, after it was renamed: the moment is lost, with -EBADMSG.
 */
struct sink history_file_sink(struct history_file *file);

/* Opens a file to read. Errors as above, -ENOENT, and -ENODATA: nothing was written yet. */
int history_file_open(const char *path, struct history_file **ret_file, struct error *error);

/* Writes what is left (the rows of the last minute), closes. NULL is fine. */
int history_file_close(struct history_file *file, struct error *error);

/* For readers; valid as long as the file is open. */
struct store history_file_store(struct history_file *file);

#endif
