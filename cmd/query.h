/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query - what options ask for: the view, its rows and its order, guests and vCPUs; and the files
 * that options name for it, thresholds and the functions of guests.
 */
#ifndef KVMTOP_CMD_QUERY_H
#define KVMTOP_CMD_QUERY_H

#include "lib/error.h"
#include "cmd/options.h"
#include "core/findings/rules.h"
#include "core/views/query.h"

/* What a query points to. Zero-initialised is nothing. */
struct query_parts {
	struct pattern *filter;
	struct vcpu_key *only;
	struct thresholds thresholds;
	char *names[KALLSYMS_GUESTS]; /* of symbols */
	struct guest_symbols symbols[KALLSYMS_GUESTS];
};

void query_parts_release(struct query_parts *parts);

/*
 * Reads --thresholds, or without it the machine's file, which may be absent, and --guest-kallsyms.
 * Thresholds that no file sets have their defaults. 0, or -errno with error.
 */
int query_read_files(const struct options *options, struct query *query,
		     struct query_parts *parts, struct error *error);

/*
 * Reads -f, -b, -x, --view and --sort of `kvmtop`; without the guest. -EINVAL with error: a usage
 * error.
 */
int query_of_options(const struct options *options, struct query *query,
		     struct query_parts *parts, struct error *error);

/* Where exits cannot be timed the screen begins with the events, unless a view was asked for. */
void query_without_times(const struct options *options, struct query *query);

/*
 * Reads -g and -p for a span of a history: all guests that had the name in it. 0, or -errno with
 * error: there is no such guest.
 */
int query_of_span(const struct options *options, const struct guests *guests, struct query *query,
		  struct query_parts *parts, struct error *error);

/*
 * Reads what `kvmtop report` asks for of all of a recording; type: the view. Replaces what the
 * query asked for, except its files. 0, or -errno with error. *ret_is_none: nothing in the
 * recording matches -p.
 */
int query_of_recording(const struct options *options, const struct guests *guests,
		       const struct view_type *type, struct query *query,
		       struct query_parts *parts, bool *ret_is_none, struct error *error);

#endif
