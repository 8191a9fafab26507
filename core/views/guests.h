/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guests - what the views of guests and of hosts share: a row for each guest of the inventory.
 */
#ifndef KVMTOP_CORE_VIEWS_GUESTS_H
#define KVMTOP_CORE_VIEWS_GUESTS_H

#include "core/views/owners.h"

/* Fills the cells before OWNER_TOTAL, but the first one. */
typedef void (*guests_fill_fn)(struct view_row *row, const struct owner *owner);

/* Adds the rows, ascending by the guest's id. 0 or -ENOMEM. */
int guests_build(struct view *view, const struct query *query, const struct facts *facts,
		 guests_fill_fn fill);

/* For struct view_type. */
bool guests_wants(const struct query *query, const struct field *field);
bool guests_needs(const struct field *field);

#endif
