/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder - keeps samples, in a thread of its own: a disk that is slow or full does not delay the
 * program.
 *
 * The thread packs the moments that are in a bounded queue, and passes them on. A moment is lost
 * when the queue is full or when it could not be stored. The next one is taken with all totals, so
 * that only the lost ones are missing.
 */
#ifndef KVMTOP_HISTORY_RECORDER_H
#define KVMTOP_HISTORY_RECORDER_H

#include "core/findings/findings.h"
#include "history/moment.h"
#include "history/pack.h"

/* Where moments go. The functions are called from the recorder's thread. */
struct sink {
	void *state;
	/* Before it is packed: its ids become the sink's. NULL: they stay. Errors as below. */
	int (*map)(void *state, struct moment *moment, struct error *error);
	/* 0, or -errno with error: the moment is lost. */
	int (*add)(void *state, const struct moment *moment, const struct packed *packed,
		   struct error *error);
	/* Whether the next moment should have totals before its turn. NULL: never. */
	bool (*wants_totals)(void *state);
	/* Notes what was lost before the moment that was just added. NULL: it is not noted. */
	int (*note)(void *state, uint64_t time_ns, const char *text, struct error *error);
	bool has_long_exits; /* moments have them */
	/* For the findings that moments have as notices; NULL: they have none. */
	const struct thresholds *thresholds;
	/*
	 * How many keys may wait in the queue, as waking the thread takes longer than storing a
	 * few: for what is read after recorder_flush() only. 0: each moment is stored at once.
	 */
	size_t may_wait;
};

/* Samples that could not be stored. */
struct losses {
	uint64_t nr;
	bool is_losing; /* none was stored since the latest of them */
	struct error error; /* why the latest of them was not */
};

struct recorder;

/* The sink outlives the recorder. 0 or -errno. */
int recorder_start(const struct sink *sink, struct recorder **ret_recorder);

/*
 * Takes the latest sample, once after each stats_update(). time_ns: CLOCK_REALTIME. Never waits for
 * the thread.
 */
void recorder_take(struct recorder *recorder, const struct facts *facts, uint64_t time_ns);

/* Waits until all moments are stored, at most timeout_ms. Returns how many are not. */
size_t recorder_flush(struct recorder *recorder, unsigned int timeout_ms);

void recorder_losses(struct recorder *recorder, struct losses *ret_losses);

/* The losses as a notice; "": nothing was lost. */
void recorder_notice(struct recorder *recorder, char *text, size_t size);

/* Stores what is in the queue, and ends the thread. NULL is fine. */
void recorder_stop(struct recorder *recorder);

/*
 * The findings of a segment, for the notices: when each one began and ended; and what
 * could not be counted.
 */

/* Zero-initialised: nothing was found. */
struct causes {
	const struct thresholds *thresholds; /* NULL: the defaults */
	uint64_t looked_ns; /* when it was looked for them last; 0: never */
	uint64_t lost;	    /* how much was lost until then, see stats.lost */
	struct findings latest, findings;
	struct cause *list; /* the findings that are noted */
	size_t nr, room;
};

/*
 * Adds notices about the facts to their moment. Looks every ten seconds at most: to find causes
 * takes longer than to take a moment.
 */
void causes_take(struct causes *causes, const struct facts *facts, struct moment *moment);

void causes_release(struct causes *causes);

#endif
