// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens and closes the SQLite database of a history file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/output.h"
#include "lib/xalloc.h"
#include "history/file_state.h"
#include "history/pack.h"

const char *const db_suffixes[] = { "-journal", "-wal", "-shm", NULL };

/* The path as a URI, in which %, ? and # are written as numbers. */
static void uri_of(const char *real, const char *options, char *ret_uri, size_t size)
{
	size_t len = (size_t)snprintf(ret_uri, size, "file:");

	for (; *real && len + 4 < size; real++) {
		if (strchr("%?#", *real))
			len += (size_t)snprintf(ret_uri + len, size - len, "%%%02X", *real);
		else
			ret_uri[len++] = *real;
	}
	snprintf(ret_uri + len, size - len, "%s", options);
}

static int try_open(struct db *db, const char *real, int flags, const char *options)
{
	char uri[3 * PATH_MAX + 32];
	int code;

	uri_of(real, options, uri, sizeof(uri));
	sqlite3_close(db->sqlite);
	db->sqlite = NULL;
	code = sqlite3_open_v2(uri, &db->sqlite, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
			       NULL);
	if (code)
		return code;
	sqlite3_extended_result_codes(db->sqlite, 1);
	sqlite3_busy_timeout(db->sqlite, DB_WAIT_MS);
	sqlite3_limit(db->sqlite, SQLITE_LIMIT_LENGTH, (int)PACK_MAX);
	db->nr_steps = 0;
	sqlite3_progress_handler(db->sqlite, DB_STEPS_AT_ONCE, db_count_steps, db);
	/* The file may be a stranger's: its schema runs nothing. */
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	errno = 0;
	code = sqlite3_exec(db->sqlite, "PRAGMA cell_size_check = 1; PRAGMA schema_version", NULL,
			    NULL, NULL);
	db->system_error = errno; /* see db_step() */
	return code;
}

/* Whether a file beside the database, its name and the suffix, has anything in it. */
static bool has_beside(const char *real, const char *suffix, struct stat *ret_stat)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s%s", real, suffix);
	return lstat(path, ret_stat) == 0 && ret_stat->st_size;
}

/*
 * Whether a journal beside the database names a file, which SQLite would remove when it takes the
 * journal back. A history has a log; its journal, of the moment when it is made, names none.
 */
static bool has_foreign_journal(const char *real)
{
	static const unsigned char magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	char path[PATH_MAX + 16];
	unsigned char end[sizeof(magic)];
	struct stat st;
	bool is_foreign = false;
	int fd;

	if (!has_beside(real, "-journal", &st))
		return false;
	snprintf(path, sizeof(path), "%s-journal", real);
	fd = S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (fd < 0)
		return true;
	if (st.st_size >= (off_t)sizeof(end))
		is_foreign = pread(fd, end, sizeof(end), st.st_size - (off_t)sizeof(end)) !=
				     (ssize_t)sizeof(end) ||
			     memcmp(end, magic, sizeof(end)) == 0;
	close(fd);
	return is_foreign;
}

/* Whether all of it is of root or of this user, and no other user can add to it. */
static bool is_ours(const char *real)
{
	char path[PATH_MAX + 16];
	struct output output;
	struct stat st;
	bool is_ours = stat(real, &st) == 0 && output_is_ours(&st);

	for (size_t i = 0; is_ours && db_suffixes[i]; i++) {
		snprintf(path, sizeof(path), "%s%s", real, db_suffixes[i]);
		is_ours = lstat(path, &st) < 0 || (S_ISREG(st.st_mode) && output_is_ours(&st));
	}
	if (!is_ours || output_find(real, &output, NULL) < 0)
		return false;
	is_ours = output_check_folder(output.folder, NULL) == 0;
	output_release(&output);
	return is_ours;
}

/*
 * What its writer has in memory is read, but not written to; without a log, there is none. SQLite
 * follows a link, and removes the log of an empty file.
 */
