/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - which code the threads of vCPUs are in: samples on each CPU, and how long a thread was
 * off its CPU, by exit and stack. No exit pays for it: the programs are on a clock and on switches,
 * where threads that are no VMM's pay for a few comparisons.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_STACKS_BPF_H
#define KVMTOP_PROVIDERS_EXITS_STACKS_BPF_H

#include "providers/exits/away.bpf.h"
#include "providers/exits/maps.bpf.h"
#include "providers/exits/pc.bpf.h"

#define LARGEST_FRAME (1 << 20) /* bytes, of a function of user space */

/* Set before loading: what a sample stands for. */
const volatile __u64 sample_ns;

/* What found no room: time, and stacks of which the time is counted without them. */
__u64 lost_stack_ns, lost_stacks;

struct exits_frames {
	__u64 at[EXITS_FRAMES]; /* from the innermost; 0 ends them */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EXITS_STACK_SUMS);
	__type(key, struct exits_stack_key);
	__type(value, struct exits_stack_sum);
} stack_sums SEC(".maps");

/* By a hash of the frames. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EXITS_STACKS);
	__type(key, __u64);
	__type(value, struct exits_frames);
} stack_frames SEC(".maps");

/* By tid. The reader adds the inventory's threads; a thread with a record needs no entry. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EXITS_ABSENCES);
	__type(key, __u32);
	__type(value, struct exits_absence);
} absences SEC(".maps");

/* When the timer that runs on the CPU, or ran there last, was to expire. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} expiries SEC(".maps");

/* A sample may interrupt a switch on the same CPU. */
enum { FRAMES_OF_SAMPLE, FRAMES_OF_SWITCH, FRAMES };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FRAMES);
	__type(key, __u32);
	__type(value, struct exits_frames);
} taken_frames SEC(".maps");

/*
 * A hash of the frames that is not 0. The verifier follows each end of the loop, which is cheap as
 * long as nothing else differs by it: with a second branch it looked at 338,000 instructions.
 */
static __always_inline __u64 hash_frames(const struct exits_frames *frames)
{
	__u64 hash = 0;

	for (__u32 i = 0; i < EXITS_FRAMES && frames->at[i]; i++) {
		hash = (hash ^ frames->at[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	return hash | 1;
}

/*
 * The hash of the stack, of which the innermost nr frames are kept by it; 0: there is none, or no
 * room for it.
 */
static __noinline __u64 keep_stack(void *ctx, struct exits_frames *frames, __u64 flags, __u32 nr)
{
	__u64 hash;

	if (!ctx || !frames || nr > EXITS_FRAMES)
		return 0;
	if (nr < EXITS_FRAMES)
		frames->at[nr] = 0;
	/* It clears the rest of these frames. */
	if (bpf_get_stack(ctx, frames->at, nr * sizeof(frames->at[0]), flags) < 8)
		return 0;
	hash = hash_frames(frames);
	if (bpf_map_lookup_elem(&stack_frames, &hash) ||
	    !bpf_map_update_elem(&stack_frames, &hash, frames, BPF_ANY))
		return hash;
	__sync_fetch_and_add(&lost_stacks, 1);
	return EXITS_NO_STACK;
}

static __always_inline void add_to_stack(const struct exits_stack_key *key, __u64 ns)
{
	static const struct exits_stack_sum zero;
	struct exits_stack_sum *sum = bpf_map_lookup_elem(&stack_sums, key);

	if (!sum) {
		bpf_map_update_elem(&stack_sums, key, &zero, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&stack_sums, key);
	}
	if (!sum) {
		__sync_fetch_and_add(&lost_stack_ns, ns);
		return;
	}
	sum->ns += ns;
	sum->count++;
}

/* Where kvm_exit never fires, an exit is what user space has of it. */
static __always_inline void describe_exit(struct exits_stack_key *key,
					  const struct exits_thread *thread)
{
	_Bool is_open = exits_open_since(&thread->at) != 0;

	if (is_open)
		key->cell = exits_cell_of(thread->at.cell);
	else if (thread->at.user_since && !has_exits)
		key->cell = exits_cell_of(thread->at.user_cell);
	if (counts_pcs && is_open)
		key->pc = pc_to_count(thread, (const void *)(unsigned long)thread->running,
				      key->cell);
	/* A fault's argument is not whole before its exit ends. */
	if (is_open && thread->has_argument && thread->has_argument != EXITS_UNCOUNTED) {
		key->argument = thread->argument;
		key->argument.thread = 0;
		key->argument.epoch = 0;
	}
}

/* Whether this thread runs a vCPU; then the key has the exit that it is in. */
static __always_inline _Bool describe_thread(struct exits_stack_key *key,
					     struct exits_thread **ret_thread)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid, number = look_up_number();
	struct exits_thread *thread = number ? own_record(thread_at(number - 1)) : 0;

	if (!(thread && exits_is_of_vcpu(thread)) && !bpf_map_lookup_elem(&absences, &tid))
		return 0;
	key->tid = tid;
	key->tgid = pid_tgid >> 32;
	key->record = thread ? number : 0;
	key->cell = EXITS_NO_CELL;
	if (thread)
		describe_exit(key, thread);
	*ret_thread = thread;
	return 1;
}

/* The clock's timer is the last one that has expired on this CPU when it takes a sample. */
SEC("tp_btf/hrtimer_expire_entry")
int on_timer(__u64 *ctx)
{
	const struct hrtimer *timer = POINTER(ctx, 0);
	__u32 number = 0;
	__u64 *expiry = bpf_map_lookup_elem(&expiries, &number);

	if (timer && expiry)
		*expiry = (__u64)timer->_softexpires;
	return 0;
}

/*
 * The time that a sample is of. A clock's is late where interrupts are off: at the end of an exit,
 * until the guest has been entered and left again.
 */
static __always_inline __u64 time_of_sample(__u64 now)
{
	__u64 *expiry, at;
	__u32 number = 0;

	if (!is_by_clock)
		return now;
	expiry = bpf_map_lookup_elem(&expiries, &number);
	at = expiry ? *expiry : 0;
	if (!at || at >= now)
		return now;
	*expiry = 0; /* of no later sample */
	return at;
}

/*
 * The state of the vCPU at the time of the sample. A late sample is of the exit before the open
 * one, or of none: a timer that expires in the guest ends that at once.
 */
static __always_inline enum exits_stack_state state_at(const struct exits_thread *thread, __u64 at)
{
	__u64 since = thread ? exits_open_since(&thread->at) : 0;

	if (!thread || !thread->at.cell || (since && at >= since))
		return EXITS_STACK_ON;
	return at < thread->ended_ns ? EXITS_STACK_LATE : EXITS_STACK_GUEST;
}

/*
 * How many frames of user space to ask for. On x86-64 most code there is built without frame
 * pointers: their register may have any value, and from there the kernel would take what it finds
 * for callers, until it gets a page fault. Without callers, the innermost frame is known.
 */
static __always_inline __u32 user_frames(void)
{
	const struct pt_regs *regs;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs) ||
	    !bpf_core_field_exists(struct pt_regs, bp))
		return EXITS_FRAMES;
	regs = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return regs->bp - regs->sp < LARGEST_FRAME ? EXITS_FRAMES : 1;
}

