/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_diff - `kvmtop -r FILE --diff FROM..TO FROM..TO`: two spans of a history side by side.
 */
#ifndef KVMTOP_CMD_TOP_DIFF_H
#define KVMTOP_CMD_TOP_DIFF_H

#include "lib/when.h"
#include "cmd/options.h"
#include "history/store.h"
#include "core/views/query.h"

/*
 * query: its filter chooses rows; fields: see interval_new(). 0, or -errno with why: -ERANGE: a
 * span ends before it begins; -ENOENT without why: a span has no sample.
 */
int top_diff(const struct options *options, const struct query *query, struct store store,
	     struct fields *fields, const struct when_origin *origin, struct error *why);

#endif
