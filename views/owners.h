/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owners - what the views of guests and of vCPUs share: a row for each, its exits, where its time
 * went, its costliest reason.
 *
 * Owners are those of the inventory, in a query for one guest that has ended that guest too, and
 * one more for all others that have ended: so no total goes back.
 */
#ifndef KVMTOP_VIEWS_OWNERS_H
#define KVMTOP_VIEWS_OWNERS_H

#include "views/groups.h"

/* A guest, with vcpu -1, or a vCPU. */
struct owner {
	uint32_t guest;
	int32_t vcpu;
	const struct guest *of; /* NULL: it has ended */
	pid_t tid;		/* a vCPU's; 0: not known */
	bool has_cpu;
	uint64_t cpu;
	struct stat_sum exits;
	struct time_split split;
	/* Of exits that are not halts: the costliest reason, and the cost of all. */
	uint32_t top; /* valid if top_ns or top_count is not 0 */
	uint64_t top_ns, top_count, all_ns, all_count;
};

struct owners {
	struct owner *list; /* the view's */
	size_t nr;
	struct owner *latest; /* found: keys of one owner follow each other */
	struct owner all;
};

/* Makes room for nr owners, and for the one of all that have ended. 0 or -ENOMEM. */
int owners_init(struct owners *owners, struct view *view, size_t nr);
struct owner *owners_add(struct owners *owners, uint32_t guest, int32_t vcpu);
/* Adds the owner of all that have ended; from now on they can be found. */
void owners_end(struct owners *owners);
/* The owner; for one that is not in the list that of all that have ended. */
struct owner *owners_find(struct owners *owners, uint32_t guest, int32_t vcpu);

/* What one reason cost, which is not a halt. */
void owner_add_reason(struct owner *owner, uint32_t field, uint64_t ns, uint64_t count);

/* Sums up the owners of one guest, or of all with GUEST_ANY: the Total row. */
void owners_total(struct owners *owners, struct view *view, uint32_t guest);

/*
 * Adds the owner's row, its cells filled from OWNER_TOTAL on, and is_gone and is_rest. The first
 * cell is the guest's name. NULL: no memory.
 */
struct view_row *owners_add_row(struct view *view, const struct owners *owners,
				struct owner *owner, const struct fields *fields);

/* Sets view->absent for columns that there are no fields for, and a note if it is needed. */
void owners_absent(struct view *view, const struct facts *facts);

/* Both views have these columns, behind four of their own. */
enum {
	OWNER_TOTAL = 4,
	OWNER_SHARE,
	OWNER_DELTA,
	OWNER_RATE,
	OWNER_GUEST,
	OWNER_KVM,
	OWNER_USER,
	OWNER_HALT,
	OWNER_WAIT,
	OWNER_TIME,
	OWNER_SPLIT,
	OWNER_TOP,
	OWNER_TOP_SHARE,
	OWNER_HISTORY,
};

#endif