static int open_foreign(struct db *db, const char *real, struct error *error)
{
	struct stat log, file = { 0 };
	bool has = has_beside(real, "-wal", &log);
	int code;

	if (has && (!S_ISREG(log.st_mode) || stat(real, &file) < 0 || !file.st_size))
		return error_set(error, -EINVAL, "%s: %s-wal is not its log", db->name, db->name);
	db_foreign_register();
	code = try_open(db, real, SQLITE_OPEN_READONLY,
			has ? "?readonly_shm=1&vfs=" DB_FOREIGN : "?immutable=1");
	if (has && (code & 0xff) == SQLITE_CANTOPEN)
		return error_set(error, -EACCES,
				 "%s: %s-wal belongs to it, and others may write to "
				 "its folder: copy both into a folder of yours",
				 db->name, db->name);
	return code ? db_error(db, error) : 0;
}

static int open_to_read(struct db *db, const char *real, struct error *error)
{
	struct stat log;
	int code;

	if (has_foreign_journal(real) && !has_beside(real, "-wal", &log)) {
		code = try_open(db, real, SQLITE_OPEN_READONLY, "?immutable=1");
		return code ? db_error(db, error) : 0;
	}
	if (!is_ours(real))
		return open_foreign(db, real, error);
	code = try_open(db, real, SQLITE_OPEN_READONLY, "");

	/* Without room for shared memory: reads what others wrote there, or the log itself. */
	if (code == SQLITE_IOERR_SHMMAP || code == SQLITE_IOERR_SHMSIZE)
		code = try_open(db, real, SQLITE_OPEN_READONLY, "?readonly_shm=1");
	if ((code & 0xff) != SQLITE_CANTOPEN && (code & 0xff) != SQLITE_READONLY)
		return code ? db_error(db, error) : 0;
	/* What readers share is a file in the same folder. SQLite hides why it cannot be made. */
	if (has_beside(real, "-wal", &log))
		return error_set(error, -EACCES,
				 "%s: %s-wal belongs to it, and no file can be made "
				 "beside them: make room there, or copy both elsewhere",
				 db->name, db->name);
	code = try_open(db, real, SQLITE_OPEN_READONLY, "?immutable=1");
	return code ? db_error(db, error) : 0;
}

/*
 * Whether the file was a history, as far as its first page shows: byte 68 has the program's number.
 * A file that was cut before, or is nothing but zeros after a power failure, was one.
 */
static bool was_history(const char *real)
{
	static const char magic[] = "SQLite format 3";
	static const unsigned char zeros[100], id[] = { SQL_APPLICATION_ID >> 24,
							SQL_APPLICATION_ID >> 16 & 255,
							SQL_APPLICATION_ID >> 8 & 255,
							SQL_APPLICATION_ID & 255 };
	unsigned char head[sizeof(zeros)];
	int fd = open(real, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof(head)) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	if (n < 68 + (ssize_t)sizeof(id))
		return memcmp(head, magic, (size_t)n < sizeof(magic) ? (size_t)n :
								       sizeof(magic)) == 0;
	return memcmp(head + 68, id, sizeof(id)) == 0 || memcmp(head, zeros, (size_t)n) == 0;
}

static int run_text(struct db *db, const char *text, struct error *error)
{
	errno = 0;
	if (!sqlite3_exec(db->sqlite, text, NULL, NULL, NULL))
		return 0;
	db->system_error = errno; /* see db_step() */
	return db_error(db, error);
}

/* Whether the file is a history; *ret_is_empty: there is nothing in it yet. */
static int check_kind(struct db *db, bool *ret_is_empty, struct error *error)
{
	int64_t id, version = 0, nr_tables = 0;
	int err = db_number(db, SQL_APPLICATION, &id, error);

	if (!err)
		err = db_number(db, SQL_USER_VERSION, &version, error);
	if (!err)
		err = db_number(db, SQL_NR_TABLES, &nr_tables, error);
	if (err)
		return err;
	*ret_is_empty = !id && !version && !nr_tables;
	if (*ret_is_empty)
		return 0;
	if (id != SQL_APPLICATION_ID)
		return error_set(error, -EINVAL, "%s: a database, but not a history file of kvmtop",
				 db->name);
	if (version <= 0)
		return db_damaged(db, error);
	if (version != SQL_VERSION)
		return error_set(error, -EINVAL,
				 "%s: written by %s kvmtop (version %lld of the format, this one "
				 "reads %d): %s", db->name,
				 version > SQL_VERSION ? "a newer" : "an older",
				 (long long)version, SQL_VERSION,
				 version > SQL_VERSION ? "update kvmtop" : "choose another file");
	return 0;
}

