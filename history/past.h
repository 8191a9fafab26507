/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * past - plays what a store has: any moment of it, as if it were now.
 *
 * The monitor plays history_players with a past as their recording. past_go() and its relatives
 * choose the moment; the next monitor_want() and monitor_sample() make the facts of it. The
 * inventory is that of the moment, too.
 */
#ifndef KVMTOP_HISTORY_PAST_H
#define KVMTOP_HISTORY_PAST_H

#include "history/store.h"
#include "core/provider.h"

struct past;

/* ---- series.c: what a field counted in each of many moments, for pictures over time */

/* One interval. */
struct series_point {
	uint64_t id;	      /* of the moment, see store.h */
	uint64_t time_ns;     /* CLOCK_REALTIME at its end */
	uint64_t interval_ns; /* its length; 0: not known, no rate */
	bool is_gap;	      /* before it nothing was recorded for a while */
	bool is_first;	      /* since what is counted changed: a gap may be before it */
	uint32_t segment;     /* of the moment */
	uint64_t count;	      /* exits that began */
	uint64_t exit_ns;     /* the time of exits */
	uint64_t hist[HIST_BUCKETS]; /* the exits that ended, by duration */
};

/* Points, oldest first. Zero-initialised is none. */
struct series {
	struct key subject; /* what is counted; GUEST_ALL, -1: of all guests, all vCPUs */
	struct series_point *points;
	size_t nr, room;
	uint64_t first_id, last_id; /* moments up to which it reaches; not all have a point */
	uint32_t first_segment, last_segment;
	bool is_after_start; /* the next point will be a first one */
};

/* Which points are wanted. */
struct series_span {
	size_t nr;	 /* at most so many up to a moment, and SERIES_MAX */
	size_t nr_after; /* and after it; earlier ones instead of any that do not exist yet */
	bool has_times;	 /* exit_ns and hist are wanted */
};
#define SERIES_MAX 512

struct reader;

/*
 * Reads the points up to `at` and after it, on through segments of the same boot. Points that the
 * series has already are not read again.
 */
int series_read(struct series *series, struct reader *reader, const struct key *subject,
		const struct stored *at, const struct series_span *span, struct error *error);

/* ---- past.c */

/*
 * The store outlives the past. fields: the dictionary that the live moments are made with, and the
 * monitor shares; NULL for a file: its fields go to the monitor's dictionary. No moment is chosen
 * yet.
 */
struct past *past_new(struct store store, struct fields *fields);
void past_free(struct past *past);

/* -ESTALE with error: the store's file was removed or replaced, see struct store_type; else 0. */
int past_check(const struct past *past, struct error *error);

/*
 * The first error that kept a moment, or a part of it, from being read, also where the moment was
 * played without that part; NULL: there was none. That a moment is not there is no error.
 */
const char *past_failure(const struct past *past);

/*
 * In a store of several machines past_go() and past_go_to() choose moments of this one from now on;
 * "": of all together. The chosen moment stays.
 */
int past_enter(struct past *past, const char *machine, struct error *error);
bool past_has_machines(const struct past *past);

/* Readable when moments came, see struct store_type; -1: none come by themselves. */
int past_news_fd(const struct past *past);

/* The inventory of the moment that is chosen, for struct monitor_recording. */
struct guests *past_guests(struct past *past);

/*
 * Chooses a moment: the latest one not later than time_ns, or the first one where all are later.
 * UINT64_MAX: the latest. 0, or -errno with error and the choice as it was; -ENOENT, without error:
 * the store is empty.
 */
int past_go(struct past *past, uint64_t time_ns, struct error *error);
/* Chooses the moment with the time in its interval, if there is one; else as past_go(). */
int past_go_to(struct past *past, uint64_t time_ns, struct error *error);
/*
 * Chooses the first moment that is later than from_ns and not later than to_ns; ret_last_id: of the
 * last one, UINT64_MAX where later ones may come. Where the clock was set there may be others
 * between the two. -ENOENT: there is none.
 */
int past_go_first(struct past *past, uint64_t from_ns, uint64_t to_ns, uint64_t *ret_last_id,
		  struct error *error);
/* Chooses the next moment, or with is_back the one before. -ENOENT: there is none. */
int past_step(struct past *past, bool is_back, struct error *error);

/*
 * Fills the series with the subject's points around the chosen moment, or with is_now around the
 * latest, on through segments of the same boot. Points that the series has already are not read
 * again. 0, or -errno with error.
 */
int past_series(struct past *past, const struct key *subject, bool is_now,
		const struct series_span *span, struct series *series, struct error *error);

/*
 * Chooses the next moment, to be played after the moments that were played: much faster where all
 * moments are played in their order. 0: monitor_go_on() and monitor_sample() show it; 1: what is
 * counted changed, or the latest one was not played: monitor_want() and monitor_sample(), as after
 * past_step(). Errors as there.
 */
int past_go_on(struct past *past, struct error *error);

/* The chosen moment; id 0: none. */
const struct stored *past_at(const struct past *past);
const struct segment *past_segment(const struct past *past);

/*
 * What a monitor plays a past or an interval with, of live providers' sources, and of a
 * recording's.
 */
extern const struct provider *const history_players[];
extern const struct provider *const history_recorded_players[];

#endif
