// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a history file: each moment is a transaction, and is in the file as a whole or not. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/array.h"
#include "history/file_state.h"

#define SECOND UINT64_C(1000000000)
#define LOG_MAX (UINT64_C(256) << 20) /* bytes of the log, while a reader lets it grow */

/* ---- rows */

static int add_meta(struct history_file *file, const char *key, const char *value,
		    struct error *error)
{
	const struct db_value row[] = { DB_TEXT(key), DB_TEXT(value) };

	return db_run_with(&file->db, SQL_ADD_META, row, ARRAY_SIZE(row), error);
}

static int add_segment(struct history_file *file, uint64_t time_ns, struct error *error)
{
	const struct segment *segment = &file->segment;
	const struct db_value row[] = {
		db_column("host", DB_TEXT(segment->host)),
		db_column("kernel", DB_TEXT(segment->kernel)),
		db_column("boot_id", DB_TEXT(segment->boot_id)),
		db_column("arch", DB_TEXT(segment->arch)),
		db_column("engine", DB_TEXT(segment->engine)),
		db_column("nr_cpus", DB_NUMBER(segment->nr_cpus)),
		db_column("interval_s", DB_REAL(segment->interval_s)),
		db_column("began", DB_NUMBER(time_ns / SECOND)),
	};
	int err = add_meta(file, "format", "see the man page kvmtop-history(5)", error);

	if (!err)
		err = add_meta(file, "written_by", "kvmtop " KVMTOP_VERSION, error);
	if (!err)
		err = db_run_with(&file->db, SQL_ADD_SEGMENT, row, ARRAY_SIZE(row), error);
	if (!err)
		file->segment_id = (uint32_t)sqlite3_last_insert_rowid(file->db.sqlite);
	return err;
}

static int add_note(struct history_file *file, uint64_t time_ns, const char *text,
		    struct error *error)
{
	const struct db_value row[] = {
		DB_NUMBER(time_ns / SECOND), DB_NUMBER(file->segment_id), DB_TEXT(text),
	};

	return db_run_with(&file->db, SQL_ADD_NOTE, row, ARRAY_SIZE(row), error);
}

static struct db_value part_of(const struct packed *packed, enum moment_part part)
{
	const struct blob *blob = &packed->parts[part];

	return blob->size ? DB_BYTES(blob->bytes, blob->size) : (struct db_value){ 0 };
}

static int add_sample(struct history_file *file, const struct moment *moment,
		      const struct packed *packed, struct error *error)
{
	const struct db_value row[] = {
		db_column("segment", DB_NUMBER(file->segment_id)),
		db_column("flags", DB_NUMBER(moment->flags)),
		db_column("time_ns", DB_NUMBER(moment->time_ns)),
		db_column("elapsed_ns", DB_NUMBER(moment->elapsed_ns)),
		db_column("changes", part_of(packed, PART_CHANGES)),
		db_column("hists", part_of(packed, PART_HISTS)),
		db_column("totals", part_of(packed, PART_TOTALS)),
		db_column("total_hists", part_of(packed, PART_TOTAL_HISTS)),
		db_column("long_exits", part_of(packed, PART_LONG_EXITS)),
	};

	return db_run_with(&file->db, SQL_ADD_SAMPLE, row, ARRAY_SIZE(row), error);
}

/* What is written once a minute. */
static int add_minute(struct history_file *file, uint64_t time_ns, struct error *error)
{
	const struct db_value ended[] = { DB_NUMBER(time_ns / SECOND),
					  DB_NUMBER(file->segment_id) };
	int err = minutes_write(file, error);

	if (!err)
		err = db_run_with(&file->db, SQL_SEE_GUESTS, ended, 1, error);
	return err ? err : db_run_with(&file->db, SQL_END_SEGMENT, ended, 2, error);
}

/* ---- transactions */

static int begin_transaction(struct history_file *file, uint64_t time_ns, struct error *error)
{
	int err = db_begin(&file->db, error);

	if (!err && !file->segment_id)
		err = add_segment(file, time_ns, error);
	if (!err && file->was_replaced)
		err = add_note(file, time_ns, "the history file was removed or replaced: its "
			       "samples are missing here", error);
	return err;
}

/* Ends the transaction: with err, nothing of it is in the file. */
static int end_transaction(struct history_file *file, bool is_new_segment, int err,
			   struct error *error)
{
	if (!err)
		err = db_run(&file->db, SQL_COMMIT, error);
	if (!err) {
		file->was_replaced = false;
		return 0;
	}
	if (!sqlite3_get_autocommit(file->db.sqlite))
		db_run(&file->db, SQL_ROLLBACK, NULL);
	if (is_new_segment)
		file->segment_id = 0;
	file->has_next_batch = false;
	return err;
}

