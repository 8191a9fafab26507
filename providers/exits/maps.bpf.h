/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps - the memory of exits.bpf.c, and how a program finds its part of it: the record of the
 * thread that runs, which may be a new one, and in the record the cell of a reason.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_MAPS_BPF_H
#define KVMTOP_PROVIDERS_EXITS_MAPS_BPF_H

#include "providers/bpf/buckets.bpf.h"
#include "providers/bpf/kernel.bpf.h"
#include "providers/exits/shared.h"

/* Set before loading: the kernel drops the code of what is not used. */
const volatile __u32 exit_place; /* enum exit_place */
const volatile _Bool reports_long; /* long exits are reported */
const volatile _Bool notes; /* long exits or program counters: one check for both */
const volatile _Bool is_by_clock; /* a clock takes the samples of stacks */
const volatile _Bool has_exits; /* on_exit is loaded: a thread's record begins there */
const volatile __u32 nr_first; /* records in threads[]; the others are in more_threads */
const volatile __u64 halts[EXITS_HALTS]; /* the codes of exits that are halts; 0: no more */
const volatile _Bool has_fault_vcpu; /* kvm_page_fault's first argument is the vCPU */

struct exits_cpu cpus[EXITS_CPUS];

/* True once all programs are attached; exits that are already open then are ignored. */
_Bool is_counting;

/* Exits, arguments and long exits that found no room. */
__u64 lost_exits, lost_arguments, lost_long_exits;

/* When the reader read the arguments last. */
__u64 sampled_ns;

/* For on_long_entry: the threshold, and the cells that are not listed. The reader sets both. */
__u64 longer_ns;
_Bool is_left_out[EXITS_CELLS];
struct exits_code codes[EXITS_CELLS];
__u8 dense[EXITS_REASONS][EXITS_DENSE]; /* by kind and code: the cell; 0: none yet */
__u8 twins[EXITS_CELLS]; /* by cell: the cell for exits of L2; 0: none yet; of a twin: itself */

/* Set with each exit of L2; the reader clears it. */
_Bool is_nesting;

/* By tid: the number of the thread's record, plus 1. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} by_tid SEC(".maps");

/* The sizes of threads and free_threads are set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct exits_thread);
} threads SEC(".maps");

/* Added while the programs run; records never move. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, EXITS_CHUNKS);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_ARRAY);
		__uint(map_flags, BPF_F_MMAPABLE);
		__uint(max_entries, EXITS_CHUNK);
		__type(key, __u32);
		__type(value, struct exits_thread);
	});
} more_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
} free_threads SEC(".maps");

/* The map of arguments, which the reader adds while they are counted. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_HASH);
		__uint(max_entries, 1);
		__type(key, struct exits_argument_key);
		__type(value, struct exits_cell);
	});
} arguments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, EXITS_CELLS);
	__type(value, __u32);
} free_cells SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EXITS_CELLS);
	__type(key, struct exits_code_key);
	__type(value, __u32);
} cells SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EXITS_LONG_BYTES);
} long_exits SEC(".maps");

/*
 * Whether the task works in memory of which KVM follows the changes, as all threads of a VMM do:
 * no other thread runs a vCPU. True where it cannot be told.
 */
static __always_inline _Bool may_be_of_vmm(const struct task_struct *task)
{
	const struct mm_struct *mm = task->mm;

	return mm && (!bpf_core_field_exists(struct mm_struct, notifier_subscriptions) ||
		      !bpf_core_field_exists(struct kvm, mmu_notifier) ||
		      mm->notifier_subscriptions);
}

static __always_inline __u32 look_up_number(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	const __u32 *number = bpf_map_lookup_elem(&by_tid, &tid);

	return number ? *number : 0;
}

static __noinline struct exits_thread *thread_at(__u32 i)
{
	__u32 chunk = (i - nr_first) / EXITS_CHUNK;
	void *records;

	if (i < nr_first)
		return bpf_map_lookup_elem(&threads, &i);
	i = (i - nr_first) % EXITS_CHUNK;
	records = bpf_map_lookup_elem(&more_threads, &chunk);
	return records ? bpf_map_lookup_elem(records, &i) : 0;
}

/*
 * No atomic addition: on x86 and AArch64 the thread keeps its CPU where a guest is left or entered.
 * For other architectures exits_event_count() returns false.
 */
