/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates - the rates of all keys in the moments before one that is played: for sparklines, so that
 * these moments need not be played themselves.
 */
#ifndef KVMTOP_HISTORY_RATES_H
#define KVMTOP_HISTORY_RATES_H

#include "core/facts/stats.h"

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

#endif
