// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts events in chosen threads; runs in the kernel. The program is a pattern: for each event a
 * copy is loaded, which adds to the counter of that event. For events by CPU see bpf_hook_on_cpu().
 *
 * The addition is atomic because an event may interrupt the counting of another one.
 */
#include "providers/tracepoint/counters.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("raw_tp")
int event_in_thread(const void *ctx __attribute__((unused)))
{
	struct counter_values *at = of_thread();

	if (at)
		__sync_fetch_and_add(&at->values[0], 1);
	return 0;
}
