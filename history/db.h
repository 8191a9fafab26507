/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db - the SQLite database of a history file: how it is opened, its statements, errors in words.
 *
 * Functions return 0, or -errno with why:
 *	-EINVAL		a file of another program, or of a newer version
 *	-EBADMSG	damaged
 *	-EBUSY		another program holds a lock
 *	-ENOSPC, -EDQUOT, -EFBIG, -EROFS, -EACCES, -ENOENT, -EIO ...	as the system has them
 */
#ifndef KVMTOP_HISTORY_DB_H
#define KVMTOP_HISTORY_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/why.h"
#include "history/sql.h"

#define DB_LOG_SIZE (1024 * 1024) /* of the -wal when it is written back into the file */
#define DB_WAIT_MS 1000 /* for a lock of another program */

/* Zero-initialised: closed. */
struct db {
	const char *name; /* the path as the user wrote it, for messages; the caller's */
	sqlite3 *sqlite;
	bool writes;
	unsigned int nr_steps; /* of the statement, see STEPS_AT_ONCE */
	int system_error; /* the errno that the latest failure came from; 0: not known */
	sqlite3_stmt *statements[SQL_STATEMENTS]; /* prepared when first asked for */
};

/* What SQLite appends to the name of the file for files of its own; NULL is the last. */
extern const char *const db_suffixes[];

/*
 * Opens the database in the file real, an absolute path. To write: makes the tables in an empty
 * file, and sets it to write-ahead logging; the caller keeps other writers away, and has made sure
 * that no other user can put files beside it. To read: a file of another user, or in a folder where
 * others may write, is only looked at; nothing is made, repaired or removed there.
 */
int db_open(struct db *db, const char *name, const char *real, bool writes, struct why *why);

/* Closes the database. A writer's becomes one file, unless another program reads it. */
void db_close(struct db *db);

/* The statement, with no parameters bound, for db_step(). */
int db_prepare(struct db *db, enum sql sql, sqlite3_stmt **ret_statement, struct why *why);

/* Binds a number to a parameter, from 1 on; SQLite's largest one stands for all above. */
void db_bind(sqlite3_stmt *statement, int parameter, uint64_t number);

/* The next row: 1; 0: there are no more; -errno. After 0 and -errno the statement is reset. */
int db_step(struct db *db, sqlite3_stmt *statement, struct why *why);

/* Begins a transaction to write. -ENOSPC, too: the disk has less room than the log may need. */
int db_begin(struct db *db, struct why *why);

/* Runs a statement that has no parameters and no rows. */
int db_run(struct db *db, enum sql sql, struct why *why);

/* Runs a statement with up to three numbers, and no rows. */
int db_run_with(struct db *db, enum sql sql, const uint64_t *numbers, int nr, struct why *why);

/* Runs a statement that has one row with one number. */
int db_number(struct db *db, enum sql sql, int64_t *ret_number, struct why *why);

/* Writes the log back into the file, see sqlite3_wal_checkpoint_v2(); returns SQLite's code. */
int db_checkpoint(struct db *db, int mode);

/* What the latest call of SQLite failed with. */
int db_error(const struct db *db, struct why *why);

/* -EBADMSG, with why. */
int db_damaged(const struct db *db, struct why *why);

#endif