/* Whether the log can be used from its beginning again, which a reader can prevent for ever. */
static int check_log(struct history_file *file, struct error *error)
{
	uint64_t max = file->limits.size / 4;
	bool has_log;
	int code;

	if (!max || max > LOG_MAX)
		max = LOG_MAX;
	if (max < UINT64_C(8) << 20)
		max = UINT64_C(8) << 20;
	if (history_file_log_size(file, &has_log) <= max)
		return 0;
	sqlite3_busy_timeout(file->db.sqlite, 0);
	code = db_checkpoint(&file->db, SQLITE_CHECKPOINT_TRUNCATE);
	sqlite3_busy_timeout(file->db.sqlite, DB_WAIT_MS);
	if ((code & 0xff) == SQLITE_BUSY)
		return error_set(error, -EBUSY,
				 "%s: a program has been reading in one transaction for "
				 "so long that %s-wal is full: end that program", file->name,
				 file->name);
	return code ? db_error(&file->db, error) : 0;
}

static void forget_ids(struct history_file *file)
{
	file_ids_forget(&file->field_ids);
	file_ids_forget(&file->guest_ids);
	file->has_ids = false;
	file->has_guests = false;
}

static void forget_what_is_written(struct history_file *file)
{
	file->segment_id = 0;
	forget_ids(file);
	minutes_release(&file->minutes); /* with ids of the other file */
	file->needs_totals = true;
	file->has_next_batch = false;
}

/* After damage was found: the next moment is in another file. */
static void begin_anew(struct history_file *file, struct error *error)
{
	(void)history_file_set_aside(file, error);
	forget_what_is_written(file);
	file->was_replaced = true;
}

/* The file is open and is the one that the path names, after the call. */
static int be_there(struct history_file *file, struct error *error)
{
	if (file->db.sqlite) {
		if (history_file_is_there(file))
			return check_log(file, error);
		history_file_leave(file);
		forget_what_is_written(file);
		file->was_replaced = true;
	}
	return history_file_enter(file, error);
}

/* ---- what writers call */

int history_file_create(const char *path, const struct segment *segment,
			const struct file_limits *limits, struct history_file **ret_file,
			struct error *error)
{
	struct history_file *file;
	int err = history_file_new(path, true, &file, error);

	if (err)
		return err;
	file->segment = *segment;
	file->limits = *limits;
	file->needs_totals = true;
	file->fields = fields_new();
	err = history_file_enter(file, error);
	if (err)
		history_file_free(file);
	else
		*ret_file = file;
	return err;
}

/* ---- ids */

/* Fields are remembered until they are written. */
static void take_fields(struct history_file *file, const struct moment *moment)
{
	for (size_t i = 0; i < moment->nr_fields; i++) {
		const struct moment_field *new = &moment->fields[i];

		if (new->id >= fields_count(file->fields))
			fields_add(file->fields, &new->field);
	}
}

/* In a transaction of its own: a row too many is no harm. */
static int add_ids(struct history_file *file, const struct moment *moment, struct error *error)
{
	bool is_new_segment = !file->segment_id;
	int err = begin_transaction(file, moment->time_ns, error);

	if (!err)
		err = file_add_fields(file, error);
	if (!err && moment->guests)
		err = file_add_guests(file, moment->guests, moment->time_ns, error);
	err = end_transaction(file, is_new_segment, err, error);
	if (err) {
		forget_ids(file);
		return err;
	}
	file->has_ids = true;
	file->has_guests |= moment->guests != NULL;
	return 0;
}

static int file_map(void *state, struct moment *moment, struct error *error)
{
	struct history_file *file = state;
	int err;

	take_fields(file, moment);
	err = be_there(file, error);
	if (!err && file->needs_totals && !(moment->flags & MOMENT_HAS_TOTALS))
		err = error_set(error, -ESTALE, "%s: moments are missing before this one",
				file->name);
	if (!err && (moment->guests || file->field_ids.nr < fields_count(file->fields)))
		err = add_ids(file, moment, error);
	if (err)
		file->needs_totals = true;
	if (err == -EBADMSG)
		begin_anew(file, error);
	if (err)
		return err;
	file_map_changes(file, &moment->changes);
	file_map_changes(file, &moment->totals);
	file_map_long_exits(file, &moment->long_exits);
	return 0;
}

