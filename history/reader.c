// SPDX-License-Identifier: GPL-2.0-or-later
/* Unpacks parts of moments. Fields are mapped by their names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/play.h"

struct mapped_field {
	uint32_t here;	 /* its id here */
	uint32_t parent; /* its parent's id there */
};

void reader_init(struct reader *reader, struct store store, struct fields *fields)
{
	*reader = (struct reader){
		.store = store,
		.fields = fields,
		.packer = packer_new(),
	};
}

void reader_release(struct reader *reader)
{
	free(reader->map);
	packer_free(reader->packer);
	free(reader->sum_of);
	blob_release(&reader->blobs[0]);
	blob_release(&reader->blobs[1]);
	moment_release(&reader->moment);
	for (size_t i = 0; i < READER_BRIEFS; i++)
		free(reader->briefs[i].counts);
}

/* ---- fields */

uint32_t reader_field(const struct reader *reader, uint32_t field)
{
	return field < reader->nr_map ? reader->map[field].here : FIELD_NONE;
}

/* Fields ascend; others have no sum. */
static void set_sum(struct reader *reader, uint32_t id, const struct field *field)
{
	array_grow(&reader->sum_of, &reader->room_sums, (size_t)id + 1);
	while (reader->nr_sums < id)
		reader->sum_of[reader->nr_sums++] = 0;
	reader->sum_of[reader->nr_sums++] = field_adds_up(field) ? field->parent + 1 : 0;
}

static int take_field(void *arg, uint32_t id, const struct field *field)
{
	struct reader *reader = arg;
	struct field spec = *field;
	struct mapped_field *mapped;

	if (id < reader->nr_map) /* the ids of a damaged file may not ascend */
		return 0;
	array_grow(&reader->map, &reader->room_map, (size_t)id + 1);
	while (reader->nr_map < id)
		reader->map[reader->nr_map++] = (struct mapped_field){ FIELD_NONE, FIELD_NONE };
	mapped = &reader->map[id];
	mapped->parent = spec.parent;
	set_sum(reader, id, field);
	if (spec.parent != FIELD_NONE)
		spec.parent = reader_field(reader, spec.parent);
	if (spec.reason != FIELD_NONE)
		spec.reason = reader_field(reader, spec.reason);
	mapped->here = fields_add(reader->fields, &spec);
	reader->nr_map++;
	return 0;
}

int reader_load_fields(struct reader *reader, struct error *error)
{
	const struct store *store = &reader->store;

	if (!reader->fields)
		return 0;
	return store->type->fields(store->state, (uint32_t)reader->nr_map, take_field, reader,
				   error);
}

int reader_open(struct reader *reader, struct fields *fields, struct error *error)
{
	if (reader->fields == fields)
		return 0;
	reader->fields = fields;
	reader->nr_map = 0;
	reader->nr_sums = 0;
	return reader_load_fields(reader, error);
}

bool reader_has_source(const struct reader *reader, uint32_t source)
{
	for (uint32_t i = 0; i < fields_count(reader->fields); i++) {
		if (fields_get(reader->fields, i)->source == source)
			return true;
	}
	return false;
}

bool reader_is_counter(const struct reader *reader, uint32_t field)
{
	uint32_t id = reader_field(reader, field);

	return id == FIELD_NONE || fields_get(reader->fields, id)->kind == FIELD_COUNTER;
}

uint32_t reader_event(const struct reader *reader, uint32_t field)
{
	uint32_t id = reader_field(reader, field);

	if (id == FIELD_NONE || fields_get(reader->fields, id)->use != USE_EVENT)
		return FIELD_NONE;
	return reader->map[field].parent;
}

bool reader_key(const struct reader *reader, const struct key *key, uint32_t *ret_source,
		     struct key *ret_key)
{
	uint32_t field = reader_field(reader, key->field);

	if (field == FIELD_NONE)
		return false;
	*ret_source = fields_get(reader->fields, field)->source;
	*ret_key = (struct key){ key->guest, key->vcpu, field };
	return true;
}

/* ---- moments */

void reader_hold(struct reader *reader, bool is_held)
{
	if (reader->store.type->hold)
		reader->store.type->hold(reader->store.state, is_held);
}

