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

/* ---- sql.c: the tables, and every statement that is run on them, see kvmtop-history(5) */

#define SQL_APPLICATION_ID 0x6b766d68 /* "kvmh" */
#define SQL_VERSION 1		      /* PRAGMA user_version */

/* Ids of samples and segments are below; a writer goes on after the largest. */
#define SQL_SAMPLE_MAX (INT64_MAX / 2)
#define SQL_SEGMENT_MAX (UINT32_MAX / 2)

/* Makes the tables, in one transaction. */
extern const char sql_schema[];

enum sql {
	SQL_APPLICATION,
	SQL_USER_VERSION,
	SQL_NR_TABLES,
	SQL_JOURNAL,
	SQL_MAX_SAMPLE,
	SQL_MAX_SEGMENT,

	SQL_LAST,
	SQL_FIRST,
	SQL_AT,
	SQL_NEXT,
	SQL_BEFORE,
	SQL_FLAGGED,
	SQL_HOLD,
	SQL_READ_CHANGES, /* the parts, as enum moment_part */
	SQL_READ_TOTALS,
	SQL_READ_GUESTS,
	SQL_READ_FIELDS,
	SQL_READ_SEGMENT,

	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_ADD_META,
	SQL_ADD_SEGMENT,
	SQL_END_SEGMENT,
	SQL_ADD_FIELD,
	SQL_ADD_GUEST,
	SQL_ADD_SAMPLE,
	SQL_ADD_MINUTE,
	SQL_ADD_NOTE,
	SQL_ADD_CLOCK,
	SQL_LAST_CLOCK,

	SQL_PAGE_SIZE,
	SQL_PAGES,
	SQL_FREE_PAGES,
	SQL_VACUUM,
	SQL_NEXT_RUN,
	SQL_OLDEST,
	SQL_DROP_SAMPLES,
	SQL_DROP_CLOCKS,
	SQL_DROP_MINUTES,
	SQL_DROP_NOTES,
	SQL_DROP_GUESTS,
	SQL_DROP_FIELDS,
	SQL_DROP_SEGMENTS,
	SQL_STATEMENTS,
};

extern const char *const sql_text[SQL_STATEMENTS];

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
