// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads which VMs and vCPUs processes hold, and the statistics that KVM keeps of each, by the
 * descriptors of tasks. Runs only while the iterator is read: no guest pays for it.
 */
#include <linux/magic.h>

#include "providers/account/shared.h"
#include "providers/bpf/kernel.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct super_block {
	unsigned long s_magic;
} OF_KERNEL;

struct inode {
	struct super_block *i_sb;
} OF_KERNEL;

struct qstr {
	const unsigned char *name;
} OF_KERNEL;

struct dentry {
	struct qstr d_name;
} OF_KERNEL;

struct path {
	struct dentry *dentry;
} OF_KERNEL;

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
} OF_KERNEL;

struct bpf_iter_meta {
	struct seq_file *seq;
} OF_KERNEL;

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
} OF_KERNEL;

/* Whether the statistics are wanted, too. */
__u32 wants_bytes;

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

enum held { HELD_ELSE, HELD_VM, HELD_VCPU };

/* Only the kernel gives names to files of this file system: "kvm-vm", "kvm-vcpu:3". */
static __always_inline enum held what_is(struct file *file)
{
	char name[16] __attribute__((aligned(8))) = "";

	if (file->f_inode->i_sb->s_magic != ANON_INODE_FS_MAGIC)
		return HELD_ELSE;
	bpf_probe_read_kernel_str(name, sizeof(name), file->f_path.dentry->d_name.name);
	if (__builtin_memcmp(name, "kvm-vm\0", 8) == 0)
		return HELD_VM;
	return __builtin_memcmp(name, "kvm-vcpu", 8) == 0 && name[8] == ':' ? HELD_VCPU : HELD_ELSE;
}

/*
 * A VM runs in the memory of the process that made it. A child may have inherited its descriptors,
 * and until it has a program of its own, the memory, too.
 */
static __always_inline _Bool is_owner(struct task_struct *task, const struct kvm *kvm)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (!mm || mm != BPF_CORE_READ(kvm, mm))
		return 0;
	return !bpf_core_field_exists(mm->owner) ||
	       BPF_CORE_READ(mm, owner, tgid) == BPF_CORE_READ(task, tgid);
}

/* Writes the record with what is at from, where that is wanted; size is a number of CO-RE's. */
static __always_inline void put(struct seq_file *seq, struct record *record, __u32 size,
				const void *from)
{
	if (size > ACCOUNT_BYTES_MAX || !wants_bytes)
		size = 0;
	record->head.size = size;
	if (size && bpf_probe_read_kernel(record->bytes, size, from) < 0)
		return;
	bpf_seq_write(seq, record, sizeof(record->head) + size);
}

SEC("iter/task_file")
int read_account(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct record *record;
	struct kvm_vcpu *vcpu;
	struct kvm *kvm;
	enum held held;
	__u32 first = 0;

	if (!task || !file)
		return 0;
	held = what_is(file);
	if (held == HELD_ELSE)
		return 0;
	vcpu = file->private_data;
	kvm = held == HELD_VM ? file->private_data : BPF_CORE_READ(vcpu, kvm);
	record = bpf_map_lookup_elem(&records, &first);
	if (!record || !is_owner(task, kvm))
		return 0;
	record->head.pid = task->tgid;
	record->head.vm = (__u64)kvm;
	record->head.vcpu = -1;
	record->head.tid = 0;
	if (held == HELD_VM) {
		put(ctx->meta->seq, record, bpf_core_type_size(struct kvm_vm_stat), &kvm->stat);
		return 0;
	}
	record->head.vcpu = BPF_CORE_READ(vcpu, vcpu_id);
	record->head.tid = BPF_CORE_READ(vcpu, pid, numbers[0].nr);
	put(ctx->meta->seq, record, bpf_core_type_size(struct kvm_vcpu_stat), &vcpu->stat);
	return 0;
}
