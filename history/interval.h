/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interval - plays what a store has between two moments as one interval.
 *
 * The monitor plays history_players (past.h) with it as their recording: one sample with the sums.
 * So totals are of the interval, and rates are of the time that was recorded, without gaps. What a
 * writer counted before its first moment is in no interval. A guest's name and vCPUs are the latest
 * known in it. Of a key and bucket at most 2^32 - 1 durations are counted.
 */
#ifndef KVMTOP_HISTORY_INTERVAL_H
#define KVMTOP_HISTORY_INTERVAL_H

#include "history/store.h"
#include "core/provider.h"
#include "core/views/query.h"
#include "core/views/view.h"

struct interval;

/* As past_new(): the store outlives it. */
struct interval *interval_new(struct store store, struct fields *fields);
void interval_free(struct interval *interval);

/*
 * Adds up the moments that are later than from_ns and not later than to_ns; call it once, before
 * monitor_open(). 0, or -errno with error; -ENOENT, without error: there is no such moment.
 */
int interval_read(struct interval *interval, uint64_t from_ns, uint64_t to_ns, struct error *error);

/* For struct monitor_recording. */
struct guests *interval_guests(struct interval *interval);
struct fields *interval_fields(struct interval *interval);

/* The first and the last moment, id 0: none; and the time that the sums are of. */
const struct stored *interval_first(const struct interval *interval);
const struct stored *interval_last(const struct interval *interval);
uint64_t interval_elapsed_ns(const struct interval *interval);

/* ---- two intervals, compared as two recordings are */

struct monitor;

/* Zero-initialised is none. */
struct history_span {
	struct interval *interval;
	struct monitor *monitor;
	struct query query; /* the caller's: which guest and vCPU, and what has a row (groups) */
	struct view view;
};

/*
 * Reads the moments that are later than from_ns and not later than to_ns. fields: as for
 * interval_new(). 0, or -errno with error; -ENOENT, without error: there is none. Release it in any
 * case.
 */
int span_read(struct history_span *span, struct store store, struct fields *fields,
	      uint64_t from_ns, uint64_t to_ns, struct error *error);
void span_release(struct history_span *span);

/* GROUP_*: which rows a comparison has where a view of this type is looked at. */
unsigned int span_groups(const struct view_type *type);

/* The spans' exits, from the first to the second: see view_diff(). */
int spans_diff(struct history_span spans[2], struct view *ret_view, struct error *error);

#endif
