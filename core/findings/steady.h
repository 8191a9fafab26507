/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steady - the worst finding of a live screen, without flicker: a finding must be in three samples
 * in a row, and stays until it is missing in three.
 */
#ifndef KVMTOP_CORE_FINDINGS_STEADY_H
#define KVMTOP_CORE_FINDINGS_STEADY_H

#include "core/findings/findings.h"

#define STEADY_SAMPLES 3

struct steady_finding {
	struct finding latest;
	unsigned int nr_found, nr_missing;
	bool is_steady;
};

/* Zero-initialised is none. */
struct steady {
	struct steady_finding *list;
	size_t nr, room;
	/* The one that is named: it stays as long as no other one is more severe. */
	const struct rule *rule; /* NULL: none */
	uint32_t guest;
};

/* Takes the findings of the next sample. */
void steady_take(struct steady *steady, const struct findings *findings);

/* NULL: there is none. Valid until the next steady_take(). */
const struct finding *steady_worst(const struct steady *steady);
size_t steady_count(const struct steady *steady);

void steady_release(struct steady *steady);

#endif
