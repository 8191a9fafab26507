/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff - a view of two others: what changed from the first to the second.
 */
#ifndef KVMTOP_CORE_VIEWS_DIFF_H
#define KVMTOP_CORE_VIEWS_DIFF_H

#include "lib/error.h"
#include "core/facts/facts.h"

struct view;

/* A recording, a span of a history, or a guest: one of the two that are compared. */
struct view_side {
	const char *path;	 /* of a recording */
	const struct view *view; /* of exits by guest, vCPU and reason */
	uint64_t span;		 /* how long it is, in ns or in cycles */
	enum time_unit unit;
};

/*
 * A view of both, from the first to the second: the row that changed most is the first. Its texts
 * belong to the sides' views. 0, -EINVAL with error where one has times in ns and the other in
 * cycles; release the view in any case.
 */
int view_diff(const struct view_side sides[2], struct view *ret_view, struct error *error);

#endif
