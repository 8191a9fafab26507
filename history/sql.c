// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of a history file, and the statements. */
#include "history/db.h"

#define TEXT_OF(number) #number
#define DIGITS_OF(number) TEXT_OF(number)

/*
 * Of a sample the columns before the parts are short and first, so that a step does not read the
 * parts. The rows of minutes have numbers for names, which makes them half as large.
 */
const char sql_schema[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE segment(id INTEGER PRIMARY KEY, host TEXT, kernel TEXT, boot_id TEXT,"
	" arch TEXT, engine TEXT, nr_cpus INTEGER, interval_s REAL, began INTEGER,"
	" ended INTEGER);"
	"CREATE TABLE field(segment INTEGER, id INTEGER, name TEXT, listed TEXT, label TEXT,"
	" alias TEXT, parent INTEGER, source INTEGER, kind INTEGER, use INTEGER, part INTEGER,"
	" is_idle INTEGER, is_extra INTEGER, exit_rank INTEGER, reason INTEGER,"
	" PRIMARY KEY(segment, id)) WITHOUT ROWID;"
	"CREATE TABLE guest(segment INTEGER, id INTEGER, name TEXT, pid INTEGER, vmm TEXT,"
	" vcpus INTEGER, start_ticks INTEGER, first INTEGER, last INTEGER,"
	" PRIMARY KEY(segment, id)) WITHOUT ROWID;"
	"CREATE TABLE sample(id INTEGER PRIMARY KEY, segment INTEGER, flags INTEGER,"
	" time_ns INTEGER, elapsed_ns INTEGER, changes BLOB, guests BLOB, totals BLOB);"
	"CREATE INDEX sample_time ON sample(time_ns);"
	"CREATE INDEX sample_flags ON sample(segment, id, flags) WHERE flags <> 0;"
	"CREATE TABLE minute_row(time INTEGER, segment INTEGER, guest INTEGER, field INTEGER,"
	" count INTEGER, time_ns INTEGER, max_ns INTEGER, p50_ns INTEGER, p99_ns INTEGER,"
	" PRIMARY KEY(time, segment, guest, field)) WITHOUT ROWID;"
	"CREATE VIEW minute AS SELECT m.time AS time, g.name AS guest, g.pid AS pid,"
	" f.label AS reason, m.count AS count, m.time_ns AS time_ns, m.max_ns AS max_ns,"
	" m.p50_ns AS p50_ns, m.p99_ns AS p99_ns FROM minute_row AS m"
	" JOIN field AS f ON f.segment = m.segment AND f.id = m.field"
	" LEFT JOIN guest AS g ON g.segment = m.segment AND g.id = m.guest;"
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
	[SQL_FLAGGED] = STORED "WHERE id = (SELECT id FROM sample WHERE flags <> 0"
			       " AND segment = (SELECT segment FROM sample WHERE id = ?1)"
			       " AND id <= ?1 AND flags & ?2 ORDER BY id DESC LIMIT 1)",
	[SQL_HOLD] = "BEGIN",
	[SQL_READ_CHANGES] = "SELECT changes FROM sample WHERE id = ?1",
	[SQL_READ_TOTALS] = "SELECT totals FROM sample WHERE id = ?1",
	[SQL_READ_GUESTS] = "SELECT guests FROM sample WHERE id = ?1",
	[SQL_READ_FIELDS] = "SELECT id, name, listed, label, alias, parent, source, kind, use,"
			    " part, is_idle, is_extra, exit_rank, reason FROM field"
			    " WHERE segment = ?1 AND id >= ?2 ORDER BY id",
	[SQL_READ_SEGMENT] = "SELECT host, kernel, boot_id, arch, engine, nr_cpus, interval_s"
			     " FROM segment WHERE id = ?1",

	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_ADD_META] = "INSERT OR REPLACE INTO meta VALUES(?1, ?2)",
	[SQL_ADD_SEGMENT] = "INSERT INTO segment VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
			    " ?8)",
	[SQL_END_SEGMENT] = "UPDATE segment SET ended = ?2 WHERE id = ?1",
	[SQL_ADD_FIELD] = "INSERT INTO field VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
			  " ?11, ?12, ?13, ?14, ?15)",
	[SQL_ADD_GUEST] = "INSERT INTO guest VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
			  " ON CONFLICT(segment, id) DO UPDATE SET name = excluded.name,"
			  " pid = excluded.pid, vmm = excluded.vmm, vcpus = excluded.vcpus,"
			  " last = excluded.last",
	[SQL_ADD_SAMPLE] = "INSERT INTO sample VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	/* The clock was set back where a minute is there already. */
	[SQL_ADD_MINUTE] = "INSERT INTO minute_row VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
			   " ON CONFLICT(time, segment, guest, field) DO UPDATE SET"
			   " count = count + excluded.count,"
			   " time_ns = coalesce(time_ns + excluded.time_ns, time_ns,"
			   " excluded.time_ns),"
			   " max_ns = max(coalesce(max_ns, excluded.max_ns),"
			   " coalesce(excluded.max_ns, max_ns)),"
			   " p50_ns = max(coalesce(p50_ns, excluded.p50_ns),"
			   " coalesce(excluded.p50_ns, p50_ns)),"
			   " p99_ns = max(coalesce(p99_ns, excluded.p99_ns),"
			   " coalesce(excluded.p99_ns, p99_ns))",
	[SQL_ADD_NOTE] = "INSERT INTO note VALUES(?1, ?2, ?3)",

	[SQL_ADD_CLOCK] = "INSERT OR REPLACE INTO clock VALUES(?1, ?2, ?3, ?4)",
	/* The latest sample's time: its segment's clock and the intervals after that. */
	[SQL_LAST_CLOCK] = "SELECT recorded_ns, monotonic_ns, (SELECT coalesce(sum(elapsed_ns), 0)"
			   " FROM sample WHERE id > clock.sample), (SELECT boot_id FROM segment"
			   " ORDER BY id DESC LIMIT 1) FROM clock ORDER BY sample DESC LIMIT 1",

	[SQL_PAGE_SIZE] = "PRAGMA page_size",
	[SQL_PAGES] = "PRAGMA page_count",
	[SQL_FREE_PAGES] = "PRAGMA freelist_count",
	[SQL_VACUUM] = "PRAGMA incremental_vacuum(1024)",
	/* The second sample with totals: what is before it can be dropped. */
	[SQL_NEXT_RUN] = "SELECT id, segment, (SELECT before_ns FROM clock WHERE sample = id)"
			 " FROM sample AS next WHERE id > (SELECT min(id) FROM sample)"
			 " AND flags & 8 ORDER BY id LIMIT 1",
	[SQL_OLDEST] = "SELECT min(time_ns) FROM sample",
	[SQL_DROP_SAMPLES] = "DELETE FROM sample WHERE id < ?1",
	[SQL_DROP_CLOCKS] = "DELETE FROM clock WHERE sample < ?1",
	[SQL_DROP_MINUTES] = "DELETE FROM minute_row WHERE time < ?1 AND segment <= ?2",
	[SQL_DROP_NOTES] = "DELETE FROM note WHERE time < ?1 AND segment <= ?2",
	[SQL_DROP_GUESTS] = "DELETE FROM guest WHERE segment < ?2 OR"
			    " (segment = ?2 AND last < ?1)",
	[SQL_DROP_FIELDS] = "DELETE FROM field WHERE segment < ?1",
	[SQL_DROP_SEGMENTS] = "DELETE FROM segment WHERE id < ?1",
};
