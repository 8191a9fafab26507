/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_state - what an open history file consists of; for file*.c, db.c and sql.c only.
 */
#ifndef KVMTOP_HISTORY_FILE_STATE_H
#define KVMTOP_HISTORY_FILE_STATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "history/file.h"
#include "history/moment.h"
#include "core/guests/guests.h"
#include "lib/error.h"

/* ---- sql.c, db.c: the SQLite database, see kvmtop-history(5)
 *
 * Functions return 0, or -errno with error:
 *	-EINVAL		a file of another program, or of a newer version
 *	-EBADMSG	damaged
 *	-EBUSY		another program holds a lock
 *	-ENOSPC, -EDQUOT, -EFBIG, -EROFS, -EACCES, -ENOENT, -EIO ...	as the system has them
 */

#define SQL_APPLICATION_ID 0x6b766d68 /* "kvmh" */
#define SQL_VERSION 2		      /* PRAGMA user_version */

/* Ids of samples and segments are below; a writer goes on after the largest. */
#define SQL_SAMPLE_MAX (INT64_MAX / 2)
#define SQL_SEGMENT_MAX (UINT32_MAX / 2)

/* There are tables by the id of a field: a larger one is damage. */
#define SQL_FIELD_MAX ((1U << 24) - 1)

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
	SQL_RUNS,
	SQL_BEFORE_RUN,
	SQL_FLAGGED,
	SQL_HOLD,
	SQL_READ_CHANGES, /* the parts, as enum moment_part */
	SQL_READ_HISTS,
	SQL_READ_TOTALS,
	SQL_READ_TOTAL_HISTS,
	SQL_READ_LONG_EXITS,
	SQL_READ_GUESTS,
	SQL_READ_VCPUS,
	SQL_READ_FIELDS,
	SQL_READ_SEGMENT,

	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_ADD_META,
	SQL_ADD_SEGMENT,
	SQL_END_SEGMENT,
	SQL_FIND_FIELD,
	SQL_KEEP_FIELD,
	SQL_ADD_FIELD,
	SQL_FIND_GUEST,
	SQL_ADD_GUEST,
	SQL_SEE_GUEST,
	SQL_SEE_GUESTS,
	SQL_ADD_VCPU,
	SQL_NOTE_GUEST,
	SQL_NOTE_ENDED,
	SQL_END_GUESTS,
	SQL_LEAVE_GUESTS,
	SQL_END_VCPUS,
	SQL_ADD_SAMPLE,
	SQL_ADD_MINUTE,
	SQL_ADD_NOTE,
	SQL_ADD_CLOCK,
	SQL_LAST_CLOCK,

	SQL_PAGE_SIZE,
	SQL_PAGES,
	SQL_FREE_PAGES,
	SQL_VACUUM,
	SQL_NEXT_BATCH,
	SQL_OLDEST,
	SQL_DROP_SAMPLES,
	SQL_DROP_CLOCKS,
	SQL_DROP_MINUTES,
	SQL_DROP_NOTES,
	SQL_DROP_GUESTS,
	SQL_DROP_VCPUS,
	SQL_DROP_FIELDS,
	SQL_DROP_SEGMENTS,
	SQL_STATEMENTS,
};

extern const char *const sql_text[SQL_STATEMENTS];

/* A progress handler and how often it is called: a statement of a damaged file must end. */
#define DB_STEPS_AT_ONCE (1000 * 1000) /* of SQLite's machine */
int db_count_steps(void *arg);

#define DB_LOG_SIZE (1024 * 1024) /* of the -wal when it is written back into the file */
#define DB_WAIT_MS 1000 /* for a lock of another program */

