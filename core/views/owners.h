/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owners - what the views of guests, of vCPUs and of hosts share: columns, and a row for each
 * owner of a roll-up, with its exits, its time split, its costliest reason.
 *
 * There is an owner for each guest or vCPU of the inventory, also if it ended not long ago, and one
 * for all that ended before, so that no total goes back.
 */
#ifndef KVMTOP_CORE_VIEWS_OWNERS_H
#define KVMTOP_CORE_VIEWS_OWNERS_H

#include "core/views/fill.h"

/* From these shares of the vCPUs' time on, a guest loses much. */
#define OWNER_KVM_WARN 20
#define OWNER_WAIT_WARN 10
#define OWNER_POLL_WARN 20

/* The columns after the view's own; of_all: what %Total is a share of. */
#define OWNER_COLUMNS(of_all) \
	{ COL_TOTAL, .rank = 110, \
	  .help = "exits since the start or r; with a filter, only matching ones" }, \
	{ COL_SHARE, .rank = 120, .help = (of_all) }, \
	{ COL_DELTA, .is_for_machines = true }, \
	{ .id = COL_RATE }, \
	{ COL_IN_GUEST, .rank = 10 }, \
	{ COL_IN_L2, .rank = 35 }, \
	{ COL_IN_KVM, .rank = 30, .warn = OWNER_KVM_WARN }, \
	{ COL_IN_USER, .rank = 40 }, \
	{ COL_IN_HALT, .rank = 60 }, /* or, where what is polled is known, the next two */ \
	{ COL_IN_POLL, .rank = 36, .warn = OWNER_POLL_WARN }, \
	{ COL_IN_SLEEP, .rank = 108 }, \
	{ COL_IN_WAIT, .rank = 38, .warn = OWNER_WAIT_WARN }, \
	{ COL_THROTTLED, .rank = 140, .warn = OWNER_WAIT_WARN }, \
	{ COL_CPU_TIME, .rank = 72 }, \
	{ COL_MIGRATIONS, .rank = 150 }, \
	{ COL_VCPU_TIME, .is_for_machines = true }, \
	{ COL_SPLIT, .rank = 90 }, \
	{ COL_TOP, .rank = 50, .least = 12 }, \
	{ COL_TOP_SHARE, .rank = 74 }, \
	{ .id = COL_OPEN }, \
	{ COL_HISTORY, .rank = 130 }, \
	{ COL_ENDED, .help = "1: it has ended", .is_for_machines = true, .is_marked = true, \
	  .is_of_live = true }

/*
 * The fields that are counted as exits, and the reasons that may be the costliest: what the query's
 * filter selects of the best counter that has a value for each vCPU.
 */
void owners_choose_exits(struct rollup *sums, const struct query *query,
			 const struct facts *facts);

/*
 * Sets is_zero and has_zero_rate: whether the chosen exits of each guest are counted, so that a
 * guest without any has 0. Counters of the provider "exits" are of all guests, but have no key
 * before there is something to count.
 */
void owners_look_for_zeros(const struct rollup *sums, const struct query *query,
			   const struct facts *facts, struct row_of *of);

/* Adds the row of an owner. */
struct view_row *owners_add_row(struct view *view, struct owner *owner, const struct row_of *of);

/* Drops the columns of halts that say nothing, and sets the view's note where its rows need one. */
void owners_finish(struct view *view, const struct query *query, const struct facts *facts);

/* Adds a row for each guest of the inventory, ascending by the guest's id. */
void guests_build(struct view *view, const struct query *query, const struct facts *facts);

/* For struct view_type. */
bool guests_wants(const struct query *query, const struct field *field);
bool guests_needs(const struct field *field);

#endif
