/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - what only `kvmtop report` has: a view of two recordings, and ACRN's own table.
 */
#ifndef KVMTOP_TRACE_REPORT_REPORT_H
#define KVMTOP_TRACE_REPORT_REPORT_H

#include <stdio.h>

#include "lib/why.h"
#include "trace/exits/recording.h"
#include "core/views/view.h"

/* ACRN's vm_exit report and its CSV file, to the letter. mhz_text is printed as it is. */
int report_acrn(const struct recording *recording, double mhz, const char *mhz_text,
		const char *csv, FILE *out, struct why *why);

/* A recording, a span of a history, or a guest: one of the two that are compared. */
struct report_side {
	const char *path;	 /* of a recording */
	const struct view *view; /* of exits by guest, vCPU and reason */
	uint64_t span;		 /* how long it is, in ns or in cycles */
	bool is_cycles;
};

/*
 * A view of both, from the first to the second: the row that changed most is the first. Its texts
 * belong to the sides' views. 0, -EINVAL with why where one has times in ns and the other in
 * cycles, or -ENOMEM; release the view in any case.
 */
int report_diff(const struct report_side sides[2], struct view *ret_view, struct why *why);

#endif
