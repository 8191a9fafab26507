/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed - what the views share that are made of what the provider "exits" says.
 *
 * Pure, as views are. Rates and times are those of the last interval, the longest is since the
 * start or the reset, shares of time are of the life of the vCPUs in scope.
 */
#ifndef KVMTOP_VIEWS_TIMED_H
#define KVMTOP_VIEWS_TIMED_H

#include "facts/key_sums.h"
#include "views/query.h"

/* Where the time of one or several vCPUs went in the last interval. Zero-initialised is none. */
struct life {
	uint64_t ns[TIME_PARTS];
	uint32_t has; /* the parts that anybody measured, as bits */
	double split[SPLIT_PARTS]; /* for the cell; see life_split() */
};

void life_add(struct life *life, const struct field *field, const struct stats_item *stat);
void life_merge(struct life *life, const struct life *part);
/* In percent of the whole; absent when nobody measured it. */
struct cell life_percent(const struct life *life, enum time_part part);
/* Fills life->split; the cell points to it. */
struct cell life_split(struct life *life);

/* A row's counts and durations, with the numbers that all views of exits show. */
struct exit_sum {
	uint64_t total, delta;
	double rate_per_s;
	bool has_rate;
	uint32_t nr; /* keys; 0: no row */
	struct timing_sum timing;
};

void exit_sum_add(struct exit_sum *sum, const struct stats_item *stat); /* no timing.total[] */
void exit_sum_add_totals(struct exit_sum *sum, const struct stats_item *stat);
struct cell exit_sum_rate(const struct exit_sum *sum);
/* Of the last interval: absent when nothing was counted, or nothing timed. */
struct cell exit_sum_average(const struct exit_sum *sum);
struct cell exit_sum_percentile(const struct exit_sum *sum, double share);
struct cell exit_sum_hist(const struct exit_sum *sum);
/* Since the start or the reset. */
struct cell exit_sum_longest(const struct exit_sum *sum);
/* Of a recording; else absent. The deviation is that of a sample: 0 of one. */
struct cell exit_sum_shortest(const struct exit_sum *sum);
struct cell exit_sum_deviation(const struct exit_sum *sum);

/*
 * The Guests and vCPUs views have these columns, behind four of their own. LIFE_COLUMNS are their
 * descriptions.
 */
enum {
	LIFE_TOTAL = 4,
	LIFE_SHARE,
	LIFE_DELTA,
	LIFE_RATE,
	LIFE_GUEST,
	LIFE_KVM,
	LIFE_USER,
	LIFE_HALT,
	LIFE_WAIT,
	LIFE_WHOLE,
	LIFE_SPLIT,
	LIFE_TOP,
	LIFE_TOP_SHARE,
	LIFE_SPARK,
};

#define LIFE_COLUMNS(total_help, share_help) \
	[LIFE_TOTAL] = { "total", "Total", total_help, CELL_COUNT, 10, COLUMN_SPARE(11) }, \
	[LIFE_SHARE] = { "share", "%Total", share_help, CELL_PERCENT, 7, COLUMN_SPARE(12) }, \
	[LIFE_DELTA] = { "delta", "Delta", "since the previous sample", CELL_COUNT, 10, \
			 COLUMN_MACHINE_ONLY }, \
	[LIFE_RATE] = { "rate", "CurAvg/s", "per second between the last two samples", CELL_RATE, \
			9, 0 }, \
	[LIFE_GUEST] = { "guest_percent", "Guest%", "of its vCPUs' time: in the guest", \
			 CELL_PERCENT, 6, COLUMN_SPARE(1) }, \
	[LIFE_KVM] = { "kvm_percent", "KVM%", "of it: KVM handles an exit", CELL_PERCENT, 5, \
		       COLUMN_SPARE(3) }, \
	[LIFE_USER] = { "user_percent", "User%", "of it: in user space, the VMM", \
			CELL_PERCENT, 5, COLUMN_SPARE(4) }, \
	[LIFE_HALT] = { "halt_percent", "Halt%", "of it: the vCPU has nothing to do", \
			CELL_PERCENT, 5, COLUMN_SPARE(6) }, \
	[LIFE_WAIT] = { "wait_percent", "Wait%", \
			"of it: it could run, but has no CPU; a part of the others", \
			CELL_PERCENT, 5, COLUMN_SPARE(7) }, \
	[LIFE_WHOLE] = { "vcpu_ns", "vCPU time", "the time of its vCPUs that the shares are of", \
			 CELL_NS, 7, COLUMN_MACHINE_ONLY }, \
	[LIFE_SPLIT] = { "split", "Time split", "guest, KVM, user and halt as a picture", \
			 CELL_SPLIT, 16, COLUMN_SPARE(9) }, \
	[LIFE_TOP] = { "top", "Top exit", "the reason that took most time, halts left out", \
		       CELL_TEXT, 18, COLUMN_LEAST(12) | COLUMN_SPARE(5) }, \
	[LIFE_TOP_SHARE] = { "top_percent", "Top%", "its share of the time of all but halts", \
			     CELL_PERCENT, 5, COLUMN_SPARE(10) }, \
	[LIFE_SPARK] = { "history", "History", "the rate over the last samples", CELL_SPARK, 30, \
			 COLUMN_SPARE(13) }

/* What the columns of one row are made from. */
struct life_row {
	struct stat_sum exits;
	struct life life;
	/* Of exits that are no halts: the costliest reason, and all of them together. */
	uint32_t top; /* with top_ns or top_count only */
	uint64_t top_ns, top_count, all_ns, all_count;
};

/* One reason's part of it; halts must have been left out. */
void life_row_add_reason(struct life_row *row, uint32_t field, uint64_t ns, uint64_t count);
/* whole: the total of all rows, for the share. */
void life_row_fill(struct view_row *row, struct life_row *life, const struct fields *fields,
		   uint64_t whole);
/* The Total row. */
void life_row_total(struct view *view, struct life_row *all);
/* Adds exits and life of a row to those of all. */
void life_row_merge(struct life_row *all, const struct life_row *row);

/* Says in view->absent which of these columns there is nothing for. */
void life_columns_absent(struct view *view, const struct facts *facts);

#endif
