// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps a history file within its age and size. */
#include <string.h>

#include "lib/array.h"
#include "history/file_state.h"

#define SECOND UINT64_C(1000000000)
#define RUNS_AT_ONCE 4
#define ROOM (DB_LOG_SIZE + 256 * 1024) /* bytes for what comes before the next look at the size */

/* From one moment with totals to the next is a run: what remains begins with totals. */
static int find_next_run(struct history_file *file, struct why *why)
{
	struct db *db = &file->db;
	sqlite3_stmt *row;
	int err;

	if (file->has_next_run)
		return 0;
	err = db_prepare(db, SQL_NEXT_RUN, &row, why);
	if (!err)
		err = db_step(db, row, why);
	if (err < 0)
		return err;
	file->next_run = (struct next_run){ 0 };
	if (err) {
		file->next_run.id = (uint64_t)sqlite3_column_int64(row, 0);
		file->next_run.segment = (uint32_t)sqlite3_column_int64(row, 1);
		/* Not known, in a damaged file: as if it were new. */
		file->next_run.before_ns = sqlite3_column_type(row, 2) == SQLITE_INTEGER ?
						     (uint64_t)sqlite3_column_int64(row, 2) :
						     UINT64_MAX;
		file->has_next_run = true;
	}
	sqlite3_reset(row);
	return 0;
}

struct usage {
	int64_t page_size, pages, free_pages;
	uint64_t log;
};

static int get_usage(struct history_file *file, struct usage *ret_usage, struct why *why)
{
	struct usage *usage = ret_usage;
	bool has_log;
	int err = db_number(&file->db, SQL_PAGE_SIZE, &usage->page_size, why);

	if (!err)
		err = db_number(&file->db, SQL_PAGES, &usage->pages, why);
	if (!err)
		err = db_number(&file->db, SQL_FREE_PAGES, &usage->free_pages, why);
	usage->log = history_file_log_size(file, &has_log);
	/* A log that a reader keeps from being emptied drops no moments. */
	usage->log = usage->log > DB_LOG_SIZE && usage->log < file->limits.size / 8 ?
			     usage->log - DB_LOG_SIZE : 0;
	return err;
}

static bool is_too_old(const struct history_file *file, uint64_t recorded_ns)
{
	const struct file_limits *limits = &file->limits;

	return limits->age_ns && recorded_ns > file->next_run.before_ns &&
	       recorded_ns - file->next_run.before_ns > limits->age_ns;
}

static bool is_too_large(const struct history_file *file, const struct usage *usage,
			 int64_t pages)
{
	uint64_t bytes = (uint64_t)(pages * usage->page_size) + usage->log;

	return file->limits.size && bytes + ROOM > file->limits.size;
}

static int drop_samples(struct history_file *file, int64_t *ret_oldest_ns, struct why *why)
{
	const uint64_t id = file->next_run.id;
	int err = db_run_with(&file->db, SQL_DROP_SAMPLES, &id, 1, why);

	if (err)
		return err;
	file->nr_dropping += (uint64_t)sqlite3_changes(file->db.sqlite);
	err = db_run_with(&file->db, SQL_DROP_CLOCKS, &id, 1, why);
	return err ? err : db_number(&file->db, SQL_OLDEST, ret_oldest_ns, why);
}

/*
 * Drops all that is before the next run. Rows with times are dropped that are older than all
 * samples that remain: where the clock was set, a sample may be older than the ones before it.
 */
static int drop_oldest(struct history_file *file, struct why *why)
{
	const struct next_run *next = &file->next_run;
	int64_t oldest_ns = 0;
	int err = drop_samples(file, &oldest_ns, why);
	uint64_t second = (uint64_t)oldest_ns / SECOND, minute = second > 60 ? second - 60 : 0;
	const struct {
		enum sql sql;
		uint64_t numbers[2];
		int nr;
	} drops[] = {
		{ SQL_DROP_MINUTES, { minute, next->segment }, 2 },
		{ SQL_DROP_NOTES, { second, next->segment }, 2 },
		{ SQL_DROP_GUESTS, { second, next->segment }, 2 },
		{ SQL_DROP_FIELDS, { next->segment }, 1 },
		{ SQL_DROP_SEGMENTS, { next->segment }, 1 },
	};

	file->has_next_run = false;
	for (size_t i = 0; i < ARRAY_SIZE(drops) && !err; i++)
		err = db_run_with(&file->db, drops[i].sql, drops[i].numbers, drops[i].nr, why);
	return err;
}

static int shrink(struct history_file *file, const struct usage *usage, struct why *why)
{
	bool is_hollow = usage->free_pages > 256 && usage->free_pages > usage->pages / 8;

	if (!usage->free_pages || (!is_hollow && !is_too_large(file, usage, usage->pages)))
		return 0;
	return db_run(&file->db, SQL_VACUUM, why);
}

int history_file_keep_limits(struct history_file *file, uint64_t recorded_ns, struct why *why)
{
	struct usage usage = { 0 };
	int err = get_usage(file, &usage, why);

	for (int i = 0; i < RUNS_AT_ONCE && !err; i++) {
		err = find_next_run(file, why);
		if (err || !file->next_run.id)
			break;
		if (!is_too_old(file, recorded_ns) &&
		    !is_too_large(file, &usage, usage.pages - usage.free_pages))
			break;
		err = drop_oldest(file, why);
		if (!err)
			err = get_usage(file, &usage, why);
	}
	return err ? err : shrink(file, &usage, why);
}

uint64_t history_file_dropped(const struct history_file *file)
{
	return file->nr_dropped;
}
