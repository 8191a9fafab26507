/* SPDX-License-Identifier: GPL-2.0-or-later */
/* halts - what exits.bpf.c does in the halts of a vCPU: how long KVM polled. */
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

/* Adds what the sum has grown by since the halt before, of the same vCPU. */
static __always_inline void end_halt(struct exits_thread *thread, const struct kvm_vcpu *vcpu)
{
	__u64 of, sum = sum_of(vcpu, &of), polled_ns = sum - thread->poll_sum_ns;
	struct exits_reason *reason;

	if (thread->polling_vcpu == of && sum > thread->poll_sum_ns) {
		reason = reason_of(thread, thread->at.cell, 0);
		if (reason)
			reason->parts.polled_ns += polled_ns;
		if (reports_long)
			thread->polled_ns = polled_ns;
	}
	thread->polling_vcpu = of;
	thread->poll_sum_ns = sum;
}

#endif
