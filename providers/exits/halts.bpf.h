/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * halts - what exits.bpf.c does in the halts of a vCPU: how long KVM polled, and how long user
 * space had the vCPU.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_HALTS_BPF_H
#define KVMTOP_PROVIDERS_EXITS_HALTS_BPF_H

#include "providers/exits/maps.bpf.h"

/*
 * Where KVM's sums of what the vCPU polled are. has_vcpu: the event is of the vCPU that the thread
 * runs, and thread->running is it; else: while a task runs a vCPU, its first preempt notifier is
 * the vCPU's.
 */
static __always_inline __u64 sums_of(const struct exits_thread *thread, _Bool has_vcpu)
{
	__u64 at;

	if (has_vcpu)
		return thread->running + NUMBER(RAW_VCPU_POLL_SUMS);
	at = bpf_get_current_task() + NUMBER(RAW_NOTIFIER);
	if (NUMBER(RAW_POLLS) == EXITS_BY_LOAD)
		at = *(const __u64 *)CAST(at, NUMBER(RAW_NUMBER));
	else
		bpf_probe_read_kernel(&at, sizeof(at), (void *)at);
	return at + NUMBER(RAW_POLL_SUMS);
}

/* What the two sums there have together: of polling with success, and of polling in vain. */
static __always_inline __u64 read_sums(__u64 at)
{
	__u64 sums[2] = { 0, 0 };
	const __u64 *loads;

	if (NUMBER(RAW_POLLS) == EXITS_BY_LOAD) {
		loads = CAST(at, NUMBER(RAW_NUMBER));
		return loads[0] + loads[1];
	}
	bpf_probe_read_kernel(sums, sizeof(sums), (void *)at);
	return sums[0] + sums[1];
}

/* EXITS_BY_TYPE: the same, as the fields A and B of the vCPU that is an argument of the event. */
static __always_inline __u64 load_sums(void *ctx)
{
	__u64 vcpu = LOAD(ctx, FIELD_VCPU);

	return LOAD(vcpu, FIELD_A) + LOAD(vcpu, FIELD_B);
}

/* After a halt: adds what the sums have grown by since the halt before, if they are the same. */
static __always_inline void add_polled(struct exits_thread *thread, void *ctx, _Bool has_vcpu)
{
	__u64 at = sums_of(thread, has_vcpu), sum;

	if (has_vcpu && NUMBER(RAW_POLLS) == EXITS_BY_TYPE)
		sum = load_sums(ctx);
	else
		sum = read_sums(at);
	if (thread->poll_sum_at == at && sum > thread->poll_sum_ns)
		thread->polled_ns += sum - thread->poll_sum_ns;
	thread->poll_sum_at = at;
	thread->poll_sum_ns = sum;
}

/* Ends a time in user space that no entry into the guest has ended. */
static __always_inline void end_userspace(struct exits_thread *thread, __u64 now)
{
	__u64 since = thread->user_since, ns;

	if (!since || !thread->open_since)
		return;
	thread->user_since = 0; /* first, as in end_exit() */
	barrier();
	ns = now - since;
	thread->user_ns += ns;
	if (thread->open_cell >= EXITS_HALT && thread->user_cell < EXITS_HALT)
		thread->halt_user_ns += ns;
	took(&thread->cells[thread->user_cell % EXITS_CELLS], ns);
}

static __always_inline void end_halt(struct exits_thread *thread, void *ctx, _Bool has_vcpu,
				     _Bool is_long, __u64 now)
{
	end_userspace(thread, now);
	if (NUMBER(RAW_POLLS) != EXITS_BY_RECORD)
		add_polled(thread, ctx, has_vcpu);
	if (!is_long)
		return;
	thread->halt_polled_ns = thread->polled_ns - thread->polled_before_ns;
	thread->polled_before_ns = thread->polled_ns;
}

/*
 * KVM_RUN has failed, as when the thread gets a signal. Whether it is known how long user space has
 * the vCPU: until the guest is entered; but a halt goes on before that, with the next KVM_RUN, and
 * only on_run sees when that begins.
 */
static __noinline _Bool knows_return(const struct exits_thread *thread)
{
	if (!halts_go_on || !thread->open_since || thread->open_cell < EXITS_HALT)
		return 1;
	is_interrupting = 1;
	return run_watch && thread->run_watch == run_watch;
}

/*
 * struct split's run_event, kvm_fpu(load): KVM_RUN begins, and a halt goes on. Attached while halts
 * are interrupted: it costs in each KVM_RUN.
 */
SEC("raw_tracepoint")
int on_run(struct bpf_raw_tracepoint_args *ctx)
{
	struct exits_thread *thread;

	if (!(__u32)ctx->args[0])
		return 0;
	thread = find_thread(bpf_get_smp_processor_id());
	if (!thread)
		return 0;
	thread->run_watch = run_watch;
	if (thread->user_since && thread->open_cell >= EXITS_HALT)
		end_userspace(thread, bpf_ktime_get_ns());
	return 0;
}

/*
 * Where the vCPU's sums are not to be found, two events stand in for them.
 *
 * kvm_halt_poll_ns(grow, vcpu_id, new, old): KVM changes how long it polls, at the end of a halt in
 * which it waited longer than that. The limit of this halt is the old one.
 */
SEC("raw_tracepoint")
int on_poll_limit(struct bpf_raw_tracepoint_args *ctx)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());

	if (thread)
		thread->poll_limit_ns = ctx->args[3];
	return 0;
}

/*
 * kvm_vcpu_wakeup(ns, waited, valid): a halt is over. A halt without a wait was polled to its end.
 * A halt with a wait was polled as long as KVM polls at most, or not at all if no event has just
 * given the limit. KVM polls less where another thread wants the CPU; no event reports that.
 */
SEC("raw_tracepoint")
int on_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());
	__u64 ns = ctx->args[0], limit;

	if (!thread)
		return 0;
	limit = thread->poll_limit_ns;
	thread->poll_limit_ns = 0;
	if ((__u8)ctx->args[1] && limit < ns)
		ns = limit;
	thread->polled_ns += ns;
	return 0;
}

#endif
