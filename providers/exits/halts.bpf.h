/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * halts - what exits.bpf.c does in the halts of a vCPU: how long KVM polled, and how long user
 * space had the vCPU.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_HALTS_BPF_H
#define KVMTOP_PROVIDERS_EXITS_HALTS_BPF_H

#include "providers/exits/maps.bpf.h"

/*
 * KVM's two sums of what the vCPU polled, with success and in vain, together. vcpu: the event's; or
 * NULL: then it is the one that the task runs.
 */
static __always_inline __u64 sum_of(const struct kvm_vcpu *vcpu, __u64 *ret_vcpu)
{
	const char *at;

	if (vcpu) {
		*ret_vcpu = (__u64)(unsigned long)vcpu;
		return vcpu->stat.generic.halt_poll_success_ns +
		       vcpu->stat.generic.halt_poll_fail_ns;
	}
	at = vcpu_of(bpf_get_current_task_btf());
	*ret_vcpu = (__u64)(unsigned long)at;
	return READ(at, struct kvm_vcpu, stat.generic.halt_poll_success_ns) +
	       READ(at, struct kvm_vcpu, stat.generic.halt_poll_fail_ns);
}

/* After a halt: adds what the sum has grown by since the halt before, of the same vCPU. */
static __always_inline void add_polled(struct exits_thread *thread, const struct kvm_vcpu *vcpu)
{
	__u64 of, sum = sum_of(vcpu, &of);

	if (thread->polling_vcpu == of && sum > thread->poll_sum_ns)
		thread->polled_ns += sum - thread->poll_sum_ns;
	thread->polling_vcpu = of;
	thread->poll_sum_ns = sum;
}

/* Ends a time in user space that no entry into the guest has ended. */
static __always_inline void end_userspace(struct exits_thread *thread, __u64 now)
{
	__u64 since = thread->user_since, ns;

	if (!since || !exits_open_since(thread))
		return;
	thread->user_since = 0; /* first, as in end_exit() */
	barrier();
	ns = now - since;
	thread->user_ns += ns;
	if (thread->begun_cell >= EXITS_HALT && thread->user_cell < EXITS_HALT)
		thread->halt_user_ns += ns;
	took(&thread->cells[thread->user_cell % EXITS_CELLS], ns);
}

static __always_inline void end_halt(struct exits_thread *thread, const struct kvm_vcpu *vcpu,
				     __u64 now)
{
	end_userspace(thread, now);
	add_polled(thread, vcpu);
	if (!reports_long)
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
	if (!halts_go_on || !exits_open_since(thread) || thread->begun_cell < EXITS_HALT)
		return 1;
	is_interrupting = 1;
	return run_watch && thread->run_watch == run_watch;
}

/*
 * kvm_fpu(load): KVM_RUN begins, and a halt goes on. Attached while halts are interrupted: it costs
 * in each KVM_RUN.
 */
SEC("raw_tp/kvm_fpu")
int on_run(struct bpf_raw_tracepoint_args *ctx)
{
	struct exits_thread *thread;

	if (!(__u32)ctx->args[0])
		return 0;
	thread = find_thread(bpf_get_smp_processor_id());
	if (!thread)
		return 0;
	thread->run_watch = run_watch;
	if (thread->user_since && thread->begun_cell >= EXITS_HALT)
		end_userspace(thread, bpf_ktime_get_ns());
	return 0;
}

#endif
