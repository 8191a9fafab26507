// SPDX-License-Identifier: GPL-2.0-or-later
/* A recording with its guests. */
#include <stdlib.h>

#include "trace/exits/recorded.h"

void recorded_init(struct recorded *recorded, const struct recording *recording,
		   double ns_per_unit)
{
	*recorded = (struct recorded){
		.recording = recording,
		.ns_per_unit = ns_per_unit,
		.span_ns = recording_ns(recording_span(recording), ns_per_unit),
		.guests = guests_new(NULL),
	};
	recorded->vcpus = guests_of_table(recording->trace, &recording->pairing.table,
					  recorded->guests);
}

void recorded_release(struct recorded *recorded)
{
	guests_free(recorded->guests);
	free(recorded->vcpus);
	recorded->guests = NULL;
	recorded->vcpus = NULL;
}
