/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build - makes a view of a query and the facts: its rows, sorted.
 */
#ifndef KVMTOP_CORE_VIEWS_BUILD_H
#define KVMTOP_CORE_VIEWS_BUILD_H

#include "core/views/query.h"

/* Rebuilds the rows; texts stay valid until the guests are refreshed. */
void view_build(struct view *view, const struct query *query, const struct facts *facts);

#endif
