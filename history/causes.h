/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * causes - the findings of a writer's segment, for the notices: when each one began and ended; and
 * what could not be counted.
 */
#ifndef KVMTOP_HISTORY_CAUSES_H
#define KVMTOP_HISTORY_CAUSES_H

#include "core/findings/steady.h"
#include "history/moment.h"

/* Zero-initialised: nothing was found. */
struct causes {
	const struct thresholds *thresholds; /* NULL: the usual ones */
	uint64_t looked_ns; /* when it was looked for them last; 0: never */
	uint64_t lost;	    /* how much was lost until then, see stats_lost() */
	struct findings findings;
	struct steady steady;
	struct cause *list; /* the findings that are noted */
	size_t nr, room;
};

/*
 * Adds notices about the facts to their moment. Looks every ten seconds at most: to find causes
 * takes longer than to take a moment.
 */
void causes_take(struct causes *causes, const struct facts *facts, struct moment *moment);

void causes_release(struct causes *causes);

#endif
