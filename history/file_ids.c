// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fields and guests of a history file. Each has one id in the file, whichever writer counts it:
 * a writer looks its fields up by their names, its guests by boot, pid and start.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/facts/stats.h"
#include "history/file_state.h"
#include "lib/array.h"

#define SECOND UINT64_C(1000000000)

void file_ids_forget(struct file_ids *ids)
{
	ids->nr = 0;
}

uint32_t file_ids_of(const struct file_ids *ids, uint32_t here)
{
	return here < ids->nr ? ids->list[here] : 0;
}

static void set_id(struct file_ids *ids, uint32_t here, uint32_t id)
{
	array_grow_unset(&ids->list, &ids->room, (size_t)here + 1);
	while (ids->nr <= here)
		ids->list[ids->nr++] = 0;
	ids->list[here] = id;
}

static int take_id(struct db *db, int64_t id, uint32_t max, uint32_t *ret_id, struct error *error)
{
	if (id < 0 || id > max)
		return db_damaged(db, error);
	*ret_id = (uint32_t)id;
	return 0;
}

/* The id that the statement finds; 0: there is none. */
static int find_id(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
		   uint32_t max, uint32_t *ret_id, struct error *error)
{
	int64_t id = 0;
	int err = db_find(db, sql, values, nr, &id, error);

	return err && err != -ENOENT ? err : take_id(db, id, max, ret_id, error);
}

/* Runs a statement that inserts a row. SQLite goes on after the largest id that it knows of. */
static int insert_id(struct db *db, enum sql sql, const struct db_value *values, size_t nr,
		     uint32_t max, uint32_t *ret_id, struct error *error)
{
	int err = db_run_with(db, sql, values, nr, error);

	return err ? err : take_id(db, sqlite3_last_insert_rowid(db->sqlite), max, ret_id, error);
}

/* ---- fields */

static struct db_value id_or_none(const struct history_file *file, uint32_t here)
{
	uint32_t id = file_ids_of(&file->field_ids, here);

	return id ? DB_NUMBER(id) : (struct db_value){ 0 };
}

static int insert_field(struct history_file *file, const struct field *field, uint32_t *ret_id,
			struct error *error)
{
	const struct db_value row[] = {
		db_column("segment", DB_NUMBER(file->segment_id)),
		db_column("name", DB_TEXT(field->name)),
		db_column("listed", DB_TEXT(field->listed)),
		db_column("label", DB_TEXT(field->label)),
		db_column("alias", DB_TEXT(field->alias)),
		db_column("parent", id_or_none(file, field->parent)),
		db_column("source", DB_NUMBER(field->source)),
		db_column("kind", DB_NUMBER(field->kind)),
		db_column("use", DB_NUMBER(field->use)),
		db_column("part", DB_NUMBER(field->part)),
		db_column("is_idle", DB_NUMBER(field->is_idle)),
		db_column("is_extra", DB_NUMBER(field->is_extra)),
		db_column("exit_rank", DB_NUMBER(field->exit_rank)),
		db_column("reason", id_or_none(file, field->reason)),
	};

	return insert_id(&file->db, SQL_ADD_FIELD, row, ARRAY_SIZE(row), SQL_FIELD_MAX, ret_id,
			 error);
}

static int add_field(struct history_file *file, uint32_t here, struct error *error)
{
	const struct field *field = fields_get(file->fields, here);
	const struct db_value name = DB_TEXT(field->name);
	uint32_t id = 0;
	int err = find_id(&file->db, SQL_FIND_FIELD, &name, 1, SQL_FIELD_MAX, &id, error);

	if (!err && id) {
		const struct db_value row[] = { DB_NUMBER(id), DB_NUMBER(file->segment_id) };

		err = db_run_with(&file->db, SQL_KEEP_FIELD, row, ARRAY_SIZE(row), error);
	} else if (!err) {
		err = insert_field(file, field, &id, error);
	}
	if (err)
		return err;
	set_id(&file->field_ids, here, id);
	set_id(&file->fields_here, id, here + 1);
	return 0;
}

int file_add_fields(struct history_file *file, struct error *error)
{
	int err = 0;

	for (uint32_t here = (uint32_t)file->field_ids.nr;
	     here < fields_count(file->fields) && !err; here++)
		err = add_field(file, here, error);
	return err;
}

