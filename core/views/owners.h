/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owners - sums for each guest or vCPU: its exits, its time split, its costliest reason. The views
 * of guests and of vCPUs share them.
 *
 * There is an owner for each guest or vCPU of the inventory, also if it ended not long ago, and one
 * for all that ended before, so that no total goes back.
 */
#ifndef KVMTOP_CORE_VIEWS_OWNERS_H
#define KVMTOP_CORE_VIEWS_OWNERS_H

#include "core/views/groups.h"

/*
 * What the provider "host" says of threads, per second of the last interval, by enum host_part.
 * Zero-initialised is none.
 */
struct thread_sum {
	uint32_t nr[HOST_THREAD + 1]; /* how many keys have a rate */
	double per_s[HOST_THREAD + 1];
	uint32_t nr_waits; /* the same of TIME_WAIT */
	double wait_per_s;
	bool has_sums; /* one throttled sum a guest (Prometheus) */
};

/* Of other fields nothing is added. */
void thread_sum_add(struct thread_sum *sum, const struct field *field,
		    const struct stats_item *stat);
/* Over how many vCPUs throttled time is averaged, also ones without a quota; 0: not known. */
uint32_t thread_sum_throttled_of(const struct thread_sum *sum);
/* In percent of one host CPU: of HOST_RUN, HOST_THREAD. Absent when nothing is known. */
struct cell thread_sum_percent(const struct thread_sum *sum, enum host_part part);

/* A guest, with vcpu -1, or a vCPU. */
struct owner {
	uint32_t guest;
	int32_t vcpu;
	const struct guest *of; /* NULL: all guests that ended longer ago */
	bool has_ended;
	pid_t tid;		/* a vCPU's; 0: not known */
	bool has_cpu, has_latest_cpu; /* the scheduler says it; an exit said it */
	uint64_t cpu, latest_cpu;
	uint64_t affinity; /* 0: not known */
	bool has_remote;
	uint64_t remote; /* thousandths, see HOST_REMOTE */
	struct stat_sum exits;
	struct time_split split;
	struct thread_sum threads;
	struct halt_reason halt;
	/* The costliest reason; the cost of halts is what was polled. all_count: of all reasons. */
	uint32_t top; /* valid if top_ns or top_count is not 0 */
	uint64_t top_ns, top_count, all_count;
	uint64_t open_ns; /* the longest exit that is open, see stats_open_ns() */
};

struct owners {
	struct owner *list; /* the view's */
	size_t nr;
	struct owner *latest; /* the last one found: the keys of an owner follow each other */
	uint64_t total; /* the exits of all that %Total is a share of */
	bool counts_each; /* see owners_count_each() */
	bool has_rates;
};

/* Makes room for nr owners and for the owner of all guests that ended longer ago. 0 or -ENOMEM. */
int owners_init(struct owners *owners, struct view *view, size_t nr);
struct owner *owners_add(struct owners *owners, uint32_t guest, int32_t vcpu);
/* Adds the owner of all guests that ended longer ago. owners_find() can be called from now on. */
void owners_end(struct owners *owners);
/* The owner in the list; the owner of all that ended longer ago if the list has no such owner. */
struct owner *owners_find(struct owners *owners, uint32_t guest, int32_t vcpu);

/* Adds the cost of one reason that is not a halt; owners_add_row() adds what halts polled. */
void owner_add_reason(struct owner *owner, uint32_t field, uint64_t ns, uint64_t count);
void owner_add_open(struct owner *owner, uint64_t open_ns);

/* The fields that are counted as exits, and the reasons that may be the costliest. */
struct chosen_exits {
	struct field_set exits, reasons;
};

/* Of each vCPU; zero-initialised before. 0 or -ENOMEM; the caller releases it in any case. */
int chosen_exits_find(const struct query *query, const struct facts *facts,
		      struct chosen_exits *ret_chosen);
void chosen_exits_release(struct chosen_exits *chosen);

/*
 * Whether the chosen exits of each guest are counted, so that a guest without any has 0: counters
 * of the provider "exits" are of all guests, but have no key before there is something to count.
 */
void owners_count_each(struct owners *owners, const struct query *query, const struct facts *facts,
		       const struct field_set *exits);

/* Sums up the exits of the owners of one guest, or of all with GUEST_ANY: what %Total is of. */
void owners_total(struct owners *owners, uint32_t guest);

/*
 * Adds the owner's row, its cells filled from OWNER_TOTAL on, and is_gone and is_rest. The first
 * cell is the guest's name. NULL: no memory.
 */
struct view_row *owners_add_row(struct view *view, const struct owners *owners,
				struct owner *owner, const struct fields *fields);

/* Sets view->absent for a column without fields of this part. */
void view_absent_without(struct view *view, const struct facts *facts, enum host_part part,
			 size_t column);

/* Sets view->absent for columns without fields, and the view's note where its rows need one. */
void owners_absent(struct view *view, const struct facts *facts);

/* From these shares of the vCPUs' time on, a guest loses much. */
#define OWNER_KVM_WARN 20
#define OWNER_WAIT_WARN 10
#define OWNER_POLL_WARN 20

/* Both views have these columns after five columns of their own. */
enum {
	OWNER_TOTAL = 5,
	OWNER_SHARE,
	OWNER_DELTA,
	OWNER_RATE,
	OWNER_GUEST,
	OWNER_L2, /* where any guest runs guests of its own */
	OWNER_KVM,
	OWNER_USER,
	OWNER_HALT, /* or, where what is polled is known, the next two */
	OWNER_POLL,
	OWNER_SLEEP,
	OWNER_WAIT,
	OWNER_THROTTLED,
	OWNER_CPU_TIME,
	OWNER_MIGRATIONS,
	OWNER_TIME,
	OWNER_SPLIT,
	OWNER_TOP,
	OWNER_TOP_SHARE,
	OWNER_OPEN,
	OWNER_HISTORY,
	OWNER_ENDED,
	OWNER_COLUMN_END,
};

