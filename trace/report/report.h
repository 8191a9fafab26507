/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - what only `kvmtop report` prints: two recordings side by side, and ACRN's own table.
 */
#ifndef KVMTOP_TRACE_REPORT_REPORT_H
#define KVMTOP_TRACE_REPORT_REPORT_H

#include <stdio.h>

#include "base/why.h"
#include "trace/recorded/recording.h"
#include "views/view.h"

/* ACRN's vm_exit report and its CSV file, to the letter. mhz_text is printed as it is. */
int report_acrn(const struct recording *recording, double mhz, const char *mhz_text,
		const char *csv, FILE *out, struct why *why);

/* One of two recordings. */
struct report_side {
	const char *path;
	const struct view *view;       /* of ROWS_TOTALS */
	const struct pairing *pairing; /* says what was lost */
	uint64_t span;		       /* how long it is, in ns or in cycles */
	uint64_t nr_unfinished;	       /* exits that have no end in it */
	bool has_time, is_cycles;
};

/*
 * Two recordings beside each other, the biggest change from the first to the second on top. 0,
 * -EINVAL with why where one has times in ns and the other in cycles, or -ENOMEM.
 */
int report_diff(const struct report_side sides[2], FILE *out, struct why *why);

#endif
