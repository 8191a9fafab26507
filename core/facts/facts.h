/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts - all that is known at one moment; views are built from facts.
 *
 * With it: the kinds of sources and what each kind lacks, and which counter says how many VM exits
 * there were.
 */
#ifndef KVMTOP_CORE_FACTS_FACTS_H
#define KVMTOP_CORE_FACTS_FACTS_H

#include <stdbool.h>

#include "core/facts/field.h"
#include "core/facts/stats.h"
#include "core/guests/guests.h"

enum source_kind {
	SOURCE_LIVE,	   /* this machine, now */
	SOURCE_MACHINE,	   /* a captured machine, played as if it were this one */
	SOURCE_RECORDING,  /* the events of a trace.dat, perf.data ... */
	SOURCE_HISTORY,	   /* a history file: the samples of a machine */
	SOURCE_PROMETHEUS, /* what a Prometheus has of many hosts */
	SOURCE_KINDS
};

/* What a view or a key may need that not every source has. */
enum source_need {
	NEED_NOTHING,
	NEED_NOW,	 /* samples that are taken while they are looked at */
	NEED_EVENTS,	 /* counts of trace events */
	NEED_HOST,	 /* the host's CPUs */
	NEED_ARGUMENTS,	 /* what exits are about */
	NEED_SINGLE,	 /* exits one by one */
	NEED_STACKS,	 /* the code that vCPU threads are in */
	NEED_VCPU_EXITS, /* the exits of each vCPU */
	NEED_TIMES,	 /* exits by reason with their times, and where the time of vCPUs goes */
	NEED_WAITS,	 /* what has the CPU while vCPUs wait */
	NEED_INTERRUPTS, /* how long interrupts are pending */
	SOURCE_NEEDS
};

/* Why a source of this kind does not have it, for the user; NULL: it may have it. */
const char *source_lacks(enum source_kind kind, enum source_need need);

/* What counting may cost guests: times of exits, too; counts; nothing: no program in exits. */
enum cost { COST_TIMES, COST_EVENTS, COST_NONE, COSTS };

/* Whether samples are taken while they are looked at. */
bool source_has_now(enum source_kind kind);

/* The unit of durations. Without the length of a cycle there are no rates per second, either. */
enum time_unit { UNIT_NS, UNIT_CYCLES };

struct facts {
	enum source_kind source;
	/* The facts are of a span from its begin to its end, not of its latest interval. */
	bool is_span;
	enum time_unit unit;
	enum cost cost; /* of a machine */
	const struct field_set *wanted; /* the fields that the query needs; NULL: all */
	const struct fields *fields;
	const struct stats *stats;
	const struct long_exits *long_exits; /* the latest: of stats, or of a recording */
	struct stacks *stacks; /* the dictionary of stats->stacks; NULL: none are sampled */
	const struct guests *guests;
	const struct field_set *counted; /* these and others; NULL: only these */
};

/* What source_lacks() says, or that it is not counted because it would cost more. */
const char *facts_lack(const struct facts *facts, enum source_need need);

/*
 * The counter of VM exits. The tracepoint kvm_exit and the debugfs counter "exits" count them. On
 * some kernels kvm_exit never fires (guests are emulated): then the exits to user space are the
 * best counter.
 */
struct exits {
	uint32_t source; /* struct field's source of the counter's fields, */
	uint8_t rank;	 /* and their exit_rank; 0: nothing counts exits */
};

/*
 * The best counter that has counted anything; if none has, the best of all. by_guest: only counters
 * that have a value for each guest; is_timed: only counters of the provider "exits".
 */
struct exits exits_choose(const struct facts *facts, bool by_guest, bool is_timed);
/* Whether the field, which has no parent, is one of the counter's. */
bool exits_has(const struct exits *exits, const struct field *field);

/* Whether the dictionary has fields of the provider "exits". */
bool fields_have_exits(const struct fields *fields);
/* Whether it has these, or a counter of KVM's of the exits of each vCPU. */
bool fields_have_vcpu_exits(const struct fields *fields);

/* A number of the host itself, see host_is_of_host(); NULL: not known. */
const uint64_t *facts_of_host(const struct facts *facts, enum host_part part);

/*
 * What kvmtop's own programs take of these exits, which is a part of their time, where that is
 * known. exit_ns: of one, by a few.
 */
uint64_t facts_own_ns(const struct stats_item *exits, uint64_t exit_ns);

/* What they take of an exit, and of the time of all vCPUs. */
struct own_cost {
	uint64_t exit_ns; /* 0: not known */
	bool has_share;
	double share; /* a ratio */
};

struct own_cost facts_cost(const struct facts *facts);

/* Whether exits were counted of which none can be timed: KVM traces neither exits nor entries. */
bool exits_are_untimed(const struct facts *facts);

/* A note for the user when KVM counts no VM exits of these guests; else NULL. */
const char *exits_note(const struct facts *facts);

#endif
