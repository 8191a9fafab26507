/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - reads moments of a store, and translates their ids into ids of the dictionary here.
 */
#ifndef KVMTOP_HISTORY_READER_H
#define KVMTOP_HISTORY_READER_H

#include "history/segment_ids.h"
#include "history/store.h"

#define READER_BRIEFS 128

/* What is remembered of a moment after its changes were unpacked. */
struct brief {
	uint64_t id; /* 0: none */
	uint64_t source_ns[SAMPLE_SOURCES]; /* when its sources were read */
	uint64_t *counts; /* of all guests, by the reader's field; fields from nr on: 0 */
	size_t nr, room;
};

struct reader {
	struct store store;
	struct segment_ids *ids;
	uint32_t segment_id; /* the segment that ids are of; 0: none yet */
	struct segment segment;
	struct guests *others; /* the latest inventory of a segment that was visited */
	struct packer *packer;
	struct blob blob;
	struct moment moment; /* the latest that was unpacked */
	struct brief briefs[READER_BRIEFS]; /* by id, modulo their number */
};

/* fields: as for segment_ids_new(). */
void reader_init(struct reader *reader, struct store store, struct fields *fields);
void reader_release(struct reader *reader);

/* The next moment, or with is_back the one before: see struct store_type's step. */
int reader_step(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct why *why);

/* The same of what is in memory: see struct store_type's near. */
int reader_near(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct why *why);

/* The latest moment up to id, in its segment, that has one of the flags. */
int reader_find_flagged(struct reader *reader, uint64_t id, uint32_t flags,
			struct stored *ret_stored, struct why *why);

/* Unpacks a moment's changes into ret_moment, or with NULL into reader->moment. */
int reader_changes(struct reader *reader, uint64_t id, enum unpack_depth depth,
		   struct moment *ret_moment, struct why *why);

/* Unpacks totals into ret_moment, or with NULL into reader->moment. */
int reader_totals(struct reader *reader, uint64_t id, struct moment *ret_moment, struct why *why);

/* Makes `to` the inventory of a moment of the segment, under the ids here. */
int reader_guests(struct reader *reader, const struct stored *at, struct guests *to,
		  struct why *why);

/* From now on ids are of the segment of this moment, and there may be new fields. */
int reader_enter(struct reader *reader, const struct stored *at, struct why *why);

/* The same for moments of another segment, which is only looked at: with the guests of `at`. */
int reader_visit(struct reader *reader, const struct stored *at, struct why *why);

/* Whether a segment was written by the same machine since the same boot. */
int reader_is_same_boot(struct reader *reader, uint32_t a, uint32_t b, bool *ret_is_same,
			struct why *why);

/* The brief of a moment, until the next call; unpacks the moment if there is none. */
int reader_brief(struct reader *reader, uint64_t id, const struct brief **ret_brief,
		 struct why *why);

/* While it is held a reader's calls cost less; see struct store_type. */
void reader_hold(struct reader *reader, bool is_held);

#endif
