/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owners - sums for each guest or vCPU: its exits, its time split, its costliest reason. The views
 * of guests and of vCPUs share them.
 *
 * There is an owner for each guest or vCPU of the inventory, one for an ended guest if the query is
 * about that guest, and one for all other ended guests, so that no total goes back.
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
	/* Of exits without halts: the costliest reason, and the cost of all reasons. */
	uint32_t top; /* valid if top_ns or top_count is not 0 */
	uint64_t top_ns, top_count, all_ns, all_count;
};

struct owners {
	struct owner *list; /* the view's */
	size_t nr;
	struct owner *latest; /* the last one found: the keys of an owner follow each other */
	struct owner all;
};

/* Makes room for nr owners and for the owner of all ended guests. 0 or -ENOMEM. */
int owners_init(struct owners *owners, struct view *view, size_t nr);
struct owner *owners_add(struct owners *owners, uint32_t guest, int32_t vcpu);
/* Adds the owner of all ended guests. owners_find() can be called from now on. */
void owners_end(struct owners *owners);
/* The owner in the list; the owner of all ended guests if the list has no such owner. */
struct owner *owners_find(struct owners *owners, uint32_t guest, int32_t vcpu);

/* Adds the cost of one reason that is not a halt. */
void owner_add_reason(struct owner *owner, uint32_t field, uint64_t ns, uint64_t count);

/* Sums up the owners of one guest, or of all with GUEST_ANY: the Total row. */
void owners_total(struct owners *owners, struct view *view, uint32_t guest);

/*
 * Adds the owner's row, its cells filled from OWNER_TOTAL on, and is_gone and is_rest. The first
 * cell is the guest's name. NULL: no memory.
 */
struct view_row *owners_add_row(struct view *view, const struct owners *owners,
				struct owner *owner, const struct fields *fields);

/* Sets view->absent for columns without fields, and the view's note where one is needed. */
void owners_absent(struct view *view, const struct facts *facts);

/* Both views have these columns behind four columns of their own. */
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
