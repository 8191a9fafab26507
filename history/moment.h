/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment - a sample as it is remembered: what changed since the sample before it.
 *
 * moment_take() copies the changes out of the stats, quickly, in the thread that samples.
 * pack.h makes bytes of a moment, and a moment of bytes. Neither totals nor the inventory are in
 * every moment: totals are there at intervals, so that any moment's total is an earlier total and
 * the changes since; guests are there when the inventory changed.
 */
#ifndef KVMTOP_HISTORY_MOMENT_H
#define KVMTOP_HISTORY_MOMENT_H

#include "core/facts/facts.h"
#include "core/guests/guests.h"
#include "host/env.h"

enum {
	/* The first since what is counted changed: nothing goes on from before. It has totals. */
	MOMENT_FIRST = 1 << 0,
	/* Totals were set to 0 before the interval. It has totals. */
	MOMENT_RESET = 1 << 1,
	/* Moments before it were lost, because they could not be kept in time. It has totals. */
	MOMENT_AFTER_LOSS = 1 << 2,
	/* Parts that it has: */
	MOMENT_HAS_TOTALS = 1 << 3,
	MOMENT_HAS_GUESTS = 1 << 4,
	/* Totals with rows of keys that were forgotten since the totals before, CHANGE_GONE. */
	MOMENT_HAS_FORGOTTEN = 1 << 5,
};

#define MOMENT_TOTALS_EVERY 80 /* moments; kvmtop-history(5) */

/* What a row of changes or totals says beside its numbers; kvmtop-history(5). */
enum {
	CHANGE_NEW = 1 << 0,	  /* the key was in no earlier sample */
	CHANGE_HAS_RATE = 1 << 1, /* CHANGE_NEW: it was counted during the whole interval */
	CHANGE_ABSENT = 1 << 2,	  /* the key is in the sample no more; its total stays */
	/* Only while it is packed or unpacked, see columns.c and sums.c: */
	CHANGE_IS_TIMED = 1 << 3, /* it has a timing, */
	CHANGE_IS_SUM = 1 << 4,	  /* its numbers are the sums of other rows, */
	CHANGE_IS_OPEN = 1 << 5,  /* something has not ended, or had not at the moment before, */
	CHANGE_IS_LATE = 1 << 8,  /* and parent_before is not 0 */
	/* The key is forgotten. STATS_ENDED has its total, and the next totals have it once. */
	CHANGE_GONE = 1 << 6,
	CHANGE_IS_TOTAL = 1 << 7, /* the row has a total, and not a change: of STATS_ENDED */
};
#define CHANGE_PACKED (CHANGE_IS_TIMED | CHANGE_IS_SUM | CHANGE_IS_OPEN | CHANGE_IS_LATE)

/* Counts and durations of one key. */
struct change {
	struct key key;
	uint32_t flags;	 /* CHANGE_* */
	uint32_t timing; /* 0: none; else the list's timings[timing - 1] */
	/*
	 * 1 + the field of the row that is the sum of this row and others of the same vCPU, as a
	 * vCPU's exits are of its reasons; 0: none. For pack.h, which links the rows with it.
	 */
	uint32_t sum;
	/* How much a counter grew, or its total; the level of a gauge or a peak. */
	uint64_t count;
	uint64_t parent_before; /* of a total, see struct stats_item */
};

struct change_timing {
	uint64_t time_ns; /* of what ended: that was added, or the total */
	/*
	 * How long what has not ended has lasted, now, and at the moment before. Of a total the
	 * latter is what no interval of it had, which may be below 0: see
	 * change_timing_spent_ns().
	 */
	uint64_t open_ns, open_before_ns;
	uint64_t max_ns;  /* the longest since the start or the reset; in changes 0: no longer */
	/* Buckets first to first + nr - 1 have changes_counts(); all others have 0. */
	uint8_t first, nr;
	uint32_t counts; /* where they are in the list's counts */
};

struct changes {
	/*
	 * Ascending by key once sorted: guest, vCPU, field. Of totals a key that was forgotten and
	 * came back has two rows, the forgotten one first.
	 */
	struct change *list;
	size_t nr, room;
	struct change_timing *timings;
	size_t nr_timings, room_timings;
	uint64_t *counts; /* what was added to each bucket, or the total */
	size_t nr_counts, room_counts;
};

/* A field that is new in the dictionary, which has its texts, and outlives the moment. */
struct moment_field {
	uint32_t id;
	struct field field;
};

/* A line for the notices of a history file. */
struct moment_notice {
	char text[GUEST_NAME_SIZE + 512];
};

