/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample - the values of all providers at one moment: raw, keyed, monotonic.
 *
 * A provider adds rows in any order, no key twice, and needs no earlier sample. Where it cannot
 * tell the value of a key it adds no row: an absent row is not a zero.
 */
#ifndef KVMTOP_CORE_FACTS_SAMPLE_H
#define KVMTOP_CORE_FACTS_SAMPLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts/durations.h"
#include "core/facts/field.h"
#include "core/facts/key.h"
#include "core/facts/stacks.h"

#define SAMPLE_SOURCES 8 /* providers at the most, live and recorded */

enum {
	/* The counter started at 0 after the previous sample: its value is what happened since. */
	ROW_FROM_ZERO = 1 << 0,
	/* And it was counted during the whole interval, as its parent was. */
	ROW_WHOLE_INTERVAL = 1 << 1,
	/* Both: of a key that is there from its first count on. */
	ROW_NEW = ROW_FROM_ZERO | ROW_WHOLE_INTERVAL,
};

#define STATS_HISTORY 32 /* rates remembered per key, for sparklines */

/* What stats made of a key when a moment was live: they take it as it is. */
struct row_given {
	uint64_t delta;		/* of a counter */
	uint64_t parent_before; /* see struct stats_item */
	bool is_absent; /* not in the moment's sample: nothing happened */
	bool is_gone;	/* forgotten with this moment; the rest says nothing */
	bool has_rate;	/* of a counter, if the length of the interval is known */
	bool is_timed;
	uint32_t past; /* 0: none; else sample->pasts[past - 1]; only a key's first row has one */
	struct timing_given timing;
};

struct rates_before {
	float per_s[STATS_HISTORY]; /* of the samples before, the newest last; < 0: none */
};

struct row {
	struct key key;
	uint32_t flags;	 /* ROW_* */
	uint32_t timing; /* 0: none; else sample->timings[timing - 1] */
	uint32_t given;	 /* 0: none, as in all live samples; else sample->givens[given - 1] */
	/* Monotonic for counters, the level for gauges and peaks. Of a given row the total. */
	uint64_t count;
};

/*
 * Exits that took longer than a threshold, one by one: the latest of them. A sample has the exits
 * that ended since the sample before, stats keep the latest of all samples.
 */
#define LONG_EXITS_MAX 8192 /* kept: 1.5 MB */
#define LONG_EXITS_KEPT 256 /* the longest of a sample, in a history; kvmtop-history(5) */
#define LONG_EXITS_SYMBOL 96
#define LONG_EXITS_DEFAULT_NS UINT64_C(1000000) /* the threshold, unless the user gives one */
#define LONG_EXITS_NO_CPU UINT32_MAX

struct long_exit {
	uint64_t number; /* counts from 1 in stats; 0: not there yet */
	/* When it ended, in ns: CLOCK_REALTIME; of a recording, since its first event. */
	uint64_t end_ns;
	uint64_t took_ns; /* without waited_ns, if that is known */
	/* Parts of took_ns: */
	uint64_t user_ns; /* from its first exit to user space on; 0: it had none */
	uint64_t polled_ns; /* KVM polled, in a halt; 0: it did not, or that is not known */
	uint64_t waited_ns; /* beside it: its thread waited for a CPU; valid if knows_wait */
	uint64_t pc;	  /* where the guest was left, or goes on (Intel); 0: not known */
	char symbol[LONG_EXITS_SYMBOL]; /* the same with the function's name; "": not known */
	uint32_t guest;	  /* struct guest's id; GUEST_NONE: not known */
	int32_t vcpu;	  /* its index; -1: not known */
	uint32_t cpu;	  /* where the exit began; LONG_EXITS_NO_CPU: not known */
	uint32_t reason;   /* a field */
	uint32_t argument; /* a field; FIELD_NONE: none, or not known */
	bool knows_wait;
	bool is_idle;	  /* the reason means that the vCPU had nothing to do */
};

/* Zero-initialised is empty. */
struct long_exits {
	struct long_exit *list; /* a ring */
	size_t nr, room, first;
	size_t nr_latest; /* of stats: came with the latest sample */
	uint64_t nr_ever; /* with the forgotten ones */
	uint64_t lost;	  /* were reported, and there was no room for them */
	uint64_t lost_latest; /* of stats: of the latest sample, with the forgotten ones */
	/* What took longer is listed; 0: nothing is, or all that a recording has. */
	uint64_t longer_ns;
	/* Live, history: exits that ended at this CLOCK_REALTIME or later are listed; 0: none */
	uint64_t since_ns;
	uint64_t listed_ns; /* of a history: for how much of its facts' time */
	const char *none; /* why nothing can be listed, a sentence; NULL: it can */
};

/* The sentence of a captured machine, and of a history that has none. */
#define LONG_EXITS_ELSEWHERE \
	"Long exits were not kept: they are listed live and of recordings, and kvmtop -w FILE " \
	"--keep long keeps them."

struct sample {
	struct row *rows;
	size_t nr_rows, room_rows;
	struct timing *timings;
	size_t nr_timings, room_timings;
	struct long_exits long_exits; /* since the sample before */
	struct stack_sums stacks;     /* the same; in no history */
	uint64_t lost; /* exits, arguments and long exits that could not be counted */
	/* A moment is played: all rows are given, and a key without a row goes on as it was. */
	bool is_given;
	struct row_given *givens;
	size_t nr_givens, room_givens;
	struct rates_before *pasts;
	size_t nr_pasts, room_pasts;
	/* Of a span of a history: how long keys of each use were counted. Else not known, 0. */
	uint64_t counted_ns[USES];
	uint64_t time_ns[SAMPLE_SOURCES]; /* CLOCK_MONOTONIC beside the data; 0: no rows */
	/* How long the intervals were, for stats without an earlier sample; 0: not known. */
	uint64_t elapsed_ns[SAMPLE_SOURCES];
};

/* Empties it and keeps its memory. */
void sample_reset(struct sample *sample);
/* Makes room for one more row, for sample_add(). */
void sample_make_room(struct sample *sample);

/* Inline, because a host with many vCPUs has tens of thousands of rows. */
static inline void sample_add(struct sample *sample, struct key key, uint64_t count,
			      uint32_t flags)
{
	if (sample->nr_rows == sample->room_rows)
		sample_make_room(sample);
	sample->rows[sample->nr_rows++] =
		(struct row){ .key = key, .flags = flags, .count = count };
}

/* Adds a row with durations, which are copied. */
void sample_add_timed(struct sample *sample, struct key key, uint64_t count, uint32_t flags,
		      const struct timing *timing);
/* Adds a given row, which is copied. total: of a level, the level. */
void sample_add_given(struct sample *sample, struct key key, uint64_t total,
		      const struct row_given *given);
/* Gives the latest row, a given one, a past to be filled. */
struct rates_before *sample_add_past(struct sample *sample);
void sample_release(struct sample *sample);

/* Adds a copy, in place of the oldest if there are LONG_EXITS_MAX. */
void long_exits_add(struct long_exits *exits, const struct long_exit *exit);

/* i < exits->nr; the oldest first. */
const struct long_exit *long_exits_at(const struct long_exits *exits, size_t i);

/* Adds the exits of a sample, which are then the latest; all else is as the sample has it. */
void long_exits_take(struct long_exits *exits, const struct long_exits *sample);

void long_exits_reset(struct long_exits *exits); /* empties it and keeps its memory */
void long_exits_release(struct long_exits *exits);

#endif
