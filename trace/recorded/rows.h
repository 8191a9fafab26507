/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows - what a recording counted, as rows of a sample.
 */
#ifndef KVMTOP_TRACE_RECORDED_ROWS_H
#define KVMTOP_TRACE_RECORDED_ROWS_H

#include "providers/playback/rows.h"
#include "trace/recorded/recorded.h"

/*
 * Add fields of this source to the dictionary, and rows, of which several may have one key: events
 * with their reasons as children; or exits, their arguments, and where the vCPUs' time went. The
 * time of an exit without an end in the recording is in there, but it is not counted as an exit.
 * 0 or -ENOMEM.
 */
int recorded_add_events(struct played_rows *rows, const struct recorded *recorded,
			struct fields *fields, uint32_t source);
int recorded_add_exits(struct played_rows *rows, const struct recorded *recorded,
		       struct fields *fields, uint32_t source);

#endif