static __always_inline void count_event(__u32 cpu, enum exits_event event)
{
	cpus[cpu % EXITS_CPUS].events[event]++;
}

/*
 * A free record has pid_tgid 0, as the idle task: only events of threads come here.
 *
 * An ended thread's record stays until the next sample: its number may be another
 * process's now.
 */
static __always_inline struct exits_thread *own_record(struct exits_thread *thread)
{
	return thread && thread->pid_tgid == bpf_get_current_pid_tgid() ? thread : 0;
}

/* Used when the guess is wrong, or the record is not in threads[]. */
static __noinline struct exits_thread *find_elsewhere(void)
{
	__u32 *guess = &cpus[bpf_get_smp_processor_id() % EXITS_CPUS].guess;
	struct exits_thread *thread;
	__u32 i = *guess;

	thread = i < nr_first ? 0 : thread_at(i);
	if (thread && thread->pid_tgid == bpf_get_current_pid_tgid())
		return thread;
	i = look_up_number() - 1;
	*guess = i;
	return own_record(thread_at(i));
}

/* The guess is right when the same thread ran on this CPU at the last event. */
static __always_inline struct exits_thread *find_thread(__u32 cpu)
{
	struct exits_thread *thread = bpf_map_lookup_elem(&threads, &cpus[cpu % EXITS_CPUS].guess);

	if (__builtin_expect(thread && thread->pid_tgid == bpf_get_current_pid_tgid(), 1))
		return thread;
	return find_elsewhere();
}

/* Used the first time in a KVM_RUN, or after another thread ran on this CPU. */
static __noinline struct exits_thread *find_runner(__u64 vcpu)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());

	if (thread)
		thread->running = vcpu;
	return thread;
}

/* The record by the address of the running vCPU, which is quicker to get than the thread. */
static __always_inline struct exits_thread *find_running(__u32 cpu, __u64 vcpu)
{
	struct exits_thread *thread = bpf_map_lookup_elem(&threads, &cpus[cpu % EXITS_CPUS].guess);

	if (__builtin_expect(thread && thread->running == vcpu, 1))
		return thread;
	return find_runner(vcpu);
}

static __always_inline _Bool is_halt(__u64 code, __u64 kind)
{
	_Bool is_found = 0;

	if (kind == EXITS_USERSPACE)
		return code == EXITS_USER_HLT;
	for (int i = 0; i < EXITS_HALTS; i++)
		is_found |= halts[i] && code == halts[i];
	return is_found && kind == EXITS_VMEXIT;
}

/*
 * The cell of a code that is seen for the first time, or is too large for dense[]; maybe with
 * EXITS_HALT. kind: that of struct exits_code_key.
 */
static __noinline __u32 add_cell(__u64 code, __u64 kind)
{
	struct exits_code_key key = { code, kind };
	__u32 *known, cell;

	if (code == EXIT_NO_CODE)
		return EXITS_OTHER;
	known = bpf_map_lookup_elem(&cells, &key);
	if (!known) {
		if (bpf_map_pop_elem(&free_cells, &cell))
			return EXITS_OTHER;
		codes[exits_cell_of(cell)].code = code;
		codes[exits_cell_of(cell)].kind = kind % EXITS_NESTED;
		codes[exits_cell_of(cell)].is_nested = kind >= EXITS_NESTED;
		codes[exits_cell_of(cell)].is_used = 1;
		/* If another CPU was faster, this cell stays empty. */
		bpf_map_update_elem(&cells, &key, &cell, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&cells, &key);
		if (!known)
			return EXITS_OTHER;
	}
	cell = *known;
	if (is_halt(code, kind))
		cell |= EXITS_HALT;
	if (code < EXITS_DENSE && kind < EXITS_NESTED)
		dense[kind % 2][code] = cell;
	return cell;
}

static __always_inline __u32 find_cell(__u64 code, __u64 kind)
{
	__u32 cell = code < EXITS_DENSE ? dense[kind][code] : 0;

	return cell ? cell : add_cell(code, kind);
}

/* A further record of a thread's; 0: there is no free one. */
static __always_inline __u32 add_further(void)
{
	struct exits_thread *further;
	__u32 i;

	if (bpf_map_pop_elem(&free_threads, &i))
		return 0;
	further = thread_at(i);
	if (!further)
		return 0;
	further->number = i;
	further->is_further = 1;
	return i + 1;
}

