/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_counter - which counter says how many VM exits there were.
 *
 * The tracepoint kvm_exit and the debugfs counter "exits" count them. On some kernels kvm_exit
 * never fires (guests are emulated): then the exits to user space are the best counter.
 */
#ifndef KVMTOP_CORE_FACTS_EXIT_COUNTER_H
#define KVMTOP_CORE_FACTS_EXIT_COUNTER_H

#include "core/facts/facts.h"

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

/* A note for the user when KVM counts no VM exits of these guests; else NULL. */
const char *exits_note(const struct facts *facts);

/*
 * The reason of the halts that KVM polls in, HLT or WFx. A host has one; MWAIT and the like mean
 * idle, too, but return to the guest at once. Zero-initialised is none yet.
 */
struct halt_reason {
	bool is_known;
	uint32_t field;
	uint64_t ns; /* the longest time of one vCPU */
};

/* Looks at one more key. */
void halt_reason_look(struct halt_reason *halt, const struct field *field,
		      const struct stats_item *stat);

#endif
