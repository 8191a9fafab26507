/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exits - which of the counters say how many VM exits there were.
 *
 * The tracepoint kvm_exit and the debugfs counter "exits" do; but kernels exist whose kvm_exit
 * never fires (guests that are emulated), and there the exits to user space are the best there is.
 */
#ifndef KVMTOP_EXITS_H
#define KVMTOP_EXITS_H

#include "view.h"

struct exits {
	uint32_t source; /* of the fields to take, and their struct field exit_rank */
	uint8_t rank;	 /* 0: nothing counts exits */
};

/*
 * The best counter of those that counted anything, else of all; by_guest: that tells guests apart.
 */
struct exits exits_choose(const struct facts *facts, bool by_guest);
bool exits_has(const struct exits *exits, const struct field *field);

/* All that it counted; NULL when it is nothing, else the field's name. */
const char *exits_sum(const struct facts *facts, struct stat_sum *ret_sum);

#endif