/* The record of a number plus 1, which is kept in *number; NULL: there is none. */
static __always_inline struct exits_thread *further_at(__u32 *number, _Bool may_add)
{
	struct exits_thread *further;

	if (!*number && may_add)
		*number = add_further();
	further = *number ? thread_at(*number - 1) : 0;
	if (!further)
		return 0;
	barrier_var(further); /* nothing is added to it before: the kernel refuses that */
	return further;
}

/* A reason that is new to the thread, or not in its first record. */
static __noinline struct exits_reason *reason_elsewhere(struct exits_thread *thread, __u32 cell,
							_Bool may_add)
{
	struct exits_thread *further = thread;
	__u32 kept, slot, place;

	if (!thread)
		return 0;
	kept = thread->slots[exits_cell_of(cell)];
	slot = kept ? kept - 1 : thread->next_slot;
	place = slot % EXITS_STEP;
	if ((!kept && !may_add) || place >= EXITS_OWN)
		return 0;
	if (slot >= EXITS_STEP)
		further = further_at(&thread->further[slot / EXITS_STEP % EXITS_FURTHER], may_add);
	if (!further)
		return 0;
	if (!kept) {
		thread->slots[exits_cell_of(cell)] = slot + 1;
		thread->next_slot = place + 1 < EXITS_OWN ? slot + 1 : slot - place + EXITS_STEP;
	}
	return &further->own[place];
}

/* What the thread counts for a reason. NULL: nothing yet, without may_add; or there is no room. */
static __always_inline struct exits_reason *reason_of(struct exits_thread *thread, __u32 cell,
						      _Bool may_add)
{
	__u32 slot = thread->slots[exits_cell_of(cell)] - 1u;

	return slot < EXITS_OWN ? &thread->own[slot] : reason_elsewhere(thread, cell, may_add);
}

static __always_inline void count(struct exits_thread *thread, __u32 cell)
{
	struct exits_reason *reason = reason_of(thread, cell, 1);

	if (reason)
		reason->cell.count++;
	else
		__sync_fetch_and_add(&lost_exits, 1);
}

static __always_inline void took(struct exits_cell *cell, __u64 ns)
{
	__u64 bucket = bucket_of(ns);

	cell->time_ns += ns;
	if (ns > cell->max_ns)
		cell->max_ns = ns;
	cell->hist[bucket]++;
}

/* Adds the time of an exit that count() has counted. */
static __always_inline void exit_took(struct exits_thread *thread, __u32 cell, __u64 ns)
{
	struct exits_reason *reason = reason_of(thread, cell, 0);

	if (reason)
		took(&reason->cell, ns);
}

/* ---- a thread that has no record yet */

/* Where the number of the thread's record is kept, 0 if it has none; NULL: no memory for it. */
static __always_inline __u32 *keep_number(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), none = 0;

	bpf_map_update_elem(&by_tid, &tid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&by_tid, &tid);
}

static __always_inline __u32 begin_record(__u32 vcpu)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct exits_thread *thread;
	__u32 i;

	if (bpf_map_pop_elem(&free_threads, &i))
		return 0;
	thread = thread_at(i);
	if (!thread)
		return 0;
	thread->tgid = pid_tgid >> 32;
	thread->vcpu = vcpu;
	thread->number = i;
	thread->first_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(thread->comm, sizeof(thread->comm));
	thread->pid_tgid = pid_tgid;
	thread->tid = (__u32)pid_tgid; /* last: with a tid the record is in use */
	return i + 1;
}

/* A new record, if begins, for a thread that has none; 0: it has none, and its exit is lost. */
static __noinline struct exits_thread *add_thread(__u32 vcpu, _Bool begins)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), *number;

	if (!is_counting)
		return 0;
	number = keep_number();
	if (number && begins && (!*number || !own_record(thread_at(*number - 1))))
		*number = begin_record(vcpu);
	if (number && *number)
		return own_record(thread_at(*number - 1));
	if (number)
		bpf_map_delete_elem(&by_tid, &tid);
	if (begins)
		__sync_fetch_and_add(&lost_exits, 1);
	return 0;
}

#endif