/* SQLite has no number for the row after the largest one, and takes any. */
static int check_ids(struct db *db, struct error *error)
{
	int64_t sample, segment = 0;
	int err = db_number(db, SQL_MAX_SAMPLE, &sample, error);

	if (!err)
		err = db_number(db, SQL_MAX_SEGMENT, &segment, error);
	if (!err && (sample > SQL_SAMPLE_MAX || segment > SQL_SEGMENT_MAX))
		err = db_damaged(db, error);
	return err;
}

static int set_up(struct db *db, bool is_empty, struct error *error)
{
	static const char settings[] =
		"PRAGMA auto_vacuum = INCREMENTAL;" /* of an empty file only */
		"PRAGMA journal_mode = WAL;"
		"PRAGMA synchronous = NORMAL;"
		"PRAGMA wal_autocheckpoint = 256;" /* pages: DB_LOG_SIZE */
		"PRAGMA journal_size_limit = 1048576;"
		"PRAGMA secure_delete = OFF;";
	sqlite3_stmt *mode = NULL;
	const char *name;
	int err;

	db->writes = true;
	err = run_text(db, settings, error);
	if (!err)
		err = db_find_row(db, SQL_JOURNAL, NULL, 0, &mode, error);
	if (err)
		return err;
	name = (const char *)sqlite3_column_text(mode, 0);
	if (!name || strcmp(name, "wal") != 0)
		err = error_set(error, -EOPNOTSUPP,
				"%s: this file system cannot share memory between "
				"programs: choose a local one", db->name);
	sqlite3_reset(mode);
	if (err < 0)
		return err;
	err = is_empty ? run_text(db, sql_schema, error) : 0;
	if (err)
		sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
	return err ? err : check_ids(db, error);
}

/*
 * SQLite asks access(2), which leaves out the rights that capabilities of the program's file give,
 * although open(2) has them. EPERM: a filter of an earlier systemd lacks the system call.
 */
static int access_as_open(const char *path, int mode)
{
	int err = faccessat(AT_FDCWD, path, mode, AT_EACCESS);

	return err < 0 && errno == EPERM ? access(path, mode) : err;
}

int db_open(struct db *db, const char *name, const char *real, bool writes, struct error *error)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	struct stat log;
	bool is_empty = false;
	int err;

	vfs->xSetSystemCall(vfs, "access", (sqlite3_syscall_ptr)access_as_open);
	*db = (struct db){ .name = name };
	if (has_foreign_journal(real) && (writes || has_beside(real, "-wal", &log)))
		return error_set(error, -EINVAL,
				 "%s: \"%s-journal\" beside it is not of a history: "
				 "remove it",
				 name, path_base(name));
	if (writes) {
		int code = try_open(db, real, SQLITE_OPEN_READWRITE, "");

		err = code ? db_error(db, error) : 0;
	} else {
		err = open_to_read(db, real, error);
	}
	if (!err)
		err = check_kind(db, &is_empty, error);
	if (err == -EBADMSG && !was_history(real))
		err = error_set(error, -EINVAL,
				"%s: not a history file of kvmtop; kvmtop report shows "
				"recordings", name);
	if (!err && writes)
		err = set_up(db, is_empty, error);
	else if (!err && is_empty)
		err = error_set(error, -ENODATA, "%s: nothing was written to it yet", name);
	if (err)
		db_close(db);
	return err;
}

void db_close(struct db *db)
{
	if (!db->sqlite)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(db->statements); i++)
		sqlite3_finalize(db->statements[i]);
	/* Without room the log stays for the next writer. */
	if (!db_has_room(db)) {
		sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	} else if (db->writes) { /* fails, and no harm is done, while another program reads */
		sqlite3_busy_timeout(db->sqlite, 0);
		db_checkpoint(db, SQLITE_CHECKPOINT_TRUNCATE);
		sqlite3_exec(db->sqlite, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
	}
	sqlite3_close(db->sqlite);
	*db = (struct db){ 0 };
}
