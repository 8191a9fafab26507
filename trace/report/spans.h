/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spans - two spans of a history, compared as two recordings are.
 */
#ifndef KVMTOP_TRACE_REPORT_SPANS_H
#define KVMTOP_TRACE_REPORT_SPANS_H

#include "history/interval.h"
#include "core/views/query.h"

struct monitor;

/* Zero-initialised is none. */
struct report_span {
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
int report_span_read(struct report_span *span, struct store store, struct fields *fields,
		     uint64_t from_ns, uint64_t to_ns, struct why *why);
void report_span_release(struct report_span *span);

/* GROUP_*: which rows a comparison has where a view of this type is looked at. */
unsigned int report_span_groups(const struct view_type *type);

/* The spans' exits, from the first to the second: see report_diff(). */
int report_spans_diff(struct report_span spans[2], struct view *ret_view, struct why *why);

#endif
