/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables - what the programs of the provider "who" and its reader share: threads, the record of
 * each vCPU's thread, and the time of pairs of such a thread and what ran while it waited.
 */
#ifndef KVMTOP_PROVIDERS_WHO_TABLES_BPF_H
#define KVMTOP_PROVIDERS_WHO_TABLES_BPF_H

#include "providers/bpf/kernel.bpf.h"
#include "providers/who/shared.h"

/* Maps, as an array that is one value may be no larger than kmalloc()'s before Linux 6.9. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WHO_VCPUS);
	__type(key, __u32);
	__type(value, struct who_record);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WHO_TIMES);
	__type(key, __u32);
	__type(value, struct who_time);
} times SEC(".maps");

struct who_thread threads[WHO_THREADS];
__u64 lost_ns; /* was charged to a pair that had no room */

/* ---- threads */

/* Its number, or 0: it is none of these. */
static __always_inline __u32 number_of(__u32 tid)
{
	for (__u32 i = 0; i < WHO_TRIES; i++) {
		const struct who_thread *thread = &threads[(WHO_PLACE(tid) + i) % WHO_THREADS];

		if (thread->tid == tid)
			return thread->number;
		if (!thread->tid)
			return 0;
	}
	return 0;
}

static __always_inline _Bool is_vcpu(__u32 number)
{
	return number && number != WHO_IS_VMM;
}

static __always_inline struct who_record *record_at(__u32 number)
{
	number--;
	return bpf_map_lookup_elem(&records, &number);
}

/* ---- pairs */

/* A hash of several names and numbers, one after the other. */
static __always_inline __u64 mix(__u64 hash, __u64 more)
{
	hash = (hash ^ more) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32; /* names differ in their last letters */
}

/* With what the hash of something of the kind begins. */
static __always_inline __u64 hash_of(enum who_kind kind)
{
	return mix(0xff51afd7ed558ccd, kind);
}

static __always_inline void copy_name(char *name, const void *task)
{
	bpf_probe_read_kernel(name, WHO_NAME,
			      (const char *)task + bpf_core_field_offset(struct task_struct, comm));
}

/* What a vCPU's thread waited for. */
struct charge {
	__u64 hash, ns; /* of the pair */
	__u64 ran;	/* as of struct moment; 0: an interrupt, or the like */
	__u32 tid, kind;
};

/* The place becomes the pair's. */
static __always_inline void begin_time(struct who_time *time, const struct charge *charge)
{
	const void *ran = (void *)(unsigned long)charge->ran;

	__builtin_memset(&time->count, 0,
			 sizeof(*time) - __builtin_offsetof(struct who_time, count));
	time->tid = charge->tid;
	time->kind = charge->kind;
	if (!ran)
		return;
	time->ran_tid = READ(ran, struct task_struct, pid);
	time->ran_pid = READ(ran, struct task_struct, tgid);
	copy_name(time->thread, ran);
	if (charge->kind == WHO_PROCESS)
		copy_name(time->process, READ_POINTER(ran, struct task_struct, group_leader));
}

static __always_inline void add_to(struct who_time *time, __u64 ns)
{
	time->ns += ns;
	if (ns > time->max_ns)
		time->max_ns = ns;
	asm volatile("" ::: "memory"); /* a reader that sees the count sees the time */
	time->count++;
}

/* The pair is new, or another has its first place. */
__attribute__((noinline)) int add_elsewhere(struct charge *charge)
{
	if (!charge)
		return 0;
	for (__u32 i = 0; i < WHO_TRIES; i++) {
		__u32 at = (charge->hash + i) % WHO_TIMES;
		struct who_time *time = bpf_map_lookup_elem(&times, &at);

		if (!time)
			break;
		if (!time->hash && !__sync_val_compare_and_swap(&time->hash, 0, WHO_BEING_MADE)) {
			begin_time(time, charge);
			__sync_lock_test_and_set(&time->hash, charge->hash);
		}
		if (time->hash == charge->hash) {
			add_to(time, charge->ns);
			return 0;
		}
	}
	__sync_fetch_and_add(&lost_ns, charge->ns);
	return 0;
}

static __always_inline void add_charge(__u64 ran_hash, __u32 tid, enum who_kind kind, __u64 ran,
				       __u64 ns)
{
	__u64 hash = mix(ran_hash, tid) | WHO_IS_MADE;
	__u32 at = hash % WHO_TIMES;
	struct who_time *time = bpf_map_lookup_elem(&times, &at);

	if (time && time->hash == hash) {
		add_to(time, ns);
	} else {
		struct charge charge = { hash, ns, ran, tid, kind };

		add_elsewhere(&charge);
	}
}

static __always_inline void add_kind(__u32 tid, enum who_kind kind, __u64 ns)
{
	add_charge(hash_of(kind), tid, kind, 0, ns);
}

#endif
