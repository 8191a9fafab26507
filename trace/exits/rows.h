/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows - the counts of a recording as rows of a sample.
 */
#ifndef KVMTOP_TRACE_EXITS_ROWS_H
#define KVMTOP_TRACE_EXITS_ROWS_H

#include "providers/playback/rows.h"
#include "trace/exits/recorded.h"

/*
 * Add fields of this source to the dictionary, which is the same in all calls, and rows: events
 * with their reasons as children; or exits, their arguments, and the vCPUs' time split. Several
 * rows may have the same key. An exit without an end in the recording adds to the time split, but
 * is not counted as an exit. No event says that a guest has ended: so the time of a vCPU in user
 * space ends with its guest's last event.
 */
void recorded_add_events(struct played_rows *rows, const struct recorded *recorded,
			 struct fields *fields, uint32_t source);
void recorded_add_exits(struct played_rows *rows, const struct recorded *recorded,
			struct fields *fields, uint32_t source);

/* The long exits that were kept, after recorded_add_exits(). */
void recorded_long_exits(const struct recorded *recorded, struct fields *fields, uint32_t source,
			 struct long_exits *ret_exits);

#endif