/* ---- guests: a row for each; from one sample on to before another it was there */

/* A writer's first inventory is not noted. */
static int note_guest(struct history_file *file, uint32_t id, const char *what, uint64_t time_ns,
		      struct error *error)
{
	const struct db_value row[] = { DB_NUMBER(time_ns / SECOND), DB_NUMBER(file->segment_id),
					DB_NUMBER(id), DB_TEXT(what) };

	return file->has_guests ?
		       db_run_with(&file->db, SQL_NOTE_GUEST, row, ARRAY_SIZE(row), error) : 0;
}

#define GUEST_COLUMNS (11 + GUEST_WORDS)

/* The columns that may change. Returns the place after them. */
static size_t put_guest(const struct guest *guest, uint64_t sample, uint64_t time_ns,
			struct db_value *row)
{
	const struct db_value columns[] = {
		db_column("name", DB_TEXT(guest->name)),
		db_column("is_named", DB_NUMBER(guest->is_named)),
		db_column("vmm", DB_TEXT(guest->vmm)),
		db_column("vms", DB_NUMBER(guest->nr_vms)),
		db_column("vcpus", DB_NUMBER(guest->nr_vcpus)),
		db_column("seen", DB_NUMBER(sample)),
		db_column("last", DB_NUMBER(time_ns / SECOND)),
	};
	size_t nr = ARRAY_SIZE(columns);

	memcpy(row, columns, sizeof(columns));
	for (unsigned int i = 0; i < GUEST_WORDS; i++) {
		if (guest->words.text[i][0])
			row[nr++] = db_column(guest_word_names[i], DB_TEXT(guest->words.text[i]));
	}
	return nr;
}

static int insert_guest(struct history_file *file, const struct guest *guest, uint64_t sample,
			uint64_t time_ns, struct error *error)
{
	struct db_value row[GUEST_COLUMNS];
	size_t nr = put_guest(guest, sample, time_ns, row);
	uint32_t id = 0;
	int err;

	row[nr++] = db_column("boot_id", DB_TEXT(file->segment.boot_id));
	row[nr++] = db_column("pid", DB_NUMBER(guest->pid));
	if (guest->start_ticks)
		row[nr++] = db_column("start_ticks", DB_NUMBER(guest->start_ticks));
	if (guest->has_ended)
		row[nr++] = db_column("went", DB_NUMBER(sample));
	err = insert_id(&file->db, SQL_ADD_GUEST, row, nr, STATS_ENDED - 1, &id, error);
	if (err)
		return err;
	set_id(&file->guest_ids, guest->id, id);
	err = note_guest(file, id, "came", time_ns, error);
	return err || !guest->has_ended ? err : note_guest(file, id, "ended", time_ns, error);
}

static int see_guest(struct history_file *file, const struct guest *guest, uint32_t id,
		     uint64_t sample, uint64_t time_ns, struct error *error)
{
	struct db_value row[GUEST_COLUMNS];
	size_t nr = put_guest(guest, sample, time_ns, row);

	row[nr++] = db_column("guest", DB_NUMBER(id));
	return db_run_with(&file->db, SQL_SEE_GUEST, row, nr, error);
}

static int add_vcpus(struct history_file *file, const struct guest *guest, uint64_t sample,
		     struct error *error)
{
	uint32_t id = file_ids_of(&file->guest_ids, guest->id);
	int err = 0;

	for (size_t i = 0; i < guest->nr_vcpus && !err; i++) {
		const struct db_value row[] = {
			db_column("guest", DB_NUMBER(id)),
			db_column("vcpu", DB_NUMBER(guest->vcpus[i].index)),
			db_column("tid", DB_NUMBER(guest->vcpus[i].tid)),
			db_column("seen", DB_NUMBER(sample)),
			db_column("went", guest->has_ended ?
				DB_NUMBER(sample) : (struct db_value){ .type = DB_IS_NULL }),
		};

		err = db_run_with(&file->db, SQL_ADD_VCPU, row, ARRAY_SIZE(row), error);
	}
	return err;
}