/* Zero-initialised: closed. */
struct db {
	const char *name; /* the path as the user wrote it, for messages; the caller's */
	sqlite3 *sqlite;
	bool writes;
	unsigned int nr_steps; /* of the statement, see db_count_steps() */
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
int db_open(struct db *db, const char *name, const char *real, bool writes, struct error *error);

/* Closes the database. A writer's becomes one file, unless another program reads it. */
void db_close(struct db *db);

/*
 * ---- db_foreign.c: the name of SQLite's functions for files of a foreign database: of what its
 * owner can make shorter nothing is mapped.
 */
#define DB_FOREIGN "kvmtop-foreign"
void db_foreign_register(void);

/*
 * Whether the disk has as much room as the log may need. SQLite writes to memory that is a file,
 * -shm. On a file system that never writes in place, btrfs for one, a full disk is a SIGBUS there,
 * which ends the program: so the disk must not become full.
 */
bool db_has_room(const struct db *db);

/* Begins a transaction to write. -ENOSPC, too: the disk has less room than the log may need. */
int db_begin(struct db *db, struct error *error);

/* Runs a statement that has no parameters and no rows. */
int db_run(struct db *db, enum sql sql, struct error *error);

/* A parameter's value. Zero-initialised, and a text that is NULL: NULL. */
struct db_value {
	const char *name; /* of the parameter, "pid" for :pid; NULL: the place tells, ?1 first */
	enum { DB_IS_NULL, DB_IS_NUMBER, DB_IS_REAL, DB_IS_TEXT, DB_IS_BYTES } type;
	uint64_t number; /* or the size of the bytes; SQLite's largest one stands for all above */
	double real;
	const void *bytes; /* or the text; outlives the statement's rows */
};
#define DB_NUMBER(its) ((struct db_value){ .type = DB_IS_NUMBER, .number = (uint64_t)(its) })
#define DB_REAL(its) ((struct db_value){ .type = DB_IS_REAL, .real = (its) })
#define DB_TEXT(its) ((struct db_value){ .type = DB_IS_TEXT, .bytes = (its) })
#define DB_BYTES(its, size) \
	((struct db_value){ .type = DB_IS_BYTES, .number = (size), .bytes = (its) })

/* The value of a row's column, for statements that write rows. Guests' words have their names. */
static inline struct db_value db_column(const char *name, struct db_value value)
{
	value.name = name;
	return value;
}

/* The statement with the values of its parameters, for db_step(). */
int db_prepare(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
	       sqlite3_stmt **ret_statement, struct error *error);

/* The next row: 1; 0: there are no more; -errno. After 0 and -errno the statement is reset. */
int db_step(struct db *db, sqlite3_stmt *statement, struct error *error);

/* The first row, of a statement to be reset. -ENOENT: there is no row. */
int db_find_row(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
		sqlite3_stmt **ret_row, struct error *error);

/* Runs a statement with the values of its parameters, and no rows. */
int db_run_with(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
		struct error *error);

/* The number in the first row. -ENOENT: there is no row. */
int db_find(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
	    int64_t *ret_number, struct error *error);

/* Runs a statement that has one row with one number. */
int db_number(struct db *db, enum sql sql, int64_t *ret_number, struct error *error);

/* Writes the log back into the file, see sqlite3_wal_checkpoint_v2(); returns SQLite's code. */
int db_checkpoint(struct db *db, int mode);

/* What the latest call of SQLite failed with. */
int db_error(const struct db *db, struct error *error);

/* -EBADMSG, with error. */
int db_damaged(const struct db *db, struct error *error);

/* ---- file_ids.c: the fields and guests of the file */

/* By a writer's id, the file's. Zero-initialised is empty. */
struct file_ids {
	uint32_t *list; /* 0: none */
	size_t nr, room;
};

/* 0: none. */
uint32_t file_ids_of(const struct file_ids *ids, uint32_t here);
void file_ids_forget(struct file_ids *ids);

struct history_file;

/* Within a transaction: rows for fields that have no id yet. */
int file_add_fields(struct history_file *file, struct error *error);

/* Within a transaction: the inventory from the next sample on. */
int file_add_guests(struct history_file *file, const struct guests *guests, uint64_t time_ns,
		    struct error *error);

/* Replaces ids by the file's. What has none in the file is dropped. */
void file_map_changes(const struct history_file *file, struct changes *changes);
/* The same of long exits; of a guest that no inventory had, the guest is not known. */
void file_map_long_exits(const struct history_file *file, struct long_exits *exits);

/*
 * ---- minutes.c: the exits of a minute by guest and reason, summed up from its moments. A moment
 * is in the minute of the middle of its interval.
 */

/* Zero-initialised: nothing was added. */
struct minutes {
	uint64_t start_s; /* of the minute that is summed up, in seconds since 1970; 0: none is */
	struct minute_sum *sums;
	struct minute_sum *next; /* where the next key likely is: they come in the same order */
};

/* In which minute a moment is. */
uint64_t minute_of(const struct moment *moment);

/* Adds a moment of the file to the minute. */
void minutes_add(struct history_file *file, const struct moment *moment);

/* Within a transaction: the rows of the minute, ascending by guest and field. */
int minutes_write(struct history_file *file, struct error *error);

/* Begins with the next minute. */
void minutes_reset(struct minutes *minutes);
void minutes_release(struct minutes *minutes);

/* The second moment with totals; id 0: there is none. */
struct next_batch {
	uint64_t id;
	uint32_t segment;
	uint64_t before_ns; /* recorded up to the moment before it */
};

/*
 * How old moments are, whatever the wall clock says: the time that was recorded from the file's
 * begin on, and CLOCK_MONOTONIC of the boot at the same moment, 0 if it is not known.
 */
struct file_clock {
	uint64_t recorded_ns, monotonic_ns;
};

struct history_file {
	struct db db; /* closed: it could not be made anew, and is tried again */
	char *name;   /* as the user wrote it */
	char *real;   /* absolute */

