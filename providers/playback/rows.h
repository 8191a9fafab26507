/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows - rows that will be in a sample: several may have one key, until they are joined. */
#ifndef KVMTOP_PROVIDERS_PLAYBACK_ROWS_H
#define KVMTOP_PROVIDERS_PLAYBACK_ROWS_H

#include <stdbool.h>

#include "core/facts/field.h"
#include "core/facts/sample.h"

struct played_row {
	struct key key;
	uint32_t timing; /* 0: not timed; else the rows' timings[timing - 1] */
	uint64_t count;
};

/* Zero-initialised is none. */
struct played_rows {
	struct played_row *list;
	size_t nr, room;
	struct timing *timings;
	size_t nr_timings, room_timings;
	struct spread **joined; /* of several rows, owned by the rows */
	size_t nr_joined, room_joined;
};

/* timing is copied, but not its spread, which outlives the rows; NULL: the row is not timed. */
void played_rows_add(struct played_rows *rows, struct key key, uint64_t count,
		     const struct timing *timing);

/* The durations of a row; NULL: it is not timed. */
static inline struct timing *played_rows_timing(const struct played_rows *rows,
						const struct played_row *row)
{
	return row->timing ? &rows->timings[row->timing - 1] : NULL;
}

/* < 0, 0, > 0: the order of joined rows, by guest, vCPU, field. */
int played_rows_compare(const struct played_row *a, const struct played_row *b);

/* Adds up the rows of each key, keeps one of a gauge or a peak, and sorts by key. */
void played_rows_join(struct played_rows *rows, const struct fields *fields);

/* Adds the rows of wanted fields to a sample; wanted NULL: of all. */
void played_rows_sample(const struct played_rows *rows, const struct field_set *wanted,
			uint32_t flags, struct sample *sample);

/* Empties them and keeps their memory. */
void played_rows_reset(struct played_rows *rows);
void played_rows_release(struct played_rows *rows);

#endif
