/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows - what a recording counted, as rows of samples.
 */
#ifndef KVMTOP_TRACE_RECORDED_ROWS_H
#define KVMTOP_TRACE_RECORDED_ROWS_H

#include "trace/recorded/provider.h"

struct recorded_row {
	struct key key;
	uint64_t count;
	bool is_timed;
	struct timing timing;
	struct spread spread;
};

/* Zero-initialised is none. */
struct recorded_rows {
	struct recorded_row *list;
	size_t nr, cap;
};

void recorded_rows_release(struct recorded_rows *rows);

/*
 * Add fields to the dictionary, and rows, of which several may have one key. Events, with reasons
 * below those that have any; or exits, what they were about, and where vCPUs' time went. An exit
 * that has no end in the recording is a part of the time, and not counted. 0 or -ENOMEM.
 */
int recorded_add_events(struct recorded_rows *rows, const struct provider_site *site);
int recorded_add_exits(struct recorded_rows *rows, const struct provider_site *site);

/* Makes rows of one key one. */
void recorded_rows_join(struct recorded_rows *rows, const struct fields *fields);

/* Adds those that are wanted to a sample. 0 or -ENOMEM. */
int recorded_rows_sample(const struct recorded_rows *rows, const struct field_set *wanted,
			 struct sample *sample);

#endif