	/* The rest is of a writer. */
	int lock;	 /* the file, with the lock of a writer; -1: none */
	struct stat own; /* the file that is locked, or read */
	bool has_log;	 /* there is a -wal */
	struct segment segment;
	struct file_limits limits;
	uint32_t segment_id;	   /* 0: not begun in the file */
	struct fields *fields;	   /* of the segment, by the writer's ids */
	struct file_ids field_ids, guest_ids;
	struct file_ids fields_here; /* by the file's id, 1 + the writer's */
	bool has_ids;	 /* moments have the file's: it is the one in which they were looked up */
	bool has_guests; /* an inventory of the segment is in the file */
	struct minutes minutes;
	uint64_t latest_ns;	/* of the latest moment in the file */
	struct file_clock clock; /* of the same */
	uint64_t nr_dropping;	/* moments, in this transaction */
	_Atomic uint64_t nr_dropped;
	bool needs_totals;	/* the next moment needs them */
	uint64_t totals_size;	/* bytes of the latest moment that has them */
	uint64_t batch_size;	/* of it and the moments since */
	bool was_replaced;	/* by another program, and no note says so yet */
	bool has_next_batch;	/* next_batch is right */
	struct next_batch next_batch;
};

/* Neither opens nor locks anything. 0, or -errno with error. */
int history_file_new(const char *path, bool writes, struct history_file **ret_file,
		     struct error *error);
void history_file_free(struct history_file *file); /* NULL is fine */

/*
 * Locks the file for a writer, and opens the database; and the reverse. A damaged file is set
 * aside; then 0 is returned, and error says so.
 */
int history_file_enter(struct history_file *file, struct error *error);
void history_file_leave(struct history_file *file);

/*
 * Leaves the file and renames it, with what belongs to it: it is damaged. 0 or -errno; error says
 * both in any case.
 */
int history_file_set_aside(struct history_file *file, struct error *error);

/* False: the file that is written to, or the log beside it, was removed or replaced. */
bool history_file_is_there(struct history_file *file);

/* The size of the log that SQLite has beside the file. */
uint64_t history_file_log_size(const struct history_file *file, bool *ret_exists);

/*
 * Drops the oldest batches of moments that are more than the limits allow, and shrinks the file; a
 * bounded part of it with each call, within a transaction. recorded_ns: up to the latest moment.
 */
int history_file_keep_limits(struct history_file *file, uint64_t recorded_ns, struct error *error);

/* The clock of the moment that is next to be written. */
struct file_clock history_file_next_clock(const struct history_file *file,
					  const struct moment *moment);

/* Stores the clock of a moment with totals. */
int history_file_add_clock(struct history_file *file, uint64_t id, const struct file_clock *clock,
			   struct error *error);

#endif
