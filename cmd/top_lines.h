/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_lines - makes a query from the options of `kvmtop`, and prints views as lines, live or from a
 * history.
 */
#ifndef KVMTOP_CMD_TOP_LINES_H
#define KVMTOP_CMD_TOP_LINES_H

#include "cmd/options.h"
#include "ui/lines/lines.h"
#include "core/views/query.h"
#include "core/views/view.h"

/*
 * Reads -f, -b, -x, --view and --sort; without the guest. The query's filter is the caller's to
 * free. -EINVAL with why: a usage error.
 */
int top_query_init(const struct options *options, struct query *ret_query, struct error *why);

/* Where exits cannot be timed the screen begins with the events, unless a view was asked for. */
void top_query_without_times(const struct options *options, struct query *query);

/*
 * Reads -g and -p for a span of a history: all that bore the name in it. 0, or -errno with why:
 * there is no such guest. *ret_only is what the query points to, to be freed after it.
 */
int top_query_span_guests(const struct options *options, const struct guests *guests,
			  struct query *query, struct vcpu_key **ret_only, struct error *why);

/* Zero-initialised, with options and query, is closed. */
struct top_lines {
	const struct options *options;
	struct query *query;
	struct view view;
	struct lines *lines;
	bool has_warned;   /* that the filter matches nothing, or the filter was seen to match */
	const char *noted; /* the view's note that was printed last */
};

/* Call it when the facts answer the query. 0, or -errno with why; see lines_open(). */
int top_lines_open(struct top_lines *lines, const struct facts *facts, struct error *why);

/* Prints a view of the facts, with the time (CLOCK_REALTIME). */
int top_lines_print(struct top_lines *lines, const struct facts *facts, uint64_t time_ns,
		    struct error *why);

/* 0, or -errno with why if not all was written. */
int top_lines_close(struct top_lines *lines, struct error *why);

#endif
