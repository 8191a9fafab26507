// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of a history file, its statements and how they run, and SQLite's errors in words. */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "lib/xalloc.h"
#include "history/file_state.h"

/*
 * In a damaged file a page may be below many others, so that a statement has rows without end.
 * Rows are read in fewer steps of SQLite's machine than these; a writer drops many rows at once.
 */
#define STEPS_READING 100 /* times DB_STEPS_AT_ONCE */
#define STEPS_WRITING 2000

#define TEXT_OF(number) #number
#define DIGITS_OF(number) TEXT_OF(number)

/*
 * A sample's short columns come before its parts, so that a step does not read the parts. The rows
 * of minutes have numbers for names, which makes them half as large.
 */
const char sql_schema[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE segment(id INTEGER PRIMARY KEY, host TEXT, kernel TEXT, boot_id TEXT,"
	" arch TEXT, engine TEXT, nr_cpus INTEGER, interval_s REAL, began INTEGER,"
	" ended INTEGER);"
	"CREATE TABLE field(id INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER,"
	" name TEXT UNIQUE, listed TEXT, label TEXT, alias TEXT, parent INTEGER, source INTEGER,"
	" kind INTEGER, use INTEGER, part INTEGER, is_idle INTEGER, is_extra INTEGER,"
	" exit_rank INTEGER, reason INTEGER);"
	"CREATE TABLE guest(id INTEGER PRIMARY KEY AUTOINCREMENT, boot_id TEXT, pid INTEGER,"
	" start_ticks INTEGER, name TEXT, is_named INTEGER, vmm TEXT, vms INTEGER, vcpus INTEGER,"
	" came INTEGER, seen INTEGER, went INTEGER, first INTEGER, last INTEGER, uuid TEXT,"
	" platform_id TEXT, title TEXT, project TEXT, flavor TEXT, pod TEXT);"
	"CREATE UNIQUE INDEX guest_identity ON guest(boot_id, pid, start_ticks);"
	"CREATE TABLE vcpu(guest INTEGER, vcpu INTEGER, tid INTEGER, came INTEGER, seen INTEGER,"
	" went INTEGER, PRIMARY KEY(guest, vcpu)) WITHOUT ROWID;"
	"CREATE TABLE sample(id INTEGER PRIMARY KEY, segment INTEGER, flags INTEGER,"
	" time_ns INTEGER, elapsed_ns INTEGER, changes BLOB, hists BLOB,"
	" totals BLOB, total_hists BLOB, long_exits BLOB);"
	"CREATE INDEX sample_time ON sample(time_ns);"
	"CREATE INDEX sample_flags ON sample(segment, id, flags) WHERE flags <> 0;"
	"CREATE TABLE minute_row(time INTEGER, guest INTEGER, field INTEGER, count INTEGER,"
	" time_ns INTEGER, max_ns INTEGER, p50_ns INTEGER, p99_ns INTEGER,"
	" PRIMARY KEY(time, guest, field)) WITHOUT ROWID;"
	"CREATE VIEW minute AS SELECT m.time AS time, g.name AS guest, g.pid AS pid,"
	" f.label AS reason, m.count AS count, m.time_ns AS time_ns, m.max_ns AS max_ns,"
	" m.p50_ns AS p50_ns, m.p99_ns AS p99_ns FROM minute_row AS m"
	" JOIN field AS f ON f.id = m.field LEFT JOIN guest AS g ON g.id = m.guest;"
	"CREATE TABLE note(time INTEGER, segment INTEGER, text TEXT);"
	"CREATE TABLE clock(sample INTEGER PRIMARY KEY, before_ns INTEGER, recorded_ns INTEGER,"
	" monotonic_ns INTEGER);"
	"PRAGMA application_id = " DIGITS_OF(SQL_APPLICATION_ID) ";"
	"PRAGMA user_version = " DIGITS_OF(SQL_VERSION) ";"
	"COMMIT;";

#define STORED "SELECT id, segment, flags, time_ns, elapsed_ns FROM sample "

const char *const sql_text[SQL_STATEMENTS] = {
	[SQL_APPLICATION] = "PRAGMA application_id",
	[SQL_USER_VERSION] = "PRAGMA user_version",
	[SQL_NR_TABLES] = "SELECT count(*) FROM sqlite_master",
	[SQL_JOURNAL] = "PRAGMA journal_mode",
	[SQL_MAX_SAMPLE] = "SELECT coalesce(max(id), 0) FROM sample",
	[SQL_MAX_SEGMENT] = "SELECT coalesce(max(id), 0) FROM segment",

	[SQL_LAST] = STORED "ORDER BY id DESC LIMIT 1",
	[SQL_FIRST] = STORED "ORDER BY id LIMIT 1",
	[SQL_AT] = STORED "WHERE time_ns <= ?1 ORDER BY time_ns DESC, id DESC LIMIT 1",
	[SQL_NEXT] = STORED "WHERE id > ?1 ORDER BY id LIMIT 1",
	[SQL_BEFORE] = STORED "WHERE id < ?1 ORDER BY id DESC LIMIT 1",
	/* By the index of times alone, which has the ids. */
	[SQL_RUNS] = "SELECT min(id), max(id), count(*) FROM sample"
		     " WHERE time_ns > ?1 AND time_ns <= ?2 AND +id < ?3",
	[SQL_BEFORE_RUN] = STORED "WHERE id < ?3 AND (+time_ns <= ?1 OR +time_ns > ?2)"
				  " ORDER BY id DESC LIMIT 1",
	[SQL_FLAGGED] = STORED "WHERE id = (SELECT id FROM sample WHERE flags <> 0"
			       " AND segment = (SELECT segment FROM sample WHERE id = ?1)"
			       " AND id <= ?1 AND flags & ?2 ORDER BY id DESC LIMIT 1)",
	[SQL_HOLD] = "BEGIN",
	[SQL_READ_CHANGES] = "SELECT changes FROM sample WHERE id = ?1",
	[SQL_READ_HISTS] = "SELECT hists FROM sample WHERE id = ?1",
	[SQL_READ_TOTALS] = "SELECT totals FROM sample WHERE id = ?1",
	[SQL_READ_TOTAL_HISTS] = "SELECT total_hists FROM sample WHERE id = ?1",
	[SQL_READ_LONG_EXITS] = "SELECT long_exits FROM sample WHERE id = ?1",
	/* There at the sample, and what had ended in its segment in the ten minutes before. */
	[SQL_READ_GUESTS] = "SELECT id, pid, start_ticks, name, vmm, is_named, vms, went,"
			    " went IS NOT NULL AND went <= ?1 AS has_ended, uuid, platform_id,"
			    " title, project, flavor, pod FROM guest"
			    " WHERE came <= ?1 AND (went IS NULL OR went > ?1 OR (last >= ?3"
			    " AND went > (SELECT coalesce(max(id), 0) FROM sample"
			    " WHERE segment = ?2 AND id <= ?1 AND flags <> 0 AND flags & 1)))"
			    " ORDER BY has_ended DESC, went, id",
	[SQL_READ_VCPUS] = "SELECT vcpu, tid FROM vcpu WHERE guest = ?1 AND came <= ?2"
			   " AND (went IS NULL OR went > ?2 OR went = ?3) ORDER BY vcpu",
	[SQL_READ_FIELDS] = "SELECT id, name, listed, label, alias, parent, source, kind, use,"
			    " part, is_idle, is_extra, exit_rank, reason FROM field"
			    " WHERE id >= ?1 ORDER BY id",
	[SQL_READ_SEGMENT] = "SELECT host, kernel, boot_id, arch, engine, nr_cpus, interval_s"
			     " FROM segment WHERE id = ?1",

	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_ADD_META] = "INSERT OR REPLACE INTO meta(key, value)"
		" VALUES(?1, ?2)",
	[SQL_ADD_SEGMENT] = "INSERT INTO segment(id, host, kernel, boot_id, arch, engine,"
		" nr_cpus, interval_s, began, ended)"
		" VALUES(NULL, :host, :kernel, :boot_id, :arch, :engine, :nr_cpus, :interval_s,"
		" :began, :began)",
	[SQL_END_SEGMENT] = "UPDATE segment SET ended = ?1 WHERE id = ?2",
	[SQL_FIND_FIELD] = "SELECT id FROM field WHERE name = ?1",
	[SQL_KEEP_FIELD] = "UPDATE field SET segment = ?2 WHERE id = ?1",
	[SQL_ADD_FIELD] = "INSERT INTO field(id, segment, name, listed, label, alias, parent,"
		" source, kind, use, part, is_idle, is_extra, exit_rank, reason)"
		" VALUES(NULL, :segment, :name, :listed, :label, :alias, :parent, :source, :kind,"
		" :use, :part, :is_idle, :is_extra, :exit_rank, :reason)",
	[SQL_FIND_GUEST] = "SELECT id FROM guest WHERE boot_id = ?1 AND pid = ?2"
			   " AND start_ticks = ?3",
	[SQL_ADD_GUEST] = "INSERT INTO guest(id, boot_id, pid, start_ticks, name, is_named,"
		" vmm, vms, vcpus, came, seen, went, first, last, uuid, platform_id, title,"
		" project, flavor, pod)"
		" VALUES(NULL, :boot_id, :pid, :start_ticks, :name, :is_named, :vmm, :vms, :vcpus,"
		" :seen, :seen, :went, :last, :last, :uuid, :id, :title, :project,"
		" :flavor, :pod)",
	[SQL_SEE_GUEST] = "UPDATE guest SET name = :name, is_named = :is_named, vmm = :vmm,"
		" vms = :vms, vcpus = :vcpus, seen = :seen, went = NULL, last = :last,"
		" uuid = :uuid, platform_id = :id, title = :title, project = :project,"
		" flavor = :flavor, pod = :pod WHERE id = :guest",
	[SQL_SEE_GUESTS] = "UPDATE guest SET last = ?1 WHERE went IS NULL",
	[SQL_ADD_VCPU] = "INSERT INTO vcpu(guest, vcpu, tid, came, seen, went)"
		" VALUES(:guest, :vcpu, :tid, :seen, :seen, :went)"
			 " ON CONFLICT(guest, vcpu) DO UPDATE SET tid = excluded.tid,"
			 " seen = excluded.seen, went = excluded.went",
	[SQL_NOTE_GUEST] = "INSERT INTO note(time, segment, text)"
		" SELECT ?1, ?2, 'guest ' || name || ' (pid ' || pid ||"
			   " ') ' || ?4 FROM guest WHERE id = ?3",
	[SQL_NOTE_ENDED] = "INSERT INTO note(time, segment, text)"
		" SELECT ?1, ?2, 'guest ' || name || ' (pid ' || pid ||"
			   " ') ended' FROM guest WHERE went IS NULL AND seen <> ?3 ORDER BY id",
	[SQL_END_GUESTS] = "UPDATE guest SET went = ?1, last = ?2 WHERE went IS NULL"
			   " AND seen <> ?1",
	[SQL_LEAVE_GUESTS] = "UPDATE guest SET went = ?1 WHERE went IS NULL AND seen <> ?1",
	[SQL_END_VCPUS] = "UPDATE vcpu SET went = ?1 WHERE went IS NULL AND seen <> ?1",
	[SQL_ADD_SAMPLE] = "INSERT INTO sample(id, segment, flags, time_ns, elapsed_ns,"
		" changes, hists, totals, total_hists, long_exits)"
		" VALUES(NULL, :segment, :flags, :time_ns, :elapsed_ns, :changes, :hists, :totals,"
		" :total_hists, :long_exits)",
	/* A minute is there already of another writer, or where the clock was set back. */
	[SQL_ADD_MINUTE] = "INSERT INTO minute_row(time, guest, field, count, time_ns, max_ns,"
		" p50_ns, p99_ns)"
		" VALUES(:time, :guest, :field, :count, :time_ns, :max_ns, :p50_ns, :p99_ns)"
			   " ON CONFLICT(time, guest, field) DO UPDATE SET"
			   " count = count + excluded.count,"
			   " time_ns = coalesce(time_ns + excluded.time_ns, time_ns,"
			   " excluded.time_ns),"
			   " max_ns = max(coalesce(max_ns, excluded.max_ns),"
			   " coalesce(excluded.max_ns, max_ns)),"
			   " p50_ns = max(coalesce(p50_ns, excluded.p50_ns),"
			   " coalesce(excluded.p50_ns, p50_ns)),"
			   " p99_ns = max(coalesce(p99_ns, excluded.p99_ns),"
			   " coalesce(excluded.p99_ns, p99_ns))",
	[SQL_ADD_NOTE] = "INSERT INTO note(time, segment, text)"
		" VALUES(?1, ?2, ?3)",

	[SQL_ADD_CLOCK] = "INSERT OR REPLACE INTO clock(sample, before_ns, recorded_ns,"
		" monotonic_ns)"
		" VALUES(:sample, :before_ns, :recorded_ns, :monotonic_ns)",
	/* The latest sample's time: its segment's clock and the intervals after that. */
	[SQL_LAST_CLOCK] = "SELECT recorded_ns, monotonic_ns, (SELECT coalesce(sum(elapsed_ns), 0)"
			   " FROM sample WHERE id > clock.sample), (SELECT boot_id FROM segment"
			   " ORDER BY id DESC LIMIT 1) FROM clock ORDER BY sample DESC LIMIT 1",

	[SQL_PAGE_SIZE] = "PRAGMA page_size",
	[SQL_PAGES] = "PRAGMA page_count",
	[SQL_FREE_PAGES] = "PRAGMA freelist_count",
	[SQL_VACUUM] = "PRAGMA incremental_vacuum(1024)",
	/* The second sample with totals: what is before it can be dropped. */
	[SQL_NEXT_BATCH] = "SELECT id, segment, (SELECT before_ns FROM clock WHERE sample = id)"
			 " FROM sample AS next WHERE id > (SELECT min(id) FROM sample)"
			 " AND flags & 8 ORDER BY id LIMIT 1",
	[SQL_OLDEST] = "SELECT min(time_ns) FROM sample",
	[SQL_DROP_SAMPLES] = "DELETE FROM sample WHERE id < ?1",
	[SQL_DROP_CLOCKS] = "DELETE FROM clock WHERE sample < ?1",
	[SQL_DROP_MINUTES] = "DELETE FROM minute_row WHERE time < ?1",
	[SQL_DROP_NOTES] = "DELETE FROM note WHERE time < ?1 AND segment <= ?2",
	[SQL_DROP_GUESTS] = "DELETE FROM guest WHERE went <= ?1 AND last < ?2",
	[SQL_DROP_VCPUS] = "DELETE FROM vcpu WHERE guest NOT IN (SELECT id FROM guest)",
	[SQL_DROP_FIELDS] = "DELETE FROM field WHERE segment < ?1",
	[SQL_DROP_SEGMENTS] = "DELETE FROM segment WHERE id < ?1",
};

/* ---- errors */

int db_damaged(const struct db *db, struct error *error)
{
	return error_set(error, -EBADMSG,
			 "%s: damaged: move it away; sqlite3 FILE .recover prints what can be read",
			 db->name);
}

static int no_room(const struct db *db, struct error *error)
{
	return error_set(error, -ENOSPC, "%s: the disk is full: remove files, or lower "
			 "--max-size", db->name);
}

static int system_error(const struct db *db, int code, struct error *error)
{
	int number = db->system_error ? db->system_error : sqlite3_system_errno(db->sqlite);

	switch (number) {
	case ENOSPC:
		return no_room(db, error);
	case EFBIG:
		return error_set(error, -EFBIG,
				 "%s: may not become larger: raise ulimit -f, or lower "
					    "--max-size", db->name);
	case EDQUOT:
		return error_set(error, -EDQUOT, "%s: the quota is used up: remove files, or lower "
				 "--max-size", db->name);
	case 0:
		return error_set(error, -EIO, "%s: %s", db->name, sqlite3_errstr(code));
	default:
		return error_set(error, -number, "%s: %s", db->name, strerror(number));
	}
}

int db_error(const struct db *db, struct error *error)
{
	int code = sqlite3_extended_errcode(db->sqlite);

	switch (code & 0xff) {
	case SQLITE_NOMEM:
		out_of_memory();
	case SQLITE_FULL:
		return no_room(db, error);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return error_set(error, -EBUSY, "%s: another program has locked it: end that "
				 "program's transaction", db->name);
	case SQLITE_READONLY:
		return error_set(error, -EROFS, "%s: the file, or its folder, cannot be written to",
				 db->name);
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return error_set(error, -EACCES, "%s: %s", db->name, strerror(EACCES));
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return system_error(db, code, error);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_INTERRUPT: /* pages in a circle: see db_count_steps() */
		return db_damaged(db, error);
	default:
		return error_set(error, -EINVAL, "%s: not as kvmtop makes it: %s", db->name,
				 sqlite3_errmsg(db->sqlite));
	}
}

/* ---- statements */

int db_count_steps(void *arg)
{
	struct db *db = arg;

	return ++db->nr_steps > (db->writes ? STEPS_WRITING : STEPS_READING);
}

/* ramfs, and tmpfs without a limit, say 0 blocks. */
bool db_has_room(const struct db *db)
{
	struct statvfs disk;

	return statvfs(sqlite3_db_filename(db->sqlite, NULL), &disk) < 0 || !disk.f_blocks ||
	       disk.f_bavail * disk.f_frsize >= DB_LOG_SIZE;
}

static int parameter_of(sqlite3_stmt *statement, const struct db_value *value, int place)
{
	char name[32] = ":";

	if (!value->name)
		return place;
	strncat(name, value->name, sizeof(name) - 2);
	return sqlite3_bind_parameter_index(statement, name);
}

/* An error of SQLite's; SQLITE_RANGE where the statement has no such parameter. */
static int bind(sqlite3_stmt *statement, int parameter, const struct db_value *value)
{
	int64_t number = value->number > INT64_MAX ? INT64_MAX : (int64_t)value->number;

	switch (value->type) {
	case DB_IS_NUMBER:
		return sqlite3_bind_int64(statement, parameter, number);
	case DB_IS_REAL:
		return sqlite3_bind_double(statement, parameter, value->real);
	case DB_IS_TEXT:
		return sqlite3_bind_text(statement, parameter, value->bytes, -1, SQLITE_STATIC);
	case DB_IS_BYTES:
		return sqlite3_bind_blob64(statement, parameter, value->bytes, value->number,
					   SQLITE_STATIC);
	case DB_IS_NULL:
		break;
	}
	return sqlite3_bind_null(statement, parameter);
}

int db_prepare(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
	       sqlite3_stmt **ret_statement, struct error *error)
{
	sqlite3_stmt **statement = &db->statements[sql];

	db->nr_steps = 0;
	db->system_error = 0;
	if (!*statement && sqlite3_prepare_v3(db->sqlite, sql_text[sql], -1,
					      SQLITE_PREPARE_PERSISTENT, statement, NULL))
		return db_error(db, error);
	sqlite3_reset(*statement);
	sqlite3_clear_bindings(*statement);
	for (size_t i = 0; i < nr; i++) {
		if (bind(*statement, parameter_of(*statement, &values[i], (int)i + 1), &values[i]))
			return db_error(db, error);
	}
	*ret_statement = *statement;
	return 0;
}

int db_step(struct db *db, sqlite3_stmt *statement, struct error *error)
{
	int code, err = 0;

	errno = 0;
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		return 1;
	db->system_error = errno; /* SQLite has forgotten it when a COMMIT fails */
	if (code != SQLITE_DONE)
		err = db_error(db, error);
	sqlite3_reset(statement);
	return err;
}

int db_find_row(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
		sqlite3_stmt **ret_row, struct error *error)
{
	int err = db_prepare(db, sql, values, nr, ret_row, error);

	if (err)
		return err;
	err = db_step(db, *ret_row, error);
	return err > 0 ? 0 : err ? err : -ENOENT;
}

int db_run_with(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
		struct error *error)
{
	sqlite3_stmt *statement;
	int err = db_prepare(db, sql, values, nr, &statement, error);

	if (err)
		return err;
	do
		err = db_step(db, statement, error);
	while (err > 0);
	return err;
}

int db_begin(struct db *db, struct error *error)
{
	return db_has_room(db) ? db_run(db, SQL_BEGIN, error) : no_room(db, error);
}

int db_run(struct db *db, enum sql sql, struct error *error)
{
	return db_run_with(db, sql, NULL, 0, error);
}

int db_find(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
	    int64_t *ret_number, struct error *error)
{
	sqlite3_stmt *row;
	int err = db_find_row(db, sql, values, nr, &row, error);

	if (err)
		return err;
	*ret_number = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	return 0;
}

int db_number(struct db *db, enum sql sql, int64_t *ret_number, struct error *error)
{
	int err = db_find(db, sql, NULL, 0, ret_number, error);

	return err == -ENOENT ? db_damaged(db, error) : err;
}

int db_checkpoint(struct db *db, int mode)
{
	return sqlite3_wal_checkpoint_v2(db->sqlite, NULL, mode, NULL, NULL);
}
