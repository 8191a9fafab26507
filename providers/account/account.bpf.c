// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the statistics that KVM keeps of every VM and vCPU, from the descriptors that processes
 * hold. Runs only while the iterator is read: no guest pays for it.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "providers/account/shared.h"

char LICENSE[] SEC("license") = "GPL";

/* Of the kernel's types only what is read; CO-RE finds it in the running kernel. */
#define KERNEL __attribute__((preserve_access_index))

struct file_operations {
	void *unlocked_ioctl;
} KERNEL;

struct file {
	const struct file_operations *f_op;
	void *private_data;
} KERNEL;

struct task_struct {
	int tgid;
} KERNEL;

struct upid {
	int nr;
} KERNEL;

struct pid {
	struct upid numbers[1];
} KERNEL;

struct kvm_vcpu_stat {
	__u64 unused;
} KERNEL;

struct kvm_vm_stat {
	__u64 unused;
} KERNEL;

struct kvm {
	struct kvm_vm_stat stat;
} KERNEL;

struct kvm_vcpu {
	struct kvm *kvm;
	int vcpu_id;
	struct pid *pid;
	struct kvm_vcpu_stat stat;
} KERNEL;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL;

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
} KERNEL;

/* A descriptor is a vCPU's or a VM's if this function of KVM handles its ioctl(2). */
extern const void kvm_vcpu_ioctl __ksym;
extern const void kvm_vm_ioctl __ksym;

/* Set by each run: the kernel shows no addresses to the process that loaded the program. */
__u32 is_blind;

/* Too large for the stack. Two readers at once, on one CPU, do not interrupt each other here. */
struct record {
	struct account_head head;
	char bytes[ACCOUNT_BYTES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct record);
} records SEC(".maps");

/* Copies what is at from; size is a number of CO-RE's. */
static __always_inline void put(struct seq_file *seq, struct record *record, __u32 size,
				const void *from)
{
	if (size > ACCOUNT_BYTES_MAX)
		return;
	record->head.size = size;
	if (bpf_probe_read_kernel(record->bytes, size, from) < 0)
		return;
	bpf_seq_write(seq, record, sizeof(record->head) + size);
}

SEC("iter/task_file")
int read_account(struct bpf_iter__task_file *ctx)
{
	const void *of_vcpu = &kvm_vcpu_ioctl, *of_vm = &kvm_vm_ioctl;
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct record *record;
	struct kvm_vcpu *vcpu;
	struct kvm *kvm;
	const void *ioctl;
	__u32 first = 0;

	barrier_var(of_vcpu); /* else the compiler takes no address for 0 */
	is_blind = !of_vcpu;
	if (!task || !file)
		return 0;
	ioctl = BPF_CORE_READ(file, f_op, unlocked_ioctl);
	if (!ioctl || (ioctl != of_vcpu && ioctl != of_vm))
		return 0;
	record = bpf_map_lookup_elem(&records, &first);
	if (!record)
		return 0;
	record->head.pid = task->tgid;
	if (ioctl == of_vm) {
		kvm = file->private_data;
		record->head.vm = (__u64)kvm;
		record->head.vcpu = -1;
		record->head.tid = 0;
		put(ctx->meta->seq, record, bpf_core_type_size(struct kvm_vm_stat), &kvm->stat);
		return 0;
	}
	vcpu = file->private_data;
	record->head.vm = (__u64)BPF_CORE_READ(vcpu, kvm);
	record->head.vcpu = BPF_CORE_READ(vcpu, vcpu_id);
	record->head.tid = BPF_CORE_READ(vcpu, pid, numbers[0].nr);
	put(ctx->meta->seq, record, bpf_core_type_size(struct kvm_vcpu_stat), &vcpu->stat);
	return 0;
}
