/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fill - the cells of a row, each made by its column's number of a group or an owner; and what the
 * views of guests, of vCPUs and of hosts share: columns, and a row for each owner of a roll-up.
 *
 * There is an owner for each guest or vCPU of the inventory, also if it ended not long ago, and one
 * for all that ended before, so that no total goes back.
 */
#ifndef KVMTOP_CORE_VIEWS_FILL_H
#define KVMTOP_CORE_VIEWS_FILL_H

#include "core/views/query.h"

/* What a row is of. */
struct row_of {
	const struct facts *facts;
	const struct query *query;
	const struct rollup *rollup;
	struct owner *owner;	   /* of the group, or the row's own */
	const struct group *group; /* NULL: the row is of the owner */
	const struct guest *guest; /* NULL: none, or the forgotten ones together */
	const struct field *field; /* NULL: none */
	const char *name;	   /* of the field, where it is not the label */
	uint64_t total;		   /* of owners: what %Total is a share of */
	/* An owner without exits has a count of 0, and a rate of 0. */
	bool is_zero, has_zero_rate;
};

/* Adds a row of this guest and vCPU, with all cells that are filled alike in every view. */
struct view_row *fill_row(struct view *view, const struct row_of *of);
/* Fills the cells, without adding a row. */
void fill_cells(struct cell *cells, const struct view_type *type, const struct row_of *of,
		bool is_gone);

/* How often per second: in the interval, or since query.since_ns. */
struct cell cell_rate_of(const struct row_of *of, const struct group *group);

/* A cell of an owner, and of a host CPU with the vCPUs that are on it; see owners.c. */
struct cell cell_of_owner(enum column_id id, const struct row_of *of, bool is_gone);
struct cell cell_of_cpu(enum column_id id, const struct owner *cpu);

/* Where it is not known when a vCPU's thread has a CPU. */
#define TIMES_WITH_WAITS \
	"When threads had no CPU is not known: KVM% and User%, and the times of exits, include it."

/* ---- views of owners */

/* From these shares of the vCPUs' time on, a guest loses much. */
#define OWNER_KVM_WARN 20
#define OWNER_WAIT_WARN 10
#define OWNER_POLL_WARN 20
#define OWNER_BLOCK_WARN 20

/* The columns after the view's own; of_all: what %Total is a share of. */
#define OWNER_COLUMNS(of_all) \
	{ COL_TOTAL, .rank = 77, \
	  .help = "exits since the start or r; with a filter, only matching ones" }, \
	{ COL_SHARE, .rank = 120, .help = (of_all) }, \
	{ COL_DELTA, .is_for_machines = true }, \
	{ .id = COL_RATE }, \
	{ COL_EXIT_COST, .rank = 5 }, \
	{ COL_IN_GUEST, .rank = 10 }, \
	{ COL_IN_L2, .rank = 42 }, \
	{ COL_IN_KVM, .rank = 30, .warn = OWNER_KVM_WARN }, \
	{ COL_IN_USER, .rank = 34 }, \
	{ COL_IN_POLL, .rank = 40, .warn = OWNER_POLL_WARN }, \
	{ COL_IN_BLOCK, .rank = 36, .warn = OWNER_BLOCK_WARN }, \
	{ COL_BLOCK_USER, .rank = 112 }, \
	{ COL_IN_WAIT, .rank = 32, .warn = OWNER_WAIT_WARN }, \
	{ COL_THROTTLED, .rank = 140, .warn = OWNER_WAIT_WARN }, \
	{ COL_IN_IDLE, .rank = 72 }, \
	{ COL_CPU_TIME, .rank = 41 }, \
	{ COL_MIGRATIONS, .rank = 150 }, \
	{ COL_VCPU_TIME, .is_for_machines = true }, \
	{ COL_IO, .rank = 101 }, \
	{ COL_MMIO, .rank = 102 }, \
	{ COL_HALTS, .rank = 103 }, \
	{ COL_EMULATED, .rank = 104 }, \
	{ COL_INTERRUPTS, .rank = 105 }, \
	{ COL_FAULTS, .rank = 106 }, \
	{ COL_SIGNALS, .rank = 107 }, \
	{ COL_SPLIT, .rank = 108 }, \
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
 * For views of vCPUs and host CPUs, where KVM's own counters replace exits that are not timed or
 * that the filter does not select. Such a view wants these fields; whether it shows counters.
 */
void vcpus_choose_exits(struct rollup *sums, const struct query *query, const struct facts *facts);
bool vcpus_want(const struct query *query, const struct field *field);
bool vcpus_show_counters(const struct query *query, const struct fields *fields);

/*
 * Sets is_zero and has_zero_rate: whether the chosen exits of each guest are counted, so that a
 * guest without any has 0. Counters of the provider "exits" are of all guests, but have no key
 * before there is something to count.
 */
void owners_look_for_zeros(const struct rollup *sums, const struct query *query,
			   const struct facts *facts, struct row_of *of);

/* Adds the row of an owner. */
struct view_row *owners_add_row(struct view *view, struct owner *owner, const struct row_of *of);

/* Sets the view's note where its rows need one. */
void owners_finish(struct view *view, const struct query *query, const struct facts *facts);

/* Adds a row for each guest of the inventory, ascending by the guest's id. */
void guests_build(struct view *view, const struct query *query, const struct facts *facts);

/* For struct view_type. */
bool guests_wants(const struct query *query, const struct field *field);
bool guests_needs(const struct field *field);

/* The exits of the host, or of one guest, for one line. */
struct exits_summary {
	const char *name; /* of the field that counts exits; NULL: none does */
	struct owner all; /* the sums of all guests */
	/* The guest with the costliest exits, and its costliest reason; FIELD_NONE: none. */
	uint32_t guest, reason;
	double rate_per_s; /* of that reason */
};

/* guest: its exits only; GUEST_ALL: all. */
struct exits_summary exits_summarize(const struct facts *facts, uint32_t guest);

#endif
