/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary - the exits of the host, or of one guest, for one line.
 */
#ifndef KVMTOP_CORE_VIEWS_SUMMARY_H
#define KVMTOP_CORE_VIEWS_SUMMARY_H

#include "core/views/rollup.h"

struct exits_summary {
	const char *name; /* of the field that counts exits; NULL: none does */
	struct owner all; /* the sums of all guests */
	/* The guest with the costliest exits, and its costliest reason; FIELD_NONE: none. */
	uint32_t guest, reason;
	double rate_per_s; /* of that reason */
};

/* guest: its exits only; GUEST_ANY: all. */
struct exits_summary exits_summarize(const struct facts *facts, uint32_t guest);

#endif
