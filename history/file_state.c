// SPDX-License-Identifier: GPL-2.0-or-later
/* A history file as a file: its paths, the lock of its writer, its age and its size. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/output.h"
#include "lib/xalloc.h"
#include "history/file_state.h"

#define CLOCK_MAX (UINT64_C(1) << 61) /* 70 years */
#define SECOND UINT64_C(1000000000)
#define BATCHES_AT_ONCE 4
/* Bytes for what comes before the next look at the size, beside a moment with totals. */
#define ROOM (DB_LOG_SIZE + 256 * 1024)

void history_file_free(struct history_file *file)
{
	if (!file)
		return;
	history_file_leave(file);
	free(file->field_ids.list);
	free(file->guest_ids.list);
	free(file->fields_here.list);
	minutes_release(&file->minutes);
	fields_free(file->fields);
	free(file->name);
	free(file->real);
	free(file);
}

int history_file_new(const char *path, bool writes, struct history_file **ret_file,
		     struct error *error)
{
	struct history_file *file = xcalloc(1, sizeof(*file));
	struct error reason = { "" };
	struct output output;
	int err = 0;

	file->lock = -1;
	file->name = xstrdup(path);
	if (writes)
		err = output_find(path, &output, &reason);
	if (writes && !err) {
		file->real = output_path(&output);
		err = file->real ? 0 : -errno;
		output_release(&output);
	} else if (!err) {
		file->real = realpath(path, NULL);
		err = file->real ? 0 : -errno;
	}
	if (!err) {
		*ret_file = file;
		return 0;
	}
	error_set(error, err, "%s: %s", path, reason.text[0] ? reason.text : strerror(-err));
	history_file_free(file);
	return err;
}

/* ---- the clock */

/* The monotonic clock of another boot does not go on. */
static int read_clock(struct history_file *file, sqlite3_stmt *row, struct error *error)
{
	uint64_t recorded_ns = (uint64_t)sqlite3_column_int64(row, 0);
	uint64_t monotonic_ns = (uint64_t)sqlite3_column_int64(row, 1);
	uint64_t since_ns = (uint64_t)sqlite3_column_int64(row, 2);
	const char *boot_id = (const char *)sqlite3_column_text(row, 3);
	bool is_same_boot = boot_id && *boot_id && strcmp(boot_id, file->segment.boot_id) == 0;

	if (recorded_ns > CLOCK_MAX || monotonic_ns > CLOCK_MAX || since_ns > CLOCK_MAX)
		return db_damaged(&file->db, error);
	file->clock = (struct file_clock){
		.recorded_ns = recorded_ns + since_ns,
		.monotonic_ns = is_same_boot && monotonic_ns ? monotonic_ns + since_ns : 0,
	};
	return 0;
}

/* Loads the clock of the file's latest moment; in a file without clocks it begins at 0. */
static int load_clock(struct history_file *file, struct error *error)
{
	sqlite3_stmt *row = NULL;
	int err = db_find_row(&file->db, SQL_LAST_CLOCK, NULL, 0, &row, error);

	file->clock = (struct file_clock){ 0 };
	if (err)
		return err == -ENOENT ? 0 : err;
	err = read_clock(file, row, error);
	sqlite3_reset(row);
	return err;
}

struct file_clock history_file_next_clock(const struct history_file *file,
					  const struct moment *moment)
{
	uint64_t before_ns = file->clock.monotonic_ns, now_ns = 0, elapsed_ns = moment->elapsed_ns;

	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		now_ns = moment->source_ns[i] > now_ns ? moment->source_ns[i] : now_ns;
	if (before_ns && now_ns > before_ns) /* with what was lost or not recorded */
		elapsed_ns = now_ns - before_ns;
	return (struct file_clock){ file->clock.recorded_ns + elapsed_ns, now_ns };
}

int history_file_add_clock(struct history_file *file, uint64_t id, const struct file_clock *clock,
			   struct error *error)
{
	const struct db_value row[] = {
		db_column("sample", DB_NUMBER(id)),
		db_column("before_ns", DB_NUMBER(file->clock.recorded_ns)),
		db_column("recorded_ns", DB_NUMBER(clock->recorded_ns)),
		db_column("monotonic_ns", DB_NUMBER(clock->monotonic_ns)),
	};

	return db_run_with(&file->db, SQL_ADD_CLOCK, row, ARRAY_SIZE(row), error);
}

/* ---- a writer's */