struct moment {
	uint64_t time_ns;    /* CLOCK_REALTIME when it was taken */
	uint64_t elapsed_ns; /* how long the interval was; 0: there is none, it is the first */
	uint64_t source_ns[SAMPLE_SOURCES]; /* as in struct sample */
	uint32_t flags;			    /* MOMENT_* */
	struct changes changes; /* of keys that did something, came or went */
	struct changes totals;	/* MOMENT_HAS_TOTALS: of all keys, at the end of the interval */
	/* What ended since the moment before; longer_ns 0: it was not listed. */
	struct long_exits long_exits;
	struct guests *guests;	/* MOMENT_HAS_GUESTS: the inventory; NULL: as before */
	/* Not packed: what is new since the moment before it; after a loss all. */
	struct moment_field *fields;
	size_t nr_fields, room_fields;
	struct moment_notice *notices; /* not packed, either */
	size_t nr_notices, room_notices;
};

/* Appends a change without durations. */
void changes_add(struct changes *changes, const struct change *change);
/* Appends a change with durations. Returns where the counts of its buckets belong. */
uint64_t *changes_add_timed(struct changes *changes, const struct change *change,
			    const struct change_timing *timing);
/* The time as it passed: without what was before, and with what has not ended. */
static inline uint64_t change_timing_spent_ns(const struct change_timing *timing)
{
	uint64_t spent_ns = timing->time_ns + timing->open_ns - timing->open_before_ns;

	return (int64_t)spent_ns > 0 ? spent_ns : 0;
}
/* The durations of a change; NULL: it has none, or they were not unpacked. */
static inline const struct change_timing *changes_timing(const struct changes *changes,
							 const struct change *change)
{
	return change->timing && change->timing <= changes->nr_timings ?
		       &changes->timings[change->timing - 1] : NULL;
}
/* The counts of timing->nr buckets from timing->first on; NULL: there are none. */
static inline const uint64_t *changes_counts(const struct changes *changes,
					     const struct change_timing *timing)
{
	return timing->nr ? &changes->counts[timing->counts] : NULL;
}
/* Adds the counts to a histogram of all buckets. */
static inline void changes_add_counts(const struct changes *changes,
				      const struct change_timing *timing, uint64_t *hist)
{
	const uint64_t *counts = changes_counts(changes, timing);

	for (unsigned int i = 0; i < timing->nr; i++)
		hist[timing->first + i] += counts[i];
}
void changes_sort(struct changes *changes);
size_t changes_memory(const struct changes *changes); /* bytes that it has */
void changes_reset(struct changes *changes); /* empties it and keeps its memory */
void changes_release(struct changes *changes);

/* A notice to be filled. */
struct moment_notice *moment_add_notice(struct moment *moment);

void moment_reset(struct moment *moment); /* empties it and keeps its memory */
void moment_release(struct moment *moment);

/* What moment_take() remembers from moment to moment. Zero-initialised: nothing was taken. */
struct moment_taker {
	uint64_t tick;	     /* stats.tick of the latest moment; 0: none */
	uint64_t resets;     /* stats.resets then */
	uint64_t generation; /* guests_generation() then */
	uint32_t nr_fields;  /* fields_count() then */
	unsigned int since_totals; /* moments since the latest with totals */
	bool has_lost;	     /* the moment before was lost */
	struct changes forgotten; /* totals of keys, since the latest moment with totals */
	bool has_long_exits; /* the caller's: moments have them */
	struct long_exits long_exits; /* of the latest sample, to choose from */
};

void moment_taker_release(struct moment_taker *taker);

/* Takes the latest sample of the stats, unsorted. Call it once after each stats_update(). */
void moment_take(struct moment_taker *taker, const struct facts *facts, uint64_t time_ns,
		 struct moment *ret_moment);

/* Call it instead of moment_take() if the latest sample is lost. */
void moment_skip(struct moment_taker *taker, const struct facts *facts);

/* Bytes of which a moment is made, or which are made of it. */
struct blob {
	unsigned char *bytes;
	size_t size, room;
};

void blob_release(struct blob *blob);

/* A writer from its start to its end, and its machine: what moments are of. */
struct segment {
	char host[GUEST_NAME_SIZE]; /* of a fleet, the server */
	char kernel[65], boot_id[40];
	char arch[24];	 /* struct arch's name: "SVM" */
	char engine[16]; /* "bpf"; "": not known */
	int nr_cpus;	 /* 0: not known */
	double interval_s;
};

/* Sources: host/machine.h, and kernel/osrelease and kernel/random/boot_id below /proc/sys. */
void segment_of_machine(const struct env *env, const char *engine, double interval_s,
			struct segment *ret_segment);

#endif
