/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * play - how samples are made of moments, for past.c and interval.c: the players, and what they
 * play: a moment as a live program would have taken it, or the sums of many moments.
 */
#ifndef KVMTOP_HISTORY_PLAY_H
#define KVMTOP_HISTORY_PLAY_H

#include "lib/hash.h"
#include "core/provider.h"
#include "core/facts/field.h"
#include "core/facts/stats.h"
#include "core/guests/guests.h"
#include "history/moment.h"
#include "history/store.h"

/*
 * ---- reader.c: reads moments of a store, and translates its ids of fields into ids here. Guests
 * have the store's.
 */

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
	struct mapped_field *map; /* by the field's id there */
	size_t nr_map, room_map;
	uint32_t *sum_of; /* the same, see struct sum_fields */
	size_t nr_sums, room_sums;
	struct packer *packer;
	struct blob blobs[2]; /* a part, and its histograms */
	struct moment moment; /* the latest that was unpacked */
	struct brief briefs[READER_BRIEFS]; /* by id, modulo their number */
};

/* fields: where the store's fields go; NULL: see reader_open(). */
void reader_init(struct reader *reader, struct store store, struct fields *fields);
void reader_release(struct reader *reader);

/* Fields go to this dictionary from now on, all at once. 0 or -errno with error. */
int reader_open(struct reader *reader, struct fields *fields, struct error *error);

/* And the ones that are new since, if any. */
int reader_load_fields(struct reader *reader, struct error *error);

/* The next moment, or with is_back the one before: see struct store_type's step. */
int reader_step(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct error *error);

/*
 * See struct store_type's run. The first call has before_id UINT64_MAX; the next one the id of the
 * first moment that was found.
 */
int reader_run(struct reader *reader, uint64_t from_ns, uint64_t to_ns, uint64_t before_id,
	       struct stored *ret_first, struct stored *ret_last, struct error *error);

/* reader_step() among the moments in memory: see `near` of struct store_type. */
int reader_near(struct reader *reader, const struct stored *from, bool is_back,
		struct stored *ret_stored, struct error *error);

