// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of what each kind of source lacks. */
#include <stddef.h>

#include "core/facts/source.h"

#define COUNTED_EARLIER "What is shown was counted earlier: this key needs a live machine"

static const char *const lacks[SOURCE_KINDS][SOURCE_NEEDS] = {
	[SOURCE_RECORDING] = {
		[NEED_NOW] = COUNTED_EARLIER,
		[NEED_HOST] = "A recording has nothing about host CPUs; a history has.",
	},
	[SOURCE_HISTORY] = {
		[NEED_NOW] = COUNTED_EARLIER,
	},
	[SOURCE_PROMETHEUS] = {
		[NEED_NOW] = COUNTED_EARLIER,
		[NEED_EVENTS] = ("A Prometheus is not asked for events: kvmtop on the host shows "
				 "them. Where it exports them (kvmtop export --metrics "
				 "events), they are kvmtop_events_total."),
		[NEED_HOST] = ("A Prometheus is not asked for the host's CPUs: kvmtop on the host "
			       "shows them. How busy they are is "
			       "kvmtop_host_cpu_busy_seconds_total."),
		[NEED_ARGUMENTS] = ("A Prometheus does not have what exits are about: kvmtop on "
				    "the host shows hot spots."),
		[NEED_SINGLE] = ("A Prometheus has no single exits: kvmtop on the host lists long "
				 "ones."),
		[NEED_VCPU_EXITS] = "A Prometheus has the exits of each guest, not of each vCPU.",
	},
};

const char *source_lacks(enum source_kind kind, enum source_need need)
{
	return lacks[kind][need];
}

bool source_has_now(enum source_kind kind)
{
	return !lacks[kind][NEED_NOW];
}