/* Until user space gets the exit its thread is in KVM_RUN, which always has the same callers. */
static __always_inline __u64 keep_user_stack(void *ctx, struct exits_frames *frames,
					     const struct exits_thread *thread)
{
	if (thread && exits_open_since(&thread->at) && !thread->at.user_since)
		return 0;
	return keep_stack(ctx, frames, BPF_F_USER_STACK, user_frames());
}

/*
 * Between two exits the vCPU is in its guest, or just before or after it, in the kernel, where KVM
 * has no stack to show: one frame says so. Else it may be in user space.
 */
static __always_inline void keep_stacks(void *ctx, struct exits_frames *frames,
					const struct exits_thread *thread,
					struct exits_stack_key *key)
{
	if (key->state == EXITS_STACK_ON)
		key->kernel = keep_stack(ctx, frames, 0, EXITS_FRAMES);
	else if (bpf_get_stack(ctx, frames->at, sizeof(frames->at[0]), 0) > 0)
		return;
	key->user = keep_user_stack(ctx, frames, thread);
	if (key->user)
		key->state = EXITS_STACK_ON;
}

/* What is in no exit's time. */
static __always_inline void leave_exit(struct exits_stack_key *key)
{
	key->cell = EXITS_NO_CELL;
	key->pc = 0;
	key->argument = (struct exits_argument_key){ 0 };
}

SEC("perf_event")
int on_sample(void *ctx)
{
	struct exits_stack_key key = { 0 };
	struct exits_thread *thread;
	struct exits_frames *frames;
	__u64 at = time_of_sample(bpf_ktime_get_ns());
	__u32 number = FRAMES_OF_SAMPLE;

	if (!describe_thread(&key, &thread))
		return 0;
	frames = bpf_map_lookup_elem(&taken_frames, &number);
	if (!frames)
		return 0;
	key.state = state_at(thread, at);
	if (key.state != EXITS_STACK_LATE)
		keep_stacks(ctx, frames, thread, &key);
	if (key.state != EXITS_STACK_ON)
		leave_exit(&key);
	if (key.state == EXITS_STACK_LATE && thread) {
		key.cell = exits_cell_of(thread->ended_cell);
		key.pc = thread->ended_pc;
	}
	add_to_stack(&key, sample_ns);
	return 0;
}

/* A thread that sleeps in KVM's halt always has the same stack, and there are many halts. */
static __always_inline _Bool halts_in_kvm(const struct exits_thread *thread)
{
	return thread && exits_open_since(&thread->at) && thread->at.cell >= EXITS_HALT &&
	       !thread->at.user_since;
}

static __always_inline void begin_absence(void *ctx)
{
	struct exits_absence absence = { 0 };
	struct exits_thread *thread;
	struct exits_frames *frames;
	__u32 number = FRAMES_OF_SWITCH;

	if (!describe_thread(&absence.key, &thread))
		return;
	frames = bpf_map_lookup_elem(&taken_frames, &number);
	if (!frames)
		return;
	absence.key.state = EXITS_STACK_OFF;
	if (!halts_in_kvm(thread)) {
		if (is_idle(vcpu_of(bpf_get_current_task_btf()))) /* it is not started */
			leave_exit(&absence.key);
		absence.key.kernel = keep_stack(ctx, frames, 0, EXITS_FRAMES);
		absence.key.user = keep_user_stack(ctx, frames, thread);
	}
	absence.since = bpf_ktime_get_ns();
	/* Without room its time is not in this stack. */
	if (bpf_map_update_elem(&absences, &absence.key.tid, &absence, BPF_ANY))
		__sync_fetch_and_add(&lost_stacks, 1);
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	const struct task_struct *prev = POINTER(ctx, 1), *next = POINTER(ctx, 2);
	struct exits_absence *absence;
	__u64 since;
	__u32 tid;

	if (prev && may_be_of_vmm(prev))
		begin_absence(ctx);
	if (!next || !may_be_of_vmm(next))
		return 0;
	tid = (__u32)next->pid;
	absence = bpf_map_lookup_elem(&absences, &tid);
	since = absence ? absence->since : 0;
	if (!since)
		return 0;
	absence->since = 0;
	add_to_stack(&absence->key, bpf_ktime_get_ns() - since);
	return 0;
}

#endif
