// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Notes who makes a VM, and the last statistics of a VM and its vCPUs as these are destroyed. These
 * programs do not run in exits.
 */
#include <linux/types.h>

#include "providers/account/shared.h"
#include "providers/bpf/kernel.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ACCOUNT_LIVES_BYTES);
} lives SEC(".maps");

/* Kprobes: AArch64 before Linux 6.4, for one, attaches no programs of the other kind. */
static __always_inline const void *first_argument(const struct pt_regs *ctx)
{
	if (bpf_core_field_exists(ctx->di))
		return (const void *)BPF_CORE_READ(ctx, di);
	if (bpf_core_field_exists(ctx->regs))
		return (const void *)BPF_CORE_READ(ctx, regs[0]);
	return NULL;
}

SEC("kprobe/kvm_arch_init_vm")
int on_begin(const struct pt_regs *ctx)
{
	const struct kvm *kvm = first_argument(ctx);
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct mm_struct *mm = (const void *)BPF_CORE_READ(task, mm);
	unsigned long start = BPF_CORE_READ(mm, arg_start);
	unsigned long size = BPF_CORE_READ(mm, arg_end) - start;
	struct account_begun *begun;

	begun = bpf_ringbuf_reserve(&lives, sizeof(*begun), 0);
	if (!begun)
		return 0;
	begun->kind = ACCOUNT_BEGUN;
	begun->pid = BPF_CORE_READ(task, tgid);
	begun->vm = (__u64)kvm;
	begun->now_ns = bpf_ktime_get_ns();
	BPF_CORE_READ_INTO(&begun->comm, task, group_leader, comm);
	if (size > sizeof(begun->command))
		size = sizeof(begun->command);
	begun->size = size;
	if (bpf_probe_read_user(begun->command, size, (const void *)start) < 0)
		begun->size = 0;
	bpf_ringbuf_submit(begun, 0);
	return 0;
}

/* size is a number of CO-RE's. */
static __always_inline struct account_ended *begin_end(__u32 size)
{
	struct account_ended *ended = bpf_ringbuf_reserve(&lives, sizeof(*ended) + size, 0);

	if (!ended)
		return NULL;
	__builtin_memset(ended, 0, sizeof(*ended));
	ended->kind = ACCOUNT_ENDED;
	ended->head.size = size;
	ended->head.thread.now_ns = bpf_ktime_get_ns();
	return ended;
}

SEC("kprobe/kvm_arch_destroy_vm")
int on_end(const struct pt_regs *ctx)
{
	const struct kvm *kvm = first_argument(ctx);
	struct account_ended *ended = begin_end(bpf_core_type_size(struct kvm_vm_stat));

	if (!ended)
		return 0;
	ended->head.vcpu = -1;
	ended->head.vm = (__u64)kvm;
	bpf_probe_read_kernel(ended->bytes, bpf_core_type_size(struct kvm_vm_stat), &kvm->stat);
	bpf_ringbuf_submit(ended, 0);
	return 0;
}

SEC("kprobe/kvm_arch_vcpu_destroy")
int on_vcpu_end(const struct pt_regs *ctx)
{
	const struct kvm_vcpu *vcpu = first_argument(ctx);
	struct account_ended *ended = begin_end(bpf_core_type_size(struct kvm_vcpu_stat));

	if (!ended)
		return 0;
	ended->head.vcpu = BPF_CORE_READ(vcpu, vcpu_id);
	ended->head.tid = BPF_CORE_READ(vcpu, pid, numbers[0].nr);
	ended->head.vm = (__u64)BPF_CORE_READ(vcpu, kvm);
	bpf_probe_read_kernel(ended->bytes, bpf_core_type_size(struct kvm_vcpu_stat),
			      &vcpu->stat);
	bpf_ringbuf_submit(ended, 0);
	return 0;
}