/* As reader_near(), among moments of the same machine and boot. from: its id and segment. */
int reader_near_of_boot(struct reader *reader, const struct stored *from, bool is_back,
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

/* Whether moments may have long exits: else no moment need be read for them. */
bool reader_has_long_exits(const struct reader *reader);

/*
 * Adds the long exits of a moment, with fields of here, and its time to what was listed. Where they
 * were not listed nothing is added.
 */
int reader_long_exits(struct reader *reader, const struct stored *at, struct long_exits *to,
		      struct error *error);

/* Makes `to` the inventory of a moment. */
int reader_guests(struct reader *reader, const struct stored *at, struct guests *to,
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

/* ---- what players (past.h) play */

/* The first member of a past and of an interval. */
struct play {
	const struct play_type *type;
	struct reader reader;
};

struct play_type {
	/* The rows' fields go to this dictionary from now on. 0, or -errno with error. */
	int (*open)(struct play *play, struct fields *fields, struct error *error);
	/* How many samples there are from the first one on. */
	size_t (*rewind)(struct play *play);
	/*
	 * Adds the rows of a source in the sample of this number, from 1 on, and its time. What
	 * cannot be read has no rows, and error says so.
	 */
	void (*collect)(struct play *play, size_t nr, uint32_t source, const struct want *want,
			struct sample *sample, struct error *error);
};

/* ---- state.c: the totals of all keys after a moment */

struct key_state {
	struct key key;
	bool is_absent; /* in the sample no more */
	bool is_timed;
	bool is_gone; /* while changes are added: forgotten with them */
	uint64_t count; /* the total, or the level */
	uint64_t time_ns, max_ns; /* of what ended */
	uint64_t open_ns; /* how long what has not ended has lasted */
	uint64_t spent_ns; /* the time as it passed */
	uint64_t parent_before; /* see struct stats_item */
};

/* Zero-initialised is empty. */
struct state {
	struct key_state *list; /* ascending by key */
	size_t nr, room;
	uint64_t id; /* the moment that it is the state after; 0: not known */
};

/*
 * Makes it the state after a moment of the segment that the reader has entered: of stored totals,
 * or of what it is, and the changes since. 0, or -errno with error and the state not known.
 */
int state_read(struct state *state, struct reader *reader, const struct stored *stored,
	       struct error *error);

/*
 * Goes on to the next moment. flags: the moment's, MOMENT_*; ids: of its segment. Its changes are
 * sorted. Durations that were not unpacked stay as the state has them.
 */
void state_apply(struct state *state, const struct changes *changes, uint32_t flags,
		 const struct reader *reader);

void state_release(struct state *state);

/*
 * ---- rates.c: the rates of all keys in the moments before one that is played, for sparklines: so
 * these moments need not be played themselves
 */

struct rates_key {
	struct key key;
	uint32_t is_new; /* bits of columns: the key is in no earlier moment */
	float per_s[STATS_HISTORY]; /* by column */
};

struct rates_column {
	uint64_t id; /* of the moment; 0: the column is free */
	bool has_source[SAMPLE_SOURCES]; /* its rates are known */
};

/* What a key of a moment counted. */
struct rates_change {
	struct key key;
	uint32_t source;
	bool is_new, has_rate;
	uint64_t count;
};

/* Zero-initialised is empty. */
struct rates {
	struct rates_key *keys; /* ascending */
	size_t nr, room;
	struct rates_column columns[STATS_HISTORY];
	uint64_t chosen[STATS_HISTORY]; /* moments, the oldest first */
	size_t nr_chosen;
	size_t order[STATS_HISTORY]; /* their columns; STATS_HISTORY: there is none */
	struct rates_change *changes; /* of the next column */
	size_t nr_changes, room_changes;
	size_t next; /* the index of the next key if keys are asked for in their order */
};

/*
 * Chooses at most STATS_HISTORY moments, the oldest first; 0 is a moment that nothing is known of.
 * Columns of others become free.
 */
void rates_choose(struct rates *rates, const uint64_t *ids, size_t nr);

/* Whether a moment was chosen and has no column yet. */
bool rates_want(const struct rates *rates, uint64_t id);

/* A change of the moment that is put next; of a counter. */
void rates_add(struct rates *rates, const struct rates_change *change);

/* Makes the column of a chosen moment of the changes. elapsed_ns: by source; 0: no rates. */
void rates_put(struct rates *rates, uint64_t id, const uint64_t *elapsed_ns);

/* A key's rates in the chosen moments, the newest last; < 0: none. */
void rates_of(struct rates *rates, const struct key *key, uint32_t source, float *ret_history);

void rates_release(struct rates *rates);

/*
 * ---- replay.c: samples of moments, with what stats had made of them
 *
 * The first sample is the moment that was chosen, with the rates of the moments before it for
 * sparklines; further ones are the moments that are added.
 */

/* A moment with one of these uses nothing of the moment before. */
#define NOTHING_BEFORE (MOMENT_FIRST | MOMENT_AFTER_LOSS)

struct replay {
	struct reader *reader;
	struct stored at, prev; /* the moment before it; id 0: none that is used */
	size_t nr_added; /* moments */
	/* Read when the first sample is played: */
	uint64_t before_ns[SAMPLE_SOURCES]; /* when the sources were read before; 0: not known */
	struct rates rates; /* up to the moment before */
	/* The sample that was played last: its number, and the totals after it. */
	size_t nr_played;
	struct moment moment;
	struct long_exits long_exits; /* the moment's, with fields of here */
	struct state state;
};

/* Chooses a moment. */
void replay_choose(struct replay *replay, const struct stored *at, const struct stored *prev);

/* Adds the next moment, which is chosen from now on. */
void replay_add(struct replay *replay, const struct stored *at);

size_t replay_samples(const struct replay *replay);

/* Whether a moment follows the samples, all of which were played, and goes on from them. */
bool replay_goes_on(const struct replay *replay, const struct stored *at);

/* The dictionary may be another one: nothing is played. */
void replay_forget(struct replay *replay);

/* Plays up to the sample of this number. 0, or -errno with error. */
int replay_go_to(struct replay *replay, size_t nr, struct error *error);

/* Adds the rows of a source, and its time, to the sample that was played last. */
void replay_collect(struct replay *replay, uint32_t source, const struct want *want,
		    struct sample *sample);

void replay_release(struct replay *replay);

/* Adds long exits that were read to a sample, or says that none were kept. */
void play_long_exits(const struct long_exits *exits, struct sample *sample);

/* ---- tally.c: what happened to keys, summed up over moments */

/* What happened to a key of the dictionary here. */
struct tally_sum {
	struct key key;
	bool is_timed;
	bool has_level; /* the latest one is known: moments are read backwards */
	uint64_t count;
	uint64_t time_ns, ended_ns, longest_ns; /* ended: of what ended, as a whole */
	uint64_t open_ns; /* how long what has not ended at the end has lasted */
	uint64_t hist[HIST_BUCKETS];
	UT_hash_handle hh;
};

struct tally {
	const struct reader *reader; /* of the segment that keys are of */
	const struct fields *fields;
	const struct guests *guests; /* others are summed up as STATS_ENDED */
	struct tally_sum *sums;
	unsigned int uses; /* of keys that were there, as bits */
};

/* Adds the changes of a moment. is_last: what is open is open at the end. */
void tally_add(struct tally *tally, const struct changes *changes, bool is_last);

/*
 * Adds the difference of two totals, which go on from `low` to `high`. Before that, what was
 * forgotten between them is added from each of the totals that have it, in their order, high the
 * last: then low has it no more.
 */
void tally_add_forgotten(struct tally *tally, struct changes *low, const struct changes *totals);
void tally_add_between(struct tally *tally, const struct changes *low, const struct changes *high);

/*
 * Adds what the latest totals have: a row of 0 for each key that was there and did nothing, and the
 * latest levels.
 */
void tally_add_present(struct tally *tally, const struct changes *totals, bool is_last);

/* Adds the rows of a source to a sample: all of it is of one interval. */
void tally_play(const struct tally *tally, uint32_t source, const struct want *want,
		struct sample *sample);

void tally_release(struct tally *tally);

#endif
