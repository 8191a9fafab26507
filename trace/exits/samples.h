/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples - the counts of a recording as rows of samples: of the whole, or cut into intervals.
 */
#ifndef KVMTOP_TRACE_EXITS_SAMPLES_H
#define KVMTOP_TRACE_EXITS_SAMPLES_H

#include "core/facts/facts.h"
#include "core/provider.h"
#include "providers/playback/rows.h"
#include "trace/exits/recording.h"

/* ---- rows.c */

/*
 * Add fields of this source to the dictionary, which is the same in all calls, and rows: events
 * with their reasons as children; or exits, their arguments, and the vCPUs' time split. Several
 * rows may have the same key. An exit without an end in the recording adds to the time split, but
 * is not counted as an exit. No event says that a guest has ended: so the time of a vCPU in user
 * space ends with its guest's last event.
 */
void recorded_add_events(struct played_rows *rows, const struct recording *recording,
			 struct fields *fields, uint32_t source);
void recorded_add_exits(struct played_rows *rows, const struct recording *recording,
			struct fields *fields, uint32_t source);

/* The long exits that were kept, after recorded_add_exits(). */
void recorded_long_exits(const struct recording *recording, struct fields *fields, uint32_t source,
			 struct long_exits *ret_exits);

/*
 * ---- player.c: the whole recording in two samples, its first moment, where all counts are 0, and
 * its last one
 */

/* The providers' input is a struct recording. NULL ends the list. */
extern const struct provider *const recorded_players[];

/* Their numbers, as in struct field.source. */
enum { RECORDED_EVENTS, RECORDED_EXITS };

/*
 * ---- moments.c: the samples that a live program would have taken
 *
 * An interval has the exits that ended in it, with their times, and the events that happened in it:
 * the sums over all intervals are the numbers of the whole recording. So are the parts of a vCPU's
 * time, except where events are missing: there the recording takes back an exit that had no end.
 */

/*
 * Takes a sample: first of the recording's start, then of each interval's end, offset_ns after the
 * start. 0 or -errno.
 */
typedef int (*moment_fn)(void *arg, const struct facts *facts, uint64_t offset_ns);

/*
 * Of a recording that was read with moments: how long the intervals are, in s. 0: there are none,
 * as the clock's unit is not known. If any length is fine it is a hundredth of the recording,
 * rounded up, but at most a second. Longer if so many moments would take more than a few seconds to
 * make.
 */
double moments_interval_s(struct recording *recording);

/*
 * Makes them. fields: the dictionary, which a monitor of recorded_players has opened. They are
 * gone afterwards. 0, or an error of take().
 */
int moments_make(struct recording *recording, struct fields *fields, moment_fn take, void *arg);

#endif
