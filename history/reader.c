// SPDX-License-Identifier: GPL-2.0-or-later
/* Unpacks parts of moments, of one segment at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/reader.h"

void reader_init(struct reader *reader, struct store store, struct fields *fields)
{
	*reader = (struct reader){
		.store = store,
		.ids = segment_ids_new(store, fields),
		.others = guests_new(NULL),
		.packer = packer_new(),
	};
}

void reader_release(struct reader *reader)
{
	segment_ids_free(reader->ids);
	guests_free(reader->others);
	packer_free(reader->packer);
	blob_release(&reader->blob);
	moment_release(&reader->moment);
	for (size_t i = 0; i < READER_BRIEFS; i++)
		free(reader->briefs[i].counts);
}

void reader_hold(struct reader *reader, bool is_held)
{
	if (reader->store.type->hold)
		reader->store.type->hold(reader->store.state, is_held);
}

int reader_step(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct why *why)
{
	return reader->store.type->step(reader->store.state, from->id, is_back, ret_stored, why);
}

int reader_near(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct why *why)
{
	const struct store *store = &reader->store;

	return store->type->near ?
		       store->type->near(store->state, from->id, is_back, ret_stored, why) :
		       reader_step(reader, from, is_back, ret_stored, why);
}

int reader_find_flagged(struct reader *reader, uint64_t id, uint32_t flags,
			struct stored *ret_stored, struct why *why)
{
	return reader->store.type->find_flagged(reader->store.state, id, flags, ret_stored, why);
}

static int read_part(struct reader *reader, uint64_t id, enum moment_part part, struct why *why)
{
	return reader->store.type->read(reader->store.state, id, part, &reader->blob, why);
}

static void make_brief(struct reader *reader, uint64_t id, const struct moment *moment)
{
	struct brief *brief = &reader->briefs[id % READER_BRIEFS];
	const struct changes *changes = &moment->changes;

	brief->id = 0;
	brief->nr = 0;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		uint32_t field = segment_ids_field(reader->ids, change->key.field);

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
		   struct moment *ret_moment, struct why *why)
{
	struct moment *moment = ret_moment ? ret_moment : &reader->moment;
	int err = read_part(reader, id, PART_CHANGES, why);

	if (!err)
		err = unpack_changes(reader->packer, &reader->blob, depth, moment, why);
	if (!err)
		make_brief(reader, id, moment);
	return err;
}

int reader_brief(struct reader *reader, uint64_t id, const struct brief **ret_brief,
		 struct why *why)
{
	const struct brief *brief = &reader->briefs[id % READER_BRIEFS];
	int err = brief->id == id ? 0 : reader_changes(reader, id, UNPACK_COUNTS, NULL, why);

	if (!err)
		*ret_brief = brief;
	return err;
}

int reader_totals(struct reader *reader, uint64_t id, struct moment *ret_moment, struct why *why)
{
	int err = read_part(reader, id, PART_TOTALS, why);

	return err ? err : unpack_totals(reader->packer, &reader->blob, UNPACK_ALL,
					 ret_moment ? ret_moment : &reader->moment, why);
}

int reader_guests(struct reader *reader, const struct stored *at, struct guests *to,
		  struct why *why)
{
	struct stored from;
	int err = reader_find_flagged(reader, at->id, MOMENT_HAS_GUESTS, &from, why);

	if (!err)
		err = read_part(reader, from.id, PART_GUESTS, why);
	if (!err)
		err = unpack_guests(reader->packer, &reader->blob, &reader->moment, why);
	if (!err)
		segment_ids_guests(reader->ids, reader->moment.guests, to);
	return err;
}

int reader_enter(struct reader *reader, const struct stored *at, struct why *why)
{
	int err = 0;

	if (at->segment != reader->segment_id)
		err = reader->store.type->segment(reader->store.state, at->segment,
						  &reader->segment, why);
	if (!err)
		err = segment_ids_load(reader->ids, at->segment, &reader->segment, why);
	reader->segment_id = err ? 0 : at->segment;
	return err;
}

int reader_visit(struct reader *reader, const struct stored *at, struct why *why)
{
	int err;

	if (at->segment == reader->segment_id)
		return 0;
	err = reader_enter(reader, at, why);
	return err ? err : reader_guests(reader, at, reader->others, why);
}

int reader_is_same_boot(struct reader *reader, uint32_t a, uint32_t b, bool *ret_is_same,
			struct why *why)
{
	struct segment segments[2];
	int err = reader->store.type->segment(reader->store.state, a, &segments[0], why);

	if (!err)
		err = reader->store.type->segment(reader->store.state, b, &segments[1], why);
	if (!err)
		*ret_is_same = strcmp(segments[0].boot_id, segments[1].boot_id) == 0 &&
			       strcmp(segments[0].host, segments[1].host) == 0;
	return err;
}
