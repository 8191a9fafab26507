/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_counter - which of the counters say how many VM exits there were.
 *
 * The tracepoint kvm_exit and the debugfs counter "exits" do; but kernels exist whose kvm_exit
 * never fires (guests that are emulated), and there the exits to user space are the best there is.
 */
#ifndef KVMTOP_FACTS_EXIT_COUNTER_H
#define KVMTOP_FACTS_EXIT_COUNTER_H

#include "facts/facts.h"

struct exits {
	uint32_t source; /* of the fields to take, and their struct field exit_rank */
	uint8_t rank;	 /* 0: nothing counts exits */
};

/*
 * The best counter of those that counted anything, else of all that are wanted; by_guest: that
 * tells guests apart; is_timed: of what the provider "exits" gives.
 */
struct exits exits_choose(const struct facts *facts, bool by_guest, bool is_timed);
bool exits_has(const struct exits *exits, const struct field *field);

/* Whether the dictionary has anything from the provider "exits". */
bool fields_have_exits(const struct fields *fields);

/* What to say of them where no exit was ever counted, those to user space the best; else NULL. */
const char *exits_note(const struct exits *exits);

/* Exits of the host, or of one guest, for one line. */
struct exits_summary {
	const char *name;	/* the field's that counted them; NULL: nothing did */
	struct stat_sum sum;
	/* The rest only where the provider "exits" says it, else 0. */
	uint64_t part_ns[TIME_PARTS]; /* where the time of all vCPUs went in the last interval */
	bool has_parts, has_user; /* has_user: user space's part is known, else it is in KVM's */
	uint32_t guest;		/* the hottest: whose exits took most time, halts left out; */
	uint32_t reason;	/* its costliest reason, as a field, */
	double rate_per_s;	/* and how often that was */
};

/* guest: its exits only; GUEST_ANY: all. 0 or -ENOMEM. */
int exits_summarize(const struct facts *facts, uint32_t guest, struct exits_summary *ret_summary);

#endif
