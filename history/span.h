/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span - plays what a store has between two moments as one interval.
 *
 * The monitor plays span_players with a span as their recording: a first sample where nothing has
 * happened, and a second one with the sums. So totals are of the span, and rates are of the
 * time that was recorded, without gaps. What a writer counted before its first moment is in no
 * interval. A guest's name and vCPUs are the latest known in the span. Of a key and bucket at most
 * 2^32 - 1 durations are counted.
 */
#ifndef KVMTOP_HISTORY_SPAN_H
#define KVMTOP_HISTORY_SPAN_H

#include "history/store.h"
#include "providers/playback/player.h"

struct span;

/* As past_new(): the store outlives the span. 0 or -ENOMEM. */
int span_new(struct store store, struct fields *fields, struct span **ret_span);
void span_free(struct span *span);

/*
 * Adds up the moments that are later than from_ns and not later than to_ns; call it once, before
 * monitor_open(). 0, or -errno with why; -ENOENT, without why: there is no such moment.
 */
int span_read(struct span *span, uint64_t from_ns, uint64_t to_ns, struct why *why);

/* For struct monitor_recording. */
struct guests *span_guests(struct span *span);
struct fields *span_fields(struct span *span);

/* The first and the last moment, id 0: none; and the time that the sums are of. */
const struct stored *span_first(const struct span *span);
const struct stored *span_last(const struct span *span);
uint64_t span_elapsed_ns(const struct span *span);

extern const struct player *const span_players[];

#endif