int reader_step(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct error *error)
{
	return reader->store.type->step(reader->store.state, from->id, is_back, ret_stored, error);
}

/* Where time never goes back there is one run. */
static int find_run(struct reader *reader, uint64_t from_ns, uint64_t to_ns,
		    struct stored *ret_first, struct stored *ret_last, struct error *error)
{
	const struct store *store = &reader->store;
	struct stored first = { 0 }, last = { 0 };
	int err = store->type->find(store->state, to_ns, &last, error);

	if (!err)
		err = store->type->find(store->state, from_ns, &first, error);
	if (!err && first.time_ns <= from_ns)
		err = reader_step(reader, &first, false, &first, error);
	if (!err && (last.time_ns > to_ns || last.id < first.id))
		err = -ENOENT;
	if (err)
		return err;
	*ret_first = first;
	*ret_last = last;
	return 0;
}

int reader_run(struct reader *reader, uint64_t from_ns, uint64_t to_ns, uint64_t before_id,
	       struct stored *ret_first, struct stored *ret_last, struct error *error)
{
	const struct store *store = &reader->store;

	if (store->type->run)
		return store->type->run(store->state, from_ns, to_ns, before_id, ret_first,
					ret_last, error);
	return before_id == UINT64_MAX ?
		       find_run(reader, from_ns, to_ns, ret_first, ret_last, error) : -ENOENT;
}

int reader_near(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct error *error)
{
	const struct store *store = &reader->store;

	return store->type->near ?
		       store->type->near(store->state, from->id, is_back, ret_stored, error) :
		       reader_step(reader, from, is_back, ret_stored, error);
}

int reader_near_of_boot(struct reader *reader, const struct stored *from, bool is_back,
			struct stored *ret_stored, struct error *error)
{
	const struct store *store = &reader->store;
	struct segment segments[2];
	int err = reader_near(reader, from, is_back, ret_stored, error);

	if (err || ret_stored->segment == from->segment)
		return err;
	err = store->type->segment(store->state, ret_stored->segment, &segments[0], error);
	if (!err)
		err = store->type->segment(store->state, from->segment, &segments[1], error);
	if (!err && (strcmp(segments[0].boot_id, segments[1].boot_id) != 0 ||
		     strcmp(segments[0].host, segments[1].host) != 0))
		err = -ENOENT;
	return err;
}

int reader_find_flagged(struct reader *reader, uint64_t id, uint32_t flags,
			struct stored *ret_stored, struct error *error)
{
	return reader->store.type->find_flagged(reader->store.state, id, flags, ret_stored, error);
}

/* nr: 2 with the histograms, which follow. */
static int read_parts(struct reader *reader, uint64_t id, enum moment_part part, unsigned int nr,
		      struct error *error)
{
	const struct store *store = &reader->store;
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++)
		err = store->type->read(store->state, id, part + i, &reader->blobs[i], error);
	return err;
}

static bool has_new_fields(const struct changes *changes, size_t nr_known)
{
	size_t i = 0;

	while (i < changes->nr && changes->list[i].key.field < nr_known)
		i++;
	return i < changes->nr;
}

/*
 * Without its fields a row is no part of a sum: then they are read, and it once more. Fields that
 * cannot be read were an error when they were loaded first.
 */
static int read_rows(struct reader *reader, uint64_t id, enum moment_part part,
		     enum unpack_depth depth, struct moment *moment, struct error *error)
{
	const struct changes *changes = part == PART_CHANGES ? &moment->changes : &moment->totals;
	struct sum_fields fields = { reader->sum_of, reader->nr_sums };
	int err = read_parts(reader, id, part, depth == UNPACK_ALL ? 2 : 1, error);

	if (!err)
		err = unpack_rows(reader->packer, part, reader->blobs, depth, &fields, moment,
				  error);
	if (err || !has_new_fields(changes, fields.nr))
		return err;
	if (reader_load_fields(reader, &(struct error){ "" }) || reader->nr_sums == fields.nr)
		return 0;
	fields = (struct sum_fields){ reader->sum_of, reader->nr_sums };
	return unpack_rows(reader->packer, part, reader->blobs, depth, &fields, moment, error);
}

