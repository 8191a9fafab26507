// SPDX-License-Identifier: GPL-2.0-or-later
/* A history file as a store: each call is a read transaction of its own, unless it is held. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "core/facts/stats.h"
#include "core/provider.h"
#include "history/file.h"
#include "history/file_state.h"

/* ---- columns, which may have anything in them */

static bool get_number(sqlite3_stmt *row, int column, uint64_t max, uint64_t *ret_number)
{
	sqlite3_int64 number = sqlite3_column_int64(row, column);

	if (sqlite3_column_type(row, column) != SQLITE_INTEGER || number < 0 ||
	    (uint64_t)number > max)
		return false;
	*ret_number = (uint64_t)number;
	return true;
}

static bool get_u32(sqlite3_stmt *row, int column, uint32_t max, uint32_t *ret_number)
{
	uint64_t number;

	if (!get_number(row, column, max, &number))
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

/* NULL is FIELD_NONE. */
static bool get_id_or_none(sqlite3_stmt *row, int column, uint32_t *ret_id)
{
	*ret_id = FIELD_NONE;
	return sqlite3_column_type(row, column) == SQLITE_NULL ||
	       get_u32(row, column, FIELD_NONE - 1, ret_id);
}

/* Printable text, cut to fit. NULL and blanks are "". */
static void get_text(sqlite3_stmt *row, int column, char *ret_text, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	size_t len = (size_t)sqlite3_column_bytes(row, column);

	*ret_text = '\0';
	if (text)
		utf8_clean(text, len, ret_text, size);
}

/* ---- moments */

static int get_stored(struct db *db, sqlite3_stmt *row, struct stored *ret_stored,
		      struct error *error)
{
	struct stored stored;

	if (!get_number(row, 0, SQL_SAMPLE_MAX, &stored.id) ||
	    !get_u32(row, 1, UINT32_MAX, &stored.segment) ||
	    !get_u32(row, 2, UINT32_MAX, &stored.flags) ||
	    !get_number(row, 3, INT64_MAX, &stored.time_ns) ||
	    !get_number(row, 4, INT64_MAX, &stored.elapsed_ns) || !stored.id || !stored.segment)
		return db_damaged(db, error);
	*ret_stored = stored;
	return 0;
}

/* -ENOENT: the statement gives no row. */
static int one_stored(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
		      struct stored *ret_stored, struct error *error)
{
	sqlite3_stmt *row;
	int err = db_find_row(db, sql, values, nr, &row, error);

	if (err)
		return err;
	err = get_stored(db, row, ret_stored, error);
	sqlite3_reset(row);
	return err;
}

static int file_find(void *store, uint64_t time_ns, struct stored *ret_stored, struct error *error)
{
	struct db *db = &((struct history_file *)store)->db;
	int err;

	if (time_ns == UINT64_MAX)
		return one_stored(db, SQL_LAST, NULL, 0, ret_stored, error);
	err = one_stored(db, SQL_AT, &DB_NUMBER(time_ns), 1, ret_stored, error);
	return err == -ENOENT ? one_stored(db, SQL_FIRST, NULL, 0, ret_stored, error) : err;
}

/* In a damaged file a search may find a row that it did not ask for, again and again. */
static int check_order(struct db *db, int err, bool is_in_order, struct error *error)
{
	return !err && !is_in_order ? db_damaged(db, error) : err;
}

static int file_step(void *store, uint64_t id, bool is_back, struct stored *ret_stored,
		     struct error *error)
{
	struct db *db = &((struct history_file *)store)->db;
	struct stored stored = { 0 };
	int err =
		one_stored(db, is_back ? SQL_BEFORE : SQL_NEXT, &DB_NUMBER(id), 1, &stored, error);

	err = check_order(db, err, is_back ? stored.id < id : stored.id > id, error);
	if (!err)
		*ret_stored = stored;
	return err;
}

/* The first moment of a run that ends with `last`; min_id: the lowest id in its time. */
static int find_first_of_run(struct db *db, uint64_t from_ns, uint64_t to_ns, uint64_t min_id,
			     const struct stored *last, struct stored *ret_first,
			     struct error *error)
{
	const struct db_value values[] = { DB_NUMBER(from_ns), DB_NUMBER(to_ns),
					   DB_NUMBER(last->id) };
	struct stored before = { 0 };
	int err = one_stored(db, SQL_BEFORE_RUN, values, ARRAY_SIZE(values), &before, error);

	if (err && err != -ENOENT)
		return err;
	if (err || before.id < min_id)
		before.id = min_id - 1;
	err = one_stored(db, SQL_NEXT, &DB_NUMBER(before.id), 1, ret_first, error);
	return check_order(db, err, ret_first->id <= last->id, error);
}

static int file_run(void *store, uint64_t from_ns, uint64_t to_ns, uint64_t before_id,
		    struct stored *ret_first, struct stored *ret_last, struct error *error)
{
	struct db *db = &((struct history_file *)store)->db;
	uint64_t until_ns = to_ns < INT64_MAX ? to_ns : INT64_MAX;
	uint64_t before = before_id < INT64_MAX ? before_id : INT64_MAX;
	const struct db_value values[] = { DB_NUMBER(from_ns), DB_NUMBER(until_ns),
					   DB_NUMBER(before) };
	uint64_t min_id = 0, max_id = 0, nr;
	struct stored first = { 0 }, last = { 0 };
	sqlite3_stmt *row;
	bool is_some;
	int err;

	if (from_ns > INT64_MAX)
		return -ENOENT;
	err = db_find_row(db, SQL_RUNS, values, ARRAY_SIZE(values), &row, error);
	if (err)
		return err;
	is_some = get_number(row, 0, SQL_SAMPLE_MAX, &min_id) && min_id &&
		  get_number(row, 1, SQL_SAMPLE_MAX, &max_id);
	nr = (uint64_t)sqlite3_column_int64(row, 2);
	sqlite3_reset(row);
	if (!is_some)
		return -ENOENT;
	err = one_stored(db, SQL_BEFORE, &DB_NUMBER(max_id + 1), 1, &last, error);
	err = check_order(db, err, last.id == max_id, error);
	/* Without another moment between them they are one run. */
	if (!err && max_id - min_id + 1 == nr)
		err = one_stored(db, SQL_NEXT, &DB_NUMBER(min_id - 1), 1, &first, error);
	else if (!err)
		err = find_first_of_run(db, from_ns, until_ns, min_id, &last, &first, error);
	if (err)
		return err;
	*ret_first = first;
	*ret_last = last;
	return 0;
}

static int file_find_flagged(void *store, uint64_t id, uint32_t flags,
			     struct stored *ret_stored, struct error *error)
{
	struct db *db = &((struct history_file *)store)->db;
	const struct db_value numbers[] = { DB_NUMBER(id), DB_NUMBER(flags) };
	struct stored stored = { 0 };
	int err = one_stored(db, SQL_FLAGGED, numbers, ARRAY_SIZE(numbers), &stored, error);

	err = check_order(db, err, stored.id <= id, error);
	if (!err)
		*ret_stored = stored;
	return err;
}

static int take_part(struct db *db, sqlite3_stmt *row, struct blob *blob, struct error *error)
{
	const void *bytes = sqlite3_column_blob(row, 0);
	size_t size = (size_t)sqlite3_column_bytes(row, 0);
	int type = sqlite3_column_type(row, 0);

	if (type != SQLITE_BLOB && type != SQLITE_NULL)
		return db_damaged(db, error);
	if (size && !bytes)
		out_of_memory();
	array_grow_unset(&blob->bytes, &blob->room, size);
	if (size)
		memcpy(blob->bytes, bytes, size);
	blob->size = size;
	return 0;
}

static int file_read(void *store, uint64_t id, enum moment_part part, struct blob *blob,
		     struct error *error)
{
	struct db *db = &((struct history_file *)store)->db;
	sqlite3_stmt *row;
	int err = db_find_row(db, SQL_READ_CHANGES + part, &DB_NUMBER(id), 1, &row, error);

	if (err)
		return err;
	err = take_part(db, row, blob, error);
	sqlite3_reset(row);
	return err;
}

/* ---- fields */

#define GUESTS_ENDED_S 600 /* as in an inventory, see guests_ended_at() */

struct field_texts {
	char name[256], listed[256], label[256], alias[256];
};

/* The highest number of a part. */
static uint32_t part_max(uint32_t use)
{
	if (use == USE_EVENT)
		return EVENT_PART(EVENT_KINDS, 0) - 1;
	if (use == USE_WAIT)
		return WAIT_PARTS - 1;
	if (use == USE_CODE)
		return FUNCTION_SIDES - 1;
	if (use == USE_INTERRUPT)
		return INTERRUPT_PARTS - 1;
	if (use == USE_EXIT_PART)
		return EXIT_PARTS - 1;
	return (use == USE_HOST ? (uint32_t)HOST_PARTS : (uint32_t)TIME_PARTS) - 1;
}

/* In older files waiting is a part of vCPUs' time that is beside all of it, by the scheduler. */
static void renew_field(struct field *field)
{
	if (field->use != USE_TIME || field->part != TIME_WAIT || field->source != PROVIDER_HOST)
		return;
	*field = (struct field){ .name = "thread(waited)", .parent = FIELD_NONE,
				 .source = PROVIDER_HOST, .use = USE_HOST, .part = HOST_WAITED,
				 .reason = FIELD_NONE };
}

static bool get_field(sqlite3_stmt *row, struct field_texts *texts, uint32_t *ret_id,
		      struct field *ret_field)
{
	uint32_t kind, use, part, is_idle, is_extra, rank;
	struct field field = { .name = texts->name, .listed = texts->listed,
			       .label = texts->label };

	get_text(row, 1, texts->name, sizeof(texts->name));
	get_text(row, 2, texts->listed, sizeof(texts->listed));
	get_text(row, 3, texts->label, sizeof(texts->label));
	get_text(row, 4, texts->alias, sizeof(texts->alias));
	if (!get_u32(row, 0, SQL_FIELD_MAX, ret_id) || !get_id_or_none(row, 5, &field.parent) ||
	    !get_u32(row, 6, SAMPLE_SOURCES - 1, &field.source) ||
	    !get_u32(row, 7, FIELD_PEAK, &kind) || !get_u32(row, 8, USE_EXIT_PART, &use) ||
	    !get_u32(row, 9, part_max(use), &part) || !get_u32(row, 10, 1, &is_idle) ||
	    !get_u32(row, 11, 1, &is_extra) || !get_u32(row, 12, UINT8_MAX, &rank) ||
	    !get_id_or_none(row, 13, &field.reason))
		return false;
	if (!*texts->name || !*texts->listed || !*texts->label ||
	    (field.parent != FIELD_NONE && field.parent >= *ret_id))
		return false;
	field.alias = *texts->alias ? texts->alias : NULL;
	field.kind = (enum field_kind)kind;
	field.use = (enum field_use)use;
	field.part = part;
	field.is_idle = is_idle;
	field.is_extra = is_extra;
	field.exit_rank = (uint8_t)rank;
	renew_field(&field);
	*ret_field = field;
	return true;
}

static int file_fields(void *store, uint32_t first, stored_field_fn take, void *arg,
		       struct error *error)
{
	struct db *db = &((struct history_file *)store)->db;
	struct field_texts texts;
	struct field field;
	sqlite3_stmt *row;
	uint32_t id = 0, next = first;
	int err = db_prepare(db, SQL_READ_FIELDS, &DB_NUMBER(first), 1, &row, error);

	if (err)
		return err;
	while ((err = db_step(db, row, error)) > 0) {
		bool is_good = get_field(row, &texts, &id, &field) && id >= next;

		err = is_good ? take(arg, id, &field) : db_damaged(db, error);
		if (err)
			break;
		next = id + 1;
	}
	sqlite3_reset(row);
	return err;
}

/* ---- guests */

#define VCPUS_MAX (1U << 20) /* of all guests; an inventory is copied */

static bool get_guest(sqlite3_stmt *row, struct guest *ret_guest)
{
	struct guest guest = { .nr_vcpus = 0 };
	uint32_t pid, is_named, has_ended;

	get_text(row, 3, guest.name, sizeof(guest.name));
	get_text(row, 4, guest.vmm, sizeof(guest.vmm));
	for (unsigned int i = 0; i < GUEST_WORDS; i++)
		get_text(row, 9 + (int)i, guest.words.text[i], sizeof(guest.words.text[i]));
	if (sqlite3_column_type(row, 2) != SQLITE_NULL &&
	    !get_number(row, 2, INT64_MAX, &guest.start_ticks))
		return false;
	if (!get_u32(row, 0, STATS_ENDED - 1, &guest.id) || !guest.id ||
	    !get_u32(row, 1, INT32_MAX, &pid) || !get_u32(row, 5, 1, &is_named) ||
	    !get_u32(row, 6, UINT32_MAX, &guest.nr_vms) || !get_u32(row, 8, 1, &has_ended))
		return false;
	guest.pid = (pid_t)pid;
	guest.is_named = is_named;
	guest.has_ended = has_ended;
	*ret_guest = guest;
	return true;
}

struct vcpu_rows {
	struct vcpu *list;
	size_t nr, room;
};

/* went: of the guest, which NULL is not. */
static int read_vcpus(struct db *db, const struct guest *guest, const struct stored *at,
		      uint64_t went, struct vcpu_rows *vcpus, struct error *error)
{
	const struct db_value values[] = { DB_NUMBER(guest->id), DB_NUMBER(at->id),
					   DB_NUMBER(went) };
	sqlite3_stmt *row;
	int err = db_prepare(db, SQL_READ_VCPUS, values, ARRAY_SIZE(values), &row, error);

	vcpus->nr = 0;
	if (err)
		return err;
	while ((err = db_step(db, row, error)) > 0) {
		uint32_t index, tid;

		if (vcpus->nr >= VCPUS_MAX || !get_u32(row, 0, INT32_MAX, &index) ||
		    !get_u32(row, 1, INT32_MAX, &tid)) {
			sqlite3_reset(row);
			return db_damaged(db, error);
		}
		*array_add(vcpus->list, vcpus->nr, vcpus->room) =
			(struct vcpu){ .index = (int)index, .tid = (pid_t)tid };
	}
	return err;
}

static int put_guests(struct db *db, sqlite3_stmt *row, const struct stored *at,
		      struct guests *to, struct error *error)
{
	struct vcpu_rows vcpus = { .nr = 0 };
	size_t nr = 0;
	int err;

	while ((err = db_step(db, row, error)) > 0) {
		struct guest guest = { .id = GUEST_NONE };

		err = get_guest(row, &guest) ? 0 : db_damaged(db, error);
		if (!err)
			err = read_vcpus(db, &guest, at, (uint64_t)sqlite3_column_int64(row, 7),
					 &vcpus, error);
		nr += vcpus.nr + 1;
		if (!err && nr > VCPUS_MAX)
			err = db_damaged(db, error);
		if (err)
			break;
		guest.vcpus = vcpus.list;
		guest.nr_vcpus = vcpus.nr;
		guests_put(to, &guest);
	}
	free(vcpus.list);
	return err;
}

static int file_guests(void *store, const struct stored *at, struct guests *to,
		       struct error *error)
{
	struct db *db = &((struct history_file *)store)->db;
	uint64_t time_s = at->time_ns / 1000000000;
	const struct db_value values[] = {
		DB_NUMBER(at->id),
		DB_NUMBER(at->segment),
		DB_NUMBER(time_s > GUESTS_ENDED_S ? time_s - GUESTS_ENDED_S : 0),
	};
	sqlite3_stmt *row;
	int err = db_prepare(db, SQL_READ_GUESTS, values, ARRAY_SIZE(values), &row, error);

	if (err)
		return err;
	guests_clear(to);
	err = put_guests(db, row, at, to, error);
	sqlite3_reset(row);
	return err;
}

/* ---- segments */

static int file_segment(void *store, uint32_t segment, struct segment *ret_segment,
			struct error *error)
{
	struct db *db = &((struct history_file *)store)->db;
	struct segment *to = ret_segment;
	uint32_t nr_cpus;
	sqlite3_stmt *row;
	int err = db_find_row(db, SQL_READ_SEGMENT, &DB_NUMBER(segment), 1, &row, error);

	if (err)
		return err;
	get_text(row, 0, to->host, sizeof(to->host));
	get_text(row, 1, to->kernel, sizeof(to->kernel));
	get_text(row, 2, to->boot_id, sizeof(to->boot_id));
	get_text(row, 3, to->arch, sizeof(to->arch));
	get_text(row, 4, to->engine, sizeof(to->engine));
	to->nr_cpus = get_u32(row, 5, INT_MAX, &nr_cpus) ? (int)nr_cpus : 0;
	to->interval_s = sqlite3_column_double(row, 6);
	if (!(to->interval_s >= 0))
		to->interval_s = 0;
	sqlite3_reset(row);
	return 0;
}

/* What cannot be held is read as without. */
static void file_hold(void *store, bool is_held)
{
	struct db *db = &((struct history_file *)store)->db;

	db_run(db, is_held ? SQL_HOLD : SQL_COMMIT, &(struct error){ "" });
}

/* What is open stays readable, and gets no more samples. */
static int file_check(void *store, struct error *error)
{
	const struct history_file *file = store;
	struct stat named;

	if (stat(file->real, &named) == 0)
		return named.st_ino == file->own.st_ino && named.st_dev == file->own.st_dev ? 0 :
		       error_set(error, -ESTALE, "%s was replaced: this is the former file; start "
				 "kvmtop again to see the new one", file->name);
	return errno != ENOENT ?
		       0 :
		       error_set(error, -ESTALE, "%s was removed: this is what it had", file->name);
}

static const struct store_type file_store = {
	.find = file_find,
	.step = file_step,
	.run = file_run,
	.find_flagged = file_find_flagged,
	.read = file_read,
	.fields = file_fields,
	.guests = file_guests,
	.segment = file_segment,
	.has_long_exits = true,
	.check = file_check,
	.hold = file_hold,
};

struct store history_file_store(struct history_file *file)
{
	return (struct store){ .type = &file_store, .state = file };
}

int history_file_open(const char *path, struct history_file **ret_file, struct error *error)
{
	struct history_file *file;
	int err = history_file_new(path, false, &file, error);

	if (err)
		return err;
	if (stat(file->real, &file->own) < 0)
		err = error_set(error, -errno, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(file->own.st_mode))
		err = error_set(error, -EINVAL, "%s: not a regular file", path);
	else
		err = db_open(&file->db, file->name, file->real, false, error);
	if (err)
		history_file_free(file);
	else
		*ret_file = file;
	return err;
}