/*
 * The rows of these columns in the column tables of both views; of_all: what %Total is a share of.
 */
#define OWNER_COLUMNS(of_all) \
	[OWNER_TOTAL] = { "total", "Total", \
			  "exits since the start or r; with a filter, only matching ones", \
			  CELL_COUNT, 10, COLUMN_SPARE(110) | COLUMN_SUM }, \
	[OWNER_SHARE] = { "share", "%Total", of_all, CELL_PERCENT, 7, COLUMN_SPARE(120) }, \
	[OWNER_DELTA] = { "delta", "Delta", "since the previous sample", CELL_COUNT, 10, \
			  COLUMN_MACHINE_ONLY | COLUMN_SUM }, \
	[OWNER_RATE] = { "rate", "CurAvg/s", "per second between the last two samples", CELL_RATE, \
			 9, COLUMN_SUM }, \
	[OWNER_GUEST] = { "guest_percent", "Guest%", "share of its vCPUs' time in the guest", \
			  CELL_PERCENT, 6, COLUMN_SPARE(10) | COLUMN_MEAN }, \
	[OWNER_L2] = { "l2_percent", "L2%", "share in guests of the guest; a part of Guest%", \
		       CELL_PERCENT, 5, COLUMN_SPARE(35) | COLUMN_MEAN }, \
	[OWNER_KVM] = { "kvm_percent", "KVM%", "share in which KVM handled exits", \
			CELL_PERCENT, 5, \
			COLUMN_SPARE(30) | COLUMN_WARN(OWNER_KVM_WARN) | COLUMN_MEAN }, \
	[OWNER_USER] = { "user_percent", "User%", "share in user space, the VMM", \
			 CELL_PERCENT, 5, COLUMN_SPARE(40) | COLUMN_MEAN }, \
	[OWNER_HALT] = { "halt_percent", "Halt%", "share in which the vCPU had nothing to do", \
			 CELL_PERCENT, 5, COLUMN_SPARE(60) | COLUMN_MEAN }, \
	[OWNER_POLL] = { "poll_percent", "Poll%", \
			 "share in which KVM polled in halts: nothing to do, but the CPU is busy", \
			 CELL_PERCENT, 5, COLUMN_SPARE(36) | COLUMN_WARN(OWNER_POLL_WARN) | \
			 COLUMN_MEAN }, \
	[OWNER_SLEEP] = { "sleep_percent", "Sleep%", \
			  "share in which the vCPU slept: nothing to do, and the CPU is free", \
			  CELL_PERCENT, 6, COLUMN_SPARE(108) | COLUMN_MEAN }, \
	[OWNER_WAIT] = { "wait_percent", "Wait%", \
			 "share in which the vCPU could run but had no CPU; a part of the others", \
			 CELL_PERCENT, 5, COLUMN_SPARE(38) | COLUMN_WARN(OWNER_WAIT_WARN) | \
			 COLUMN_MEAN }, \
	[OWNER_THROTTLED] = { "throttled_percent", "Throt%", \
			      "share in which a quota (cpu.max) stopped it; a part of Wait%", \
			      CELL_PERCENT, 6, COLUMN_SPARE(140) | COLUMN_WARN(OWNER_WAIT_WARN) | \
			      COLUMN_MEAN }, \
	[OWNER_CPU_TIME] = { "cpu_percent", "CPU%", \
			     "time that its threads ran, as a share of one host CPU", \
			     CELL_PERCENT, 5, COLUMN_SPARE(72) | COLUMN_SUM }, \
	[OWNER_MIGRATIONS] = { "migrations", "Migr/s", \
			       "moves to another host CPU, per second", \
			       CELL_RATE, 6, COLUMN_SPARE(150) | COLUMN_SUM }, \
	[OWNER_TIME] = { "vcpu_ns", "vCPU time", "the time of its vCPUs: 100 % of the shares", \
			 CELL_NS, 7, COLUMN_MACHINE_ONLY }, \
	[OWNER_SPLIT] = { "split", "Time split", "the shares as a picture; line 2 has its signs", \
			  CELL_SPLIT, 16, COLUMN_SPARE(90) }, \
	[OWNER_TOP] = { "top", "Top exit", \
			"the reason that took most time; of halts only polling counts", \
			CELL_TEXT, 18, COLUMN_LEAST(12) | COLUMN_SPARE(50) }, \
	[OWNER_TOP_SHARE] = { "top_percent", "Top%", \
			      "its share of the vCPUs' time without sleep; or, untimed, of exits", \
			      CELL_PERCENT, 5, COLUMN_SPARE(74) }, \
	[OWNER_OPEN] = { "open_ns", "Open", OPEN_HELP, CELL_NS, 7, 0 }, \
	[OWNER_HISTORY] = { "history", "History", \
			    "the rate over the last samples; all rows have one scale", \
			    CELL_SPARK, 30, COLUMN_SPARE(130) }, \
	[OWNER_ENDED] = { "ended", "Ended", "1: it has ended", CELL_COUNT, 5, \
			  COLUMN_MACHINE_ONLY | COLUMN_MARKED | COLUMN_OF_LIVE }

#endif
