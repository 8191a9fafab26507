/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts - all that is known at one moment; views are built from facts.
 */
#ifndef KVMTOP_CORE_FACTS_FACTS_H
#define KVMTOP_CORE_FACTS_FACTS_H

#include "core/facts/field.h"
#include "core/facts/source.h"
#include "core/facts/stats.h"
#include "core/guests/guests.h"

/* Of durations. Without the length of a cycle there are no rates per second, either. */
enum time_unit { UNIT_NS, UNIT_CYCLES };

struct facts {
	enum source_kind source;
	/* The facts are of a span from its begin to its end, not of its latest interval. */
	bool is_span;
	enum time_unit unit;
	const struct field_set *wanted; /* the fields that the query needs; NULL: all */
	const struct fields *fields;
	const struct stats *stats;
	const struct long_exits *long_exits; /* the latest: of stats, or of a recording */
	const struct guests *guests;
	const struct field_set *counted; /* these and others; NULL: only these */
};

#endif
