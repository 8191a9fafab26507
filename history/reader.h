/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - reads moments of a store, and translates its ids of fields into ids here. Guests have
 * the store's.
 */
#ifndef KVMTOP_HISTORY_READER_H
#define KVMTOP_HISTORY_READER_H

#include "core/facts/field.h"
#include "history/store.h"
#include "core/guests/guests.h"

#define READER_BRIEFS 128

/* What is remembered of a moment after its changes were unpacked. */
struct brief {
	uint64_t id; /* 0: none */
	uint64_t source_ns[SAMPLE_SOURCES]; /* when its sources were read */
	uint64_t *counts; /* of all guests, by the reader's field; fields from nr on: 0 */
	size_t nr, room;
};

struct mapped_field;

struct reader {
	struct store store;
	struct fields *fields; /* the dictionary here; NULL: none yet, see reader_open() */
	bool is_same; /* ids are the same there and here */
	struct mapped_field *map; /* by the field's id there */
	size_t nr_map, room_map;
	uint32_t *sum_of; /* the same, see struct sum_fields */
	size_t nr_sums, room_sums;
	struct packer *packer;
	struct blob blobs[2]; /* a part, and its histograms */
	struct moment moment; /* the latest that was unpacked */
	struct brief briefs[READER_BRIEFS]; /* by id, modulo their number */
};

/* fields: the dictionary that the store's ids are of; NULL: see reader_open(). */
void reader_init(struct reader *reader, struct store store, struct fields *fields);
void reader_release(struct reader *reader);

/* Fields go to this dictionary from now on, all at once. 0 or -errno with error. */
int reader_open(struct reader *reader, struct fields *fields, struct error *error);

/* And the ones that are new since, if any. */
int reader_load_fields(struct reader *reader, struct error *error);

/* The next moment, or with is_back the one before: see struct store_type's step. */
int reader_step(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct error *error);

/* The same of what is in memory: see struct store_type's near. */
int reader_near(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct error *error);

/* The latest moment up to id, in its segment, that has one of the flags. */
int reader_find_flagged(struct reader *reader, uint64_t id, uint32_t flags,
			struct stored *ret_stored, struct error *error);

/* Unpacks a moment's changes into ret_moment, or with NULL into reader->moment. */
int reader_changes(struct reader *reader, uint64_t id, enum unpack_depth depth,
		   struct moment *ret_moment, struct error *error);

/* Unpacks totals into ret_moment, or with NULL into reader->moment. */
int reader_totals(struct reader *reader, uint64_t id, struct moment *ret_moment,
		  struct error *error);

/* Makes `to` the inventory of a moment. */
int reader_guests(struct reader *reader, const struct stored *at, struct guests *to,
		  struct error *error);

/* Whether a segment was written by the same machine since the same boot. */
int reader_is_same_boot(struct reader *reader, uint32_t a, uint32_t b, bool *ret_is_same,
			struct error *error);

/* The brief of a moment, until the next call; unpacks the moment if there is none. */
int reader_brief(struct reader *reader, uint64_t id, const struct brief **ret_brief,
		 struct error *error);

/* While it is held a reader's calls cost less; see struct store_type. */
void reader_hold(struct reader *reader, bool is_held);

/* ---- ids of the store */

/* Whether the dictionary here has a field of the source. */
bool reader_has_source(const struct reader *reader, uint32_t source);

/* Whether a field, by its id there, is a counter. */
bool reader_is_counter(const struct reader *reader, uint32_t field);

/* The event that a field is a reason of, both by their ids there; FIELD_NONE: of none. */
uint32_t reader_event(const struct reader *reader, uint32_t field);

/* The field here of a field of the store; FIELD_NONE: it is not known. */
uint32_t reader_field(const struct reader *reader, uint32_t field);

/* The key here of a key of the store, and its field's source. False: its field is not known. */
bool reader_key(const struct reader *reader, const struct key *key, uint32_t *ret_source,
		struct key *ret_key);

#endif