static void make_brief(struct reader *reader, uint64_t id, const struct moment *moment)
{
	struct brief *brief = &reader->briefs[id % READER_BRIEFS];
	const struct changes *changes = &moment->changes;

	brief->id = 0;
	brief->nr = 0;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		uint32_t field = reader_field(reader, change->key.field);

		if (field == FIELD_NONE ||
		    change->flags & ~(uint32_t)(CHANGE_NEW | CHANGE_HAS_RATE))
			continue;
		array_grow(&brief->counts, &brief->room, (size_t)field + 1);
		while (brief->nr <= field)
			brief->counts[brief->nr++] = 0;
		brief->counts[field] += change->count;
	}
	memcpy(brief->source_ns, moment->source_ns, sizeof(brief->source_ns));
	brief->id = id;
}

int reader_changes(struct reader *reader, uint64_t id, enum unpack_depth depth,
		   struct moment *ret_moment, struct error *error)
{
	struct moment *moment = ret_moment ? ret_moment : &reader->moment;
	int err = read_rows(reader, id, PART_CHANGES, depth, moment, error);

	if (!err)
		make_brief(reader, id, moment);
	return err;
}

int reader_brief(struct reader *reader, uint64_t id, const struct brief **ret_brief,
		 struct error *error)
{
	const struct brief *brief = &reader->briefs[id % READER_BRIEFS];
	int err = brief->id == id ? 0 : reader_changes(reader, id, UNPACK_COUNTS, NULL, error);

	if (!err)
		*ret_brief = brief;
	return err;
}

int reader_totals(struct reader *reader, uint64_t id, struct moment *ret_moment,
		  struct error *error)
{
	return read_rows(reader, id, PART_TOTALS, UNPACK_ALL,
			 ret_moment ? ret_moment : &reader->moment, error);
}

/* Whether it has a field here. */
static bool map_long_exit(const struct reader *reader, struct long_exit *exit)
{
	exit->reason = reader_field(reader, exit->reason);
	exit->argument = reader_field(reader, exit->argument);
	if (exit->reason == FIELD_NONE)
		return false;
	exit->is_idle = fields_get(reader->fields, exit->reason)->is_idle;
	return true;
}

bool reader_has_long_exits(const struct reader *reader)
{
	return reader->store.type->has_long_exits;
}

int reader_long_exits(struct reader *reader, const struct stored *at, struct long_exits *to,
		      struct error *error)
{
	struct long_exits *here = &reader->moment.long_exits;
	uint64_t began_ns = at->time_ns - at->elapsed_ns;
	int err = read_parts(reader, at->id, PART_LONG_EXITS, 1, error);

	if (!err)
		err = unpack_long_exits(reader->packer, &reader->blobs[0], at->time_ns, here,
					error);
	if (err || !here->longer_ns)
		return err;
	for (size_t i = 0; i < here->nr; i++) {
		struct long_exit exit = *long_exits_at(here, i);

		if (map_long_exit(reader, &exit))
			long_exits_add(to, &exit);
	}
	to->lost += here->lost;
	to->longer_ns = here->longer_ns > to->longer_ns ? here->longer_ns : to->longer_ns;
	to->listed_ns += at->elapsed_ns;
	if (!to->since_ns || began_ns < to->since_ns)
		to->since_ns = began_ns;
	return 0;
}

/* A copy: the moment's may be needed again. */
static void copy_guests(const struct guests *from, struct guests *to)
{
	const struct guest *guest;

	guests_clear(to);
	for (size_t i = 0; (guest = guests_ended_at(from, i)); i++)
		guests_put(to, guest);
	for (size_t i = 0; (guest = guests_at(from, i)); i++)
		guests_put(to, guest);
}

int reader_guests(struct reader *reader, const struct stored *at, struct guests *to,
		  struct error *error)
{
	const struct store *store = &reader->store;
	struct stored from;
	int err;

	if (store->type->guests)
		return store->type->guests(store->state, at, to, error);
	err = reader_find_flagged(reader, at->id, MOMENT_HAS_GUESTS, &from, error);
	if (!err)
		err = read_parts(reader, from.id, PART_GUESTS, 1, error);
	if (!err)
		err = unpack_guests(reader->packer, &reader->blobs[0], &reader->moment, error);
	if (!err)
		copy_guests(reader->moment.guests, to);
	return err;
}
