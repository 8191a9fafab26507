// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts events, by CPU or in chosen threads; runs in the kernel.
 *
 * The programs are patterns: for each event a copy is loaded, with the event's number in it. The
 * additions are atomic because an event may interrupt the counting of another one.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "providers/tracepoint/counters_shared.h"

char LICENSE[] SEC("license") = "GPL";

/* By split and code: the number of the reason's counter plus 1; 0: it has no counter. */
__u16 dense[COUNTERS_SPLITS][COUNTERS_DENSE];

const volatile __u64 type_bit;
const volatile __u32 nr_cpus;

/*
 * By thread an entry for each slot. By CPU all slots are one entry, which has an address: so a
 * program finds its slot without a call. See bpf_hook_on_cpu().
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counter_values);
} values SEC(".maps");

/* By tid: the number of the thread's slot in values. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} slots SEC(".maps");

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

static __always_inline struct counter_values *of_thread(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u32 *slot = bpf_map_lookup_elem(&slots, &tid);

	return slot ? bpf_map_lookup_elem(&values, slot) : 0;
}

/* Returns 1: see providers/bpf/bpf.h. */
static __always_inline int count_reason(struct counter_values *at, void *ctx)
{
	struct counter_code key = { LOAD(ctx, FIELD_REASON), NUMBER(NUMBER_SPLIT) };
	__u64 type = LOAD(ctx, FIELD_TYPE);
	__u32 *known, counter = 0;

	if (!at)
		return 1;
	if (type != NUMBER(NUMBER_TYPE))
		key.code = type_bit | type;
	if (key.code < COUNTERS_DENSE) {
		counter = dense[key.split % COUNTERS_SPLITS][key.code];
	} else {
		known = bpf_map_lookup_elem(&codes, &key);
		if (known)
			counter = *known;
	}
	if (counter)
		__sync_fetch_and_add(&at->values[(counter - 1) % COUNTERS_MAX], 1);
	return 1;
}

SEC("raw_tracepoint")
int event_in_thread(void *ctx __attribute__((unused)))
{
	struct counter_values *at = of_thread();

	if (at)
		asm volatile("lock *(u64 *)(%0 + %1) += %2"
			     :: "r"(at), "i"(OFFSET_VALUE), "r"(1ull)
			     : "memory");
	return 0;
}

SEC("tracepoint")
int reason_on_cpu(void *ctx)
{
	return count_reason(of_cpu(), ctx);
}

SEC("tracepoint")
int reason_in_thread(void *ctx)
{
	return count_reason(of_thread(), ctx);
}
