/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows - rows on their way into a sample: several may have one key, until they are joined.
 */
#ifndef KVMTOP_PROVIDERS_PLAYBACK_ROWS_H
#define KVMTOP_PROVIDERS_PLAYBACK_ROWS_H

#include <stdbool.h>

#include "core/facts/field.h"
#include "core/facts/sample.h"

struct played_row {
	struct key key;
	uint64_t count;
	bool is_timed;
	struct timing timing; /* all 0 where it is not timed, and without its spread: */
	struct spread spread;
};

/* Zero-initialised is none. */
struct played_rows {
	struct played_row *list;
	size_t nr, room;
	bool has_percentiles; /* the buckets of joined spreads are joined, too */
	struct buckets **joined; /* owned by the rows */
	size_t nr_joined, room_joined;
};

int played_rows_add(struct played_rows *rows, const struct played_row *row); /* 0 or -ENOMEM */

/* < 0, 0, > 0: the order of joined rows, by guest, vCPU, field. */
int played_rows_compare(const struct played_row *a, const struct played_row *b);

/* Adds up the rows of each key, keeps one of a gauge or a peak, and sorts by key. 0 or -ENOMEM. */
int played_rows_join(struct played_rows *rows, const struct fields *fields);

/* Adds the rows of wanted fields to a sample. 0 or -ENOMEM. */
int played_rows_sample(const struct played_rows *rows, const struct field_set *wanted,
		       uint32_t flags, struct sample *sample);

void played_rows_release(struct played_rows *rows);

#endif
