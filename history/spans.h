/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spans - two spans of a history, compared as two recordings are.
 */
#ifndef KVMTOP_HISTORY_SPANS_H
#define KVMTOP_HISTORY_SPANS_H

#include "history/interval.h"
#include "core/views/query.h"

struct monitor;

/* Zero-initialised is none. */
struct history_span {
	struct interval *interval;
	struct monitor *monitor;
	struct query query; /* the caller's: which guest and vCPU, and what has a row (groups) */
	struct view view;
};

/*
 * Reads the moments that are later than from_ns and not later than to_ns. fields: as for
 * interval_new(). 0, or -errno with why; -ENOENT, without why: there is none. Release it in any
 * case.
 */
int span_read(struct history_span *span, struct store store, struct fields *fields,
		     uint64_t from_ns, uint64_t to_ns, struct why *why);
void span_release(struct history_span *span);

/* GROUP_*: which rows a comparison has where a view of this type is looked at. */
unsigned int span_groups(const struct view_type *type);

/* The spans' exits, from the first to the second: see view_diff(). */
int spans_diff(struct history_span spans[2], struct view *ret_view, struct why *why);

#endif