static int check_file(struct history_file *file, int fd, struct error *error)
{
	struct stat named;

	if (fstat(fd, &file->own) < 0)
		return error_set(error, -errno, "%s: %s", file->name, strerror(errno));
	if (!S_ISREG(file->own.st_mode))
		return error_set(error, -EINVAL, "%s: not a regular file", file->name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return error_set(error, -EBUSY, "%s: another kvmtop writes to it: choose "
					 "another file, or end that one", file->name);
		return error_set(error, -errno, "%s: %s", file->name, strerror(errno));
	}
	/* The file was removed after we had opened it. */
	if (stat(file->real, &named) < 0 || named.st_ino != file->own.st_ino ||
	    named.st_dev != file->own.st_dev)
		return -ESTALE;
	return 0;
}

/*
 * SQLite opens these by their names, and what is in a journal may name another file, which it then
 * removes: they must be as safe as the file itself.
 */
static int check_beside(const struct output *output, struct error *error)
{
	char name[NAME_MAX + 16];
	struct stat st;

	for (size_t i = 0; db_suffixes[i]; i++) {
		snprintf(name, sizeof(name), "%s%s", output->name, db_suffixes[i]);
		if (fstatat(output->folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!S_ISREG(st.st_mode) || !output_is_ours(&st) || st.st_nlink > 1)
			return error_set(error, -EPERM, "\"%s\" beside it is a link, or of another "
					 "user: remove it", name);
	}
	return 0;
}

static int open_output(const struct history_file *file, struct error *error)
{
	struct output output;
	int fd = output_find(file->real, &output, error), err;

	if (fd < 0)
		return fd;
	err = output_check_folder(output.folder, error);
	if (!err)
		err = check_beside(&output, error);
	fd = err ? err : output_open_at(&output, O_RDWR | O_CREAT | O_NONBLOCK, 0666, error);
	output_release(&output);
	return fd;
}

static int lock_file(struct history_file *file, struct error *error)
{
	struct error reason = { "" };
	int err, fd;

	do {
		fd = open_output(file, &reason);
		if (fd < 0)
			return error_set(error, fd, "%s: %s", file->name, reason.text);
		err = check_file(file, fd, error);
		if (err)
			close(fd);
	} while (err == -ESTALE);
	if (!err)
		file->lock = fd;
	return err;
}

int history_file_set_aside(struct history_file *file, struct error *error)
{
	struct error moved = { "" };
	int err;

	db_close(&file->db);
	err = output_set_aside(file->real, db_suffixes, &moved);
	history_file_leave(file);
	return error_set(error, err, "%s: damaged: %s%s", file->name, moved.text,
			 err ? "" : "; a new one is begun");
}

static int enter(struct history_file *file, struct error *error)
{
	int err = lock_file(file, error);

	if (!err)
		err = db_open(&file->db, file->name, file->real, true, error);
	return err ? err : load_clock(file, error);
}

int history_file_enter(struct history_file *file, struct error *error)
{
	int err = enter(file, error);

	if (err == -EBADMSG) {
		err = history_file_set_aside(file, error);
		if (!err)
			err = enter(file, error);
	}
	if (err)
		history_file_leave(file);
	return err;
}

void history_file_leave(struct history_file *file)
{
	/* In this order: closing any descriptor of the file drops SQLite's own locks. */
	db_close(&file->db);
	if (file->lock >= 0) {
		flock(file->lock, LOCK_UN); /* a child may have a copy of the descriptor */
		close(file->lock);
	}
	file->lock = -1;
	file->has_log = false;
}

uint64_t history_file_log_size(const struct history_file *file, bool *ret_exists)
{
	char path[PATH_MAX + 8];
	struct stat st = { 0 };

	snprintf(path, sizeof(path), "%s-wal", file->real);
	*ret_exists = stat(path, &st) == 0;
	return (uint64_t)st.st_size;
}

bool history_file_is_there(struct history_file *file)
{
	struct stat named;
	bool has_log;

	if (stat(file->real, &named) < 0 || named.st_ino != file->own.st_ino ||
	    named.st_dev != file->own.st_dev)
		return false;
	history_file_log_size(file, &has_log);
	if (file->has_log && !has_log)
		return false;
	file->has_log = has_log;
	return true;
}

/* ---- limits */

/* From one moment with totals to the next is a batch: what remains begins with totals. */
static int find_next_batch(struct history_file *file, struct error *error)
{
	sqlite3_stmt *row;
	int err;

	if (file->has_next_batch)
		return 0;
	file->next_batch = (struct next_batch){ 0 };
	err = db_find_row(&file->db, SQL_NEXT_BATCH, NULL, 0, &row, error);
	if (err)
		return err == -ENOENT ? 0 : err;
	file->next_batch.id = (uint64_t)sqlite3_column_int64(row, 0);
	file->next_batch.segment = (uint32_t)sqlite3_column_int64(row, 1);
	/* Not known, in a damaged file: as if it were new. */
	file->next_batch.before_ns = sqlite3_column_type(row, 2) == SQLITE_INTEGER ?
					     (uint64_t)sqlite3_column_int64(row, 2) :
					     UINT64_MAX;
	file->has_next_batch = true;
	sqlite3_reset(row);
	return 0;
}

struct usage {
	int64_t page_size, pages, free_pages;
	uint64_t log;
};

static int get_usage(struct history_file *file, struct usage *ret_usage, struct error *error)
{
	struct usage *usage = ret_usage;
	bool has_log;
	int err = db_number(&file->db, SQL_PAGE_SIZE, &usage->page_size, error);

	if (!err)
		err = db_number(&file->db, SQL_PAGES, &usage->pages, error);
	if (!err)
		err = db_number(&file->db, SQL_FREE_PAGES, &usage->free_pages, error);
	usage->log = history_file_log_size(file, &has_log);
	/* A log that a reader keeps from being emptied drops no moments. */
	usage->log = usage->log > DB_LOG_SIZE && usage->log < file->limits.size / 8 ?
			     usage->log - DB_LOG_SIZE : 0;
	return err;
}

static bool is_too_old(const struct history_file *file, uint64_t recorded_ns)
{
	const struct file_limits *limits = &file->limits;

	return limits->age_ns && recorded_ns > file->next_batch.before_ns &&
	       recorded_ns - file->next_batch.before_ns > limits->age_ns;
}

static bool is_too_large(const struct history_file *file, const struct usage *usage,
			 int64_t pages)
{
	uint64_t bytes = (uint64_t)(pages * usage->page_size) + usage->log;

	return file->limits.size && bytes + file->totals_size + ROOM > file->limits.size;
}

static int drop_samples(struct history_file *file, int64_t *ret_oldest_ns, struct error *error)
{
	const struct db_value id = DB_NUMBER(file->next_batch.id);
	int err = db_run_with(&file->db, SQL_DROP_SAMPLES, &id, 1, error);

	if (err)
		return err;
	file->nr_dropping += (uint64_t)sqlite3_changes(file->db.sqlite);
	err = db_run_with(&file->db, SQL_DROP_CLOCKS, &id, 1, error);
	return err ? err : db_number(&file->db, SQL_OLDEST, ret_oldest_ns, error);
}

/*
 * Drops all that is before the next batch. Rows with times are dropped that are older than all
 * samples that remain: where the clock was set, a sample may be older than the ones before it.
 */
static int drop_oldest(struct history_file *file, struct error *error)
{
	const struct db_value segment = DB_NUMBER(file->next_batch.segment);
	int64_t oldest_ns = 0;
	int err = drop_samples(file, &oldest_ns, error);
	uint64_t second = (uint64_t)oldest_ns / SECOND, minute = second > 60 ? second - 60 : 0;
	const struct {
		enum sql sql;
		struct db_value values[2];
		size_t nr;
	} drops[] = {
		{ SQL_DROP_MINUTES, { DB_NUMBER(minute) }, 1 },
		{ SQL_DROP_NOTES, { DB_NUMBER(second), segment }, 2 },
		{ SQL_DROP_GUESTS, { DB_NUMBER(file->next_batch.id), DB_NUMBER(second) }, 2 },
		{ SQL_DROP_VCPUS, { segment }, 0 },
		{ SQL_DROP_FIELDS, { segment }, 1 },
		{ SQL_DROP_SEGMENTS, { segment }, 1 },
	};

	file->has_next_batch = false;
	for (size_t i = 0; i < ARRAY_SIZE(drops) && !err; i++)
		err = db_run_with(&file->db, drops[i].sql, drops[i].values, drops[i].nr, error);
	return err;
}

static int shrink(struct history_file *file, const struct usage *usage, struct error *error)
{
	bool is_hollow = usage->free_pages > 256 && usage->free_pages > usage->pages / 8;

	if (!usage->free_pages || (!is_hollow && !is_too_large(file, usage, usage->pages)))
		return 0;
	return db_run(&file->db, SQL_VACUUM, error);
}

int history_file_keep_limits(struct history_file *file, uint64_t recorded_ns, struct error *error)
{
	struct usage usage = { 0 };
	int err = get_usage(file, &usage, error);

	for (int i = 0; i < BATCHES_AT_ONCE && !err; i++) {
		err = find_next_batch(file, error);
		if (err || !file->next_batch.id)
			break;
		if (!is_too_old(file, recorded_ns) &&
		    !is_too_large(file, &usage, usage.pages - usage.free_pages))
			break;
		err = drop_oldest(file, error);
		if (!err)
			err = get_usage(file, &usage, error);
	}
	return err ? err : shrink(file, &usage, error);
}

uint64_t history_file_dropped(const struct history_file *file)
{
	return file->nr_dropped;
}
