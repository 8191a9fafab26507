/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kinds - the kinds of recordings: their names, and which kind a file is.
 *
 * There are two lists, each in the order in which the readers are asked: for events, and for
 * records, which is what `kvmtop format` prints.
 */
#ifndef KVMTOP_TRACE_RECORDING_KINDS_H
#define KVMTOP_TRACE_RECORDING_KINDS_H

#include "lib/error.h"
#include "trace/recording/event.h"

struct head;
struct trace_reader;

const char *trace_kind_name(enum trace_kind kind); /* "trace.dat", "perf.data", "acrn", ... */

/* By this name, for --input-format. Returns 0, or -EINVAL with why: no kind has the name. */
int trace_kind_by_name(const char *name, enum trace_kind *ret_kind, struct error *why);
int trace_record_kind_by_name(const char *name, enum trace_kind *ret_kind, struct error *why);

/* The reader for a file of this kind; TRACE_ANY: chosen by the file's head. NULL: there is none. */
const struct trace_reader *trace_event_reader(enum trace_kind kind, const struct head *head);

/* The same for records; if no event is known, by what the records look like. NULL: see why. */
const struct trace_reader *trace_record_reader(enum trace_kind kind, const struct head *head,
					       const char *path, struct error *why);

/* Whether it is text: without control characters but white space. */
bool trace_head_is_text(const struct head *head);

#endif
