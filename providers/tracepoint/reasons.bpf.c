// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the reasons of events, by CPU or in chosen threads; runs in the kernel.
 *
 * The additions are atomic because an event may interrupt the counting of another one.
 */
#include "providers/bpf/kernel.bpf.h"
#include "providers/tracepoint/counters.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* By split and code: the number of the reason's counter plus 1; 0: it has no counter. */
__u16 dense[COUNTERS_SPLITS][COUNTERS_DENSE];

/* Set before loading: the kernel drops the code of what is not used. */
const volatile __u32 places[COUNTERS_SPLITS]; /* enum exit_place */
const volatile __u32 nr_cpus;
const volatile _Bool is_by_thread;

/* Codes that are too large for dense[]. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COUNTERS_MAX);
	__type(key, struct counter_code);
	__type(value, __u32);
} codes SEC(".maps");

static __always_inline struct counter_values *of_cpu(void)
{
	__u64 cpu = bpf_get_smp_processor_id();
	__u32 all = 0;
	struct counter_values *first = bpf_map_lookup_elem(&values, &all);

	return first && cpu < nr_cpus ? first + cpu : 0;
}

static __always_inline __u32 counter_of(__u64 code, __u32 split)
{
	struct counter_code key = { code, split };
	const __u32 *known;

	if (code < COUNTERS_DENSE)
		return dense[split][code];
	known = bpf_map_lookup_elem(&codes, &key);
	return known ? *known : 0;
}

static __always_inline int count_reason(const __u64 *ctx, __u32 split)
{
	enum exit_place place = places[split];
	struct counter_values *at;
	const void *vcpu = 0;
	__u32 counter;

	if (exit_has_vcpu(place)) {
		vcpu = POINTER(ctx, 0);
		if (!vcpu)
			return 0;
	}
	at = is_by_thread ? of_thread() : of_cpu();
	counter = counter_of(exit_code(ctx, vcpu, place), split);
	if (at && counter)
		__sync_fetch_and_add(&at->values[(counter - 1) % COUNTERS_MAX], 1);
	return 0;
}

/* A program for each split, on an event that is chosen before loading. */
#define ON_REASON(split)                     \
	SEC("tp_btf")                        \
	int reason_##split(const __u64 *ctx) \
	{                                    \
		return count_reason(ctx, split); \
	}

ON_REASON(0)
ON_REASON(1)
ON_REASON(2)
ON_REASON(3)
ON_REASON(4)
