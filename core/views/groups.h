/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups - exits or arguments grouped by guest, vCPU and field, with a sum for each group.
 *
 * Rates and times are of the last interval. The longest duration is since the start or the reset.
 * Time% is the share of the time of the group's vCPUs: of its vCPU or its guest; of all vCPUs that
 * the query is about where the group has neither.
 */
#ifndef KVMTOP_CORE_VIEWS_GROUPS_H
#define KVMTOP_CORE_VIEWS_GROUPS_H

#include "core/facts/exit_counter.h"
#include "core/views/query.h"

/* Where the time of one or several vCPUs went in the last interval. Zero-initialised is none. */
struct time_split {
	uint64_t ns[TIME_PARTS];
	uint32_t has; /* the parts that were measured, as bits */
	uint32_t whole_source, wait_source; /* each source has an interval of its own */
	double shares[SPLIT_PARTS]; /* for the cell; see time_split_cell() */
};

void time_split_add(struct time_split *split, const struct field *field,
		    const struct stats_item *stat);
/*
 * In percent of the whole; absent when the part was not measured, or by another source: see
 * thread_sum_add().
 */
struct cell time_split_percent(const struct time_split *split, enum time_part part);
/* What of the halts was not polled; absent when that is not known. */
struct cell time_split_sleep(const struct time_split *split);
/* Fills shares, which the cell points to. */
struct cell time_split_cell(struct time_split *split);

enum percentile { PERCENTILE_50, PERCENTILE_99, NR_PERCENTILES };

/* Counts and durations of several keys. */
struct exit_sum {
	uint64_t total, delta;
	double rate_per_s;
	bool has_rate;
	uint64_t open_ns; /* the longest that is open, see stats_open_ns() */
	struct timing_sum timing;
	bool has_percentiles; /* of a recording: more exact than timing's buckets */
	uint64_t percentiles_ns[NR_PERCENTILES];
};

struct cell exit_sum_rate(const struct exit_sum *sum);
/* Of the exits that ended in the last interval; absent when none did. */
struct cell exit_sum_hist(const struct exit_sum *sum);
/* Since the start or the reset. */
struct cell exit_sum_total_average(const struct exit_sum *sum);
struct cell exit_sum_total_percentile(const struct exit_sum *sum, enum percentile which);
struct cell exit_sum_longest(const struct exit_sum *sum);
/* See OPEN_HELP. */
struct cell exit_sum_open(const struct exit_sum *sum);
/* Of a recording; else absent. The deviation of a single duration is 0. */
struct cell exit_sum_shortest(const struct exit_sum *sum);
struct cell exit_sum_deviation(const struct exit_sum *sum);

/* The help of every column Time%. */
#define TIME_SHARE_HELP "share of the time of the row's vCPUs; of halts only what was polled"

/* And of every column Poll%. */
#define POLL_SHARE_HELP "of that time: halt polling, which keeps the CPU busy; a part of Time%"

/* The help of every column Open. */
#define OPEN_HELP "how long an exit that has not ended lasts, if longer than the interval"

/* The help of the percentiles' columns, after "half" or "99 %". See hist_percentile_ns(). */
#define PERCENTILE_HELP                                                                        \
	"took no longer: interpolated within a power of two, at most a factor of 2 off, a few " \
	"% where durations are spread evenly; of a recording within 4 %"

#define FIELD_ANY 0 /* in the key of a group: the group has all fields */

struct group {
	struct key key; /* GUEST_ANY, -1, FIELD_ANY: all guests, vCPUs, fields */
	struct exit_sum sum;
	uint32_t spreads; /* group_by()'s own */
	/* The keys of halts in the group, and how long the halts took that ended. */
	uint32_t nr_halts;
	uint64_t halt_ns, halt_delta_ns;
	/* The time of the group's vCPUs; halted: in halts, also in one that has not ended. */
	uint64_t whole_ns, whole_delta_ns, halted_ns;
	uint64_t polled_ns, polled_delta_ns; /* of the halts: what KVM polled */
};

struct groups {
	/* Set before group_by(): */
	unsigned int by;	 /* GROUP_*: a group for each guest, vCPU, reason */
	bool has_totals;	 /* timing.total[] and halted_ns, too */
	struct field_set chosen; /* the fields that are summed up */
	/* The result: */
	struct group *list; /* the view's: cells point into it */
	size_t nr;
	struct group all;  /* the sum of the list */
	bool has_interval; /* the vCPUs' time of the last interval is known */
	bool has_polls;	   /* what is polled is known */
	struct halt_reason halt; /* the halts that KVM polls in */
};

/* Sums up the keys that the query is about. 0 or -ENOMEM. */
int group_by(struct groups *groups, struct view *view, const struct query *query,
	     const struct facts *facts);

/* Adds the row of a group. 0 or -ENOMEM. */
typedef int (*group_row_fn)(struct view *view, const struct facts *facts,
			    const struct groups *groups, const struct group *group);

/*
 * Does what group_by() does, and adds a row for each group that counted anything. The caller
 * releases chosen. 0 or -ENOMEM.
 */
int groups_build(struct groups *groups, struct view *view, const struct query *query,
		 const struct facts *facts, group_row_fn add_row);

/* Fills the cells of the columns from Time to Max, which have the same order in every view. */
void group_fill_times(struct cell *cells, const struct group *group);

/*
 * Time%: of the time of halts only what KVM polled is a cost; "halt" in a row of halts where that
 * is not known. Poll%: absent in a row without such halts. Both of the last interval.
 */
struct cell group_time_share(const struct groups *groups, const struct group *group);
struct cell group_poll_share(const struct groups *groups, const struct group *group);

/* Whether the group has the halts that KVM polls in, and what it polled is known. */
bool group_is_polled(const struct groups *groups, const struct group *group);

#endif