/* ---- moments */

/* In a transaction. */
static int add_moment(struct history_file *file, const struct moment *moment,
		      const struct packed *packed, const struct file_clock *clock,
		      bool is_new_minute, struct error *error)
{
	int err = is_new_minute ? add_minute(file, moment->time_ns, error) : 0;

	if (!err)
		err = add_sample(file, moment, packed, error);
	if (!err && moment->flags & MOMENT_HAS_TOTALS)
		err = history_file_add_clock(
			file, (uint64_t)sqlite3_last_insert_rowid(file->db.sqlite), clock, error);
	return err ? err : history_file_keep_limits(file, clock->recorded_ns, error);
}

static void add_size(struct history_file *file, const struct moment *moment,
		     const struct packed *packed)
{
	uint64_t size = 0;

	for (int i = 0; i < PART_GUESTS; i++)
		size += packed->parts[i].size;
	if (moment->flags & MOMENT_HAS_TOTALS) {
		file->totals_size = size;
		file->batch_size = 0;
	}
	file->batch_size += size;
}

static int add_whole(struct history_file *file, const struct moment *moment,
		     const struct packed *packed, struct error *error)
{
	bool is_new_segment = !file->segment_id;
	bool is_new_minute = file->minutes.start_s &&
			     file->minutes.start_s != minute_of(moment);
	const struct file_clock clock = history_file_next_clock(file, moment);
	int err = begin_transaction(file, moment->time_ns, error);

	file->nr_dropping = 0;
	if (!err)
		err = add_moment(file, moment, packed, &clock, is_new_minute, error);
	for (size_t i = 0; i < moment->nr_notices && !err; i++)
		err = add_note(file, moment->time_ns, moment->notices[i].text, error);
	err = end_transaction(file, is_new_segment, err, error);
	if (err)
		return err;
	file->needs_totals = false;
	add_size(file, moment, packed);
	file->latest_ns = moment->time_ns;
	file->clock = clock;
	file->nr_dropped += file->nr_dropping;
	if (is_new_minute) {
		minutes_reset(&file->minutes);
		/* So that a power failure costs a minute; it syncs the file. */
		db_checkpoint(&file->db, SQLITE_CHECKPOINT_PASSIVE);
	}
	minutes_add(file, moment);
	return 0;
}

static int file_add(void *state, const struct moment *moment, const struct packed *packed,
		    struct error *error)
{
	struct history_file *file = state;
	int err = be_there(file, error);

	if (!err && (!file->has_ids ||
		     (file->needs_totals && !(moment->flags & MOMENT_HAS_TOTALS))))
		err = error_set(error, -ESTALE, "%s: moments are missing before this one",
				file->name);
	if (!err)
		err = add_whole(file, moment, packed, error);
	if (err)
		file->needs_totals = true;
	if (err == -EBADMSG)
		begin_anew(file, error);
	return err;
}

static int file_note(void *state, uint64_t time_ns, const char *text, struct error *error)
{
	struct history_file *file = state;
	bool is_new_segment;
	int err = be_there(file, error);

	if (err)
		return err;
	is_new_segment = !file->segment_id;
	err = begin_transaction(file, time_ns, error);
	if (!err)
		err = add_note(file, time_ns, text, error);
	return end_transaction(file, is_new_segment, err, error);
}

/*
 * The oldest moments are dropped up to the next totals, and the limit includes what still needs
 * them: of a small part of it there are so many.
 */
static bool file_wants_totals(void *state)
{
	const struct history_file *file = state;

	return file->limits.size && file->batch_size > file->limits.size / 8;
}

struct sink history_file_sink(struct history_file *file)
{
	return (struct sink){ .state = file, .map = file_map, .add = file_add, .note = file_note,
			      .wants_totals = file_wants_totals, .has_long_exits = true };
}

/* What is left of the last minute. */
static int finish(struct history_file *file, struct error *error)
{
	int err;

	if (!file->db.sqlite || !file->minutes.start_s || !file->segment_id ||
	    !history_file_is_there(file))
		return 0;
	err = begin_transaction(file, file->latest_ns, error);
	if (!err)
		err = add_minute(file, file->latest_ns, error);
	return end_transaction(file, false, err, error);
}

int history_file_close(struct history_file *file, struct error *error)
{
	int err;

	if (!file)
		return 0;
	err = finish(file, error);
	history_file_free(file);
	return err;
}
