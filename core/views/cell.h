/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cell - a typed value of a table. A renderer makes text of it.
 */
#ifndef KVMTOP_CORE_VIEWS_CELL_H
#define KVMTOP_CORE_VIEWS_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/facts/facts.h"

enum cell_type {
	CELL_NONE, /* absent: "-" on a screen, null in JSON */
	CELL_TEXT,
	CELL_COUNT,
	CELL_PERCENT,
	CELL_RATE,  /* per second */
	CELL_NS,    /* a duration */
	CELL_SPARK, /* STATS_HISTORY rates, oldest first, < 0 where there is none */
	CELL_HIST,  /* counts by duration: HIST_BUCKETS counts */
	CELL_SPLIT, /* where time went: shares of the whole, 0 to 1 */
};

/* A picture is drawn on the screen only: lines of text omit it, and rows are not sorted by it. */
static inline bool cell_is_picture(enum cell_type type)
{
	return type == CELL_SPARK || type == CELL_HIST || type == CELL_SPLIT;
}

/* The parts of CELL_SPLIT, in the order in which they are drawn. HALT: as far as it is no POLL. */
enum split_part { SPLIT_GUEST, SPLIT_KVM, SPLIT_USER, SPLIT_POLL, SPLIT_HALT, SPLIT_PARTS };

struct cell {
	enum cell_type type : 8;
	bool has_ended; /* what a CELL_TEXT names: a mark for people; programs have a column */
	uint8_t end; /* of a CELL_HIST: its last bucket has no upper edge, and is before this one */
	float whole;	/* of a CELL_PERCENT: what 100 % are, such as ns; 0: the same in all rows */
	union {
		const char *text; /* owned by the dictionary or the inventory */
		uint64_t count;
		double number;
		uint64_t ns;
		const float *spark; /* owned by the view, as are hist and split */
		const uint64_t *hist;
		const double *split; /* SPLIT_PARTS */
	};
};

static inline struct cell cell_none(void)
{
	return (struct cell){ .type = CELL_NONE };
}

static inline struct cell cell_text(const char *text)
{
	return (struct cell){ .type = CELL_TEXT, .text = text };
}

static inline struct cell cell_count(uint64_t count)
{
	return (struct cell){ .type = CELL_COUNT, .count = count };
}

static inline struct cell cell_pid(pid_t pid) /* absent when it is 0: not known */
{
	return (struct cell){ .type = pid ? CELL_COUNT : CELL_NONE, .count = (uint64_t)pid };
}

static inline struct cell cell_ns(uint64_t ns)
{
	return (struct cell){ .type = CELL_NS, .ns = ns };
}

/* hist: HIST_BUCKETS counts. */
static inline struct cell cell_hist(const uint64_t *hist)
{
	return (struct cell){ .type = CELL_HIST, .end = HIST_BUCKETS, .hist = hist };
}

/* A guest's name. NULL: all guests that ended longer ago. */
struct cell cell_guest(const struct guest *guest);
/* Absent when whole is 0. Shares that are added up have wholes of one unit. */
struct cell cell_percent(uint64_t part, uint64_t whole);
struct cell cell_rate(const struct stat_sum *sum); /* absent when the sum has no rate */
struct cell cell_spark(const struct stat_sum *sum);

/* -1, 0, 1 as for qsort(): absent cells first, then numbers ascending, then texts by bytes. */
int cell_compare(const struct cell *a, const struct cell *b);

#endif
