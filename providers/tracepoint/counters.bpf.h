/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters - the memory that the programs of events and of their reasons share.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_COUNTERS_BPF_H
#define KVMTOP_PROVIDERS_TRACEPOINT_COUNTERS_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "providers/tracepoint/counters_shared.h"

/*
 * By thread an entry for each slot of the first chunks. By CPU all slots are one entry, which has
 * an address: so a program finds its slot without a call. See bpf_hook_on_cpu().
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counter_values);
} values SEC(".maps");

/* By number: the other chunks of threads' slots, which are added while the programs run. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, COUNTERS_CHUNKS);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_ARRAY);
		__uint(map_flags, BPF_F_MMAPABLE);
		__uint(max_entries, COUNTERS_CHUNK);
		__type(key, __u32);
		__type(value, struct counter_values);
	});
} chunks SEC(".maps");

/* By tid: the number of the thread's slot. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} slots SEC(".maps");

static __always_inline struct counter_values *of_thread(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	const __u32 *slot = bpf_map_lookup_elem(&slots, &tid);
	struct counter_values *first = slot ? bpf_map_lookup_elem(&values, slot) : 0;
	__u32 number, chunk, i;
	void *others;

	if (!slot || first)
		return first;
	number = *slot;
	chunk = number / COUNTERS_CHUNK;
	i = number % COUNTERS_CHUNK;
	others = bpf_map_lookup_elem(&chunks, &chunk);
	return others ? bpf_map_lookup_elem(others, &i) : 0;
}

#endif