/* A pid alone may be another guest's, too. */
static int find_guest(struct history_file *file, const struct guest *guest, uint32_t *ret_id,
		      struct error *error)
{
	const struct db_value identity[] = {
		DB_TEXT(file->segment.boot_id), DB_NUMBER(guest->pid),
		DB_NUMBER(guest->start_ticks),
	};

	*ret_id = file_ids_of(&file->guest_ids, guest->id);
	return *ret_id || !guest->start_ticks ?
		       0 : find_id(&file->db, SQL_FIND_GUEST, identity, ARRAY_SIZE(identity),
				   STATS_ENDED - 1, ret_id, error);
}

static int add_guest(struct history_file *file, const struct guest *guest, uint64_t sample,
		     uint64_t time_ns, struct error *error)
{
	uint32_t id = 0;
	int err = find_guest(file, guest, &id, error);

	if (!err && id)
		set_id(&file->guest_ids, guest->id, id);
	if (err || (id && guest->has_ended))
		return err;
	err = id ? see_guest(file, guest, id, sample, time_ns, error) :
		   insert_guest(file, guest, sample, time_ns, error);
	return err ? err : add_vcpus(file, guest, sample, error);
}

/* What is not in this inventory has ended; if there was no writer then, the time is not known. */
static int end_guests(struct history_file *file, uint64_t sample, uint64_t time_ns,
		      struct error *error)
{
	const struct db_value note[] = { DB_NUMBER(time_ns / SECOND), DB_NUMBER(file->segment_id),
					 DB_NUMBER(sample) };
	const struct db_value end[] = { DB_NUMBER(sample), DB_NUMBER(time_ns / SECOND) };
	int err = 0;

	if (file->has_guests)
		err = db_run_with(&file->db, SQL_NOTE_ENDED, note, ARRAY_SIZE(note), error);
	if (!err)
		err = db_run_with(&file->db, file->has_guests ? SQL_END_GUESTS : SQL_LEAVE_GUESTS,
				  end, file->has_guests ? 2 : 1, error);
	return err ? err : db_run_with(&file->db, SQL_END_VCPUS, end, 1, error);
}

int file_add_guests(struct history_file *file, const struct guests *guests, uint64_t time_ns,
		    struct error *error)
{
	const struct guest *guest;
	int64_t sample = 0;
	int err = db_number(&file->db, SQL_MAX_SAMPLE, &sample, error);

	sample++;
	for (size_t i = 0; !err && (guest = guests_at(guests, i)); i++)
		err = add_guest(file, guest, (uint64_t)sample, time_ns, error);
	for (size_t i = 0; !err && (guest = guests_ended_at(guests, i)); i++)
		err = add_guest(file, guest, (uint64_t)sample, time_ns, error);
	return err ? err : end_guests(file, (uint64_t)sample, time_ns, error);
}

/* ---- moments */

/* False: the file has no such field, or guest. */
static bool map(const struct history_file *file, struct change *change)
{
	struct key *key = &change->key;
	bool is_guest = key->guest != GUEST_NONE && key->guest != STATS_ENDED;

	key->field = file_ids_of(&file->field_ids, key->field);
	if (is_guest)
		key->guest = file_ids_of(&file->guest_ids, key->guest);
	if (change->sum)
		change->sum = file_ids_of(&file->field_ids, change->sum - 1) + 1;
	return key->field && (!is_guest || key->guest);
}

void file_map_changes(const struct history_file *file, struct changes *changes)
{
	size_t kept = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		struct change change = changes->list[i];

		if (map(file, &change))
			changes->list[kept++] = change;
	}
	changes->nr = kept;
}

void file_map_long_exits(const struct history_file *file, struct long_exits *exits)
{
	size_t kept = 0;

	for (size_t i = 0; i < exits->nr; i++) {
		struct long_exit exit = *long_exits_at(exits, i);

		exit.reason = file_ids_of(&file->field_ids, exit.reason);
		if (exit.argument != FIELD_NONE)
			exit.argument = file_ids_of(&file->field_ids, exit.argument);
		if (!exit.argument)
			exit.argument = FIELD_NONE;
		if (exit.guest != GUEST_NONE)
			exit.guest = file_ids_of(&file->guest_ids, exit.guest);
		if (exit.reason)
			exits->list[kept++] = exit;
	}
	exits->nr = kept;
}
