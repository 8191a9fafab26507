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

/* How far the scheduler's clock is from CLOCK_MONOTONIC, at least; see scheduler_clock(). */
long long clock_ahead_ns;

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
static __always_inline void put_record(struct seq_file *seq, struct record *record, __u32 size,
				       const void *from)
{
	if (size > ACCOUNT_BYTES_MAX || !wants_bytes)
		size = 0;
	record->head.size = size;
	if (size && bpf_probe_read_kernel(record->bytes, size, from) < 0)
		return;
	bpf_seq_write(seq, record, sizeof(record->head) + size);
}

/* The record of a VM or vCPU, and where that is; NULL: it is none, or another process's. */
static __always_inline struct record *begin_record(struct bpf_iter__task_file *ctx,
						   enum held *ret_held, void **ret_of)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct record *record;
	struct kvm_vcpu *vcpu;
	struct kvm *kvm;
	__u32 first = 0;

	if (!task || !file)
		return NULL;
	*ret_held = what_is(file);
	if (*ret_held == HELD_ELSE)
		return NULL;
	vcpu = file->private_data;
	kvm = *ret_held == HELD_VM ? file->private_data : BPF_CORE_READ(vcpu, kvm);
	record = bpf_map_lookup_elem(&records, &first);
	if (!record || !is_owner(task, kvm))
		return NULL;
	record->head.pid = task->tgid;
	record->head.vm = (__u64)kvm;
	record->head.vcpu = -1;
	record->head.tid = 0;
	__builtin_memset(&record->head.thread, 0, sizeof(record->head.thread));
	if (*ret_held == HELD_VCPU) {
		record->head.vcpu = BPF_CORE_READ(vcpu, vcpu_id);
		record->head.tid = BPF_CORE_READ(vcpu, pid, numbers[0].nr);
	}
	*ret_of = vcpu;
	return record;
}

/* ---- the thread of a vCPU */

/*
 * The scheduler's clock when it last counted what the thread ran: now, or as the thread lost its
 * CPU. last_arrival is when the thread got that CPU.
 */
static __always_inline __u64 counted_up_to(const struct task_struct *task)
{
	return BPF_CORE_READ(task, sched_info.last_arrival) +
	       BPF_CORE_READ(task, se.sum_exec_runtime) -
	       BPF_CORE_READ(task, se.prev_sum_exec_runtime);
}

static __always_inline __u64 since(__u64 clock, __u64 then)
{
	return clock > then ? clock - then : 0;
}

static __always_inline const struct task_struct *thread_of(const struct kvm_vcpu *vcpu)
{
	const char *first = (const char *)BPF_CORE_READ(vcpu, pid, tasks[0].first);

	return first ? (const void *)(first -
				      bpf_core_field_offset(struct task_struct, pid_links)) : NULL;
}

static __always_inline _Bool is_asleep(const struct task_struct *task)
{
	/* Since Linux 6.12 a thread that sleeps may stay in the queue for a while. */
	if (bpf_core_field_exists(task->se.sched_delayed) &&
	    BPF_CORE_READ(task, se.sched_delayed))
		return 1;
	return !READ(task, struct task_struct, on_rq);
}

/* As is_idle() of providers/exits/away.bpf.h. */
static __always_inline _Bool is_idle(const struct kvm_vcpu *vcpu)
{
	if (!BPF_CORE_READ(vcpu, wait.task))
		return 0;
	return !bpf_core_field_exists(vcpu->arch.apf.halted) ||
	       !BPF_CORE_READ(vcpu, arch.apf.halted);
}

/* Where user space has the halts, KVM does not know which sleep is a halt. */
static __always_inline _Bool knows_idle(const struct kvm_vcpu *vcpu)
{
	if (bpf_core_field_exists(vcpu->arch.apic) && !BPF_CORE_READ(vcpu, arch.apic))
		return 0;
	return bpf_core_field_exists(vcpu->wait.task) &&
	       bpf_core_field_exists(struct task_struct, sched_info.last_arrival);
}

/*
 * The time by the scheduler's clock. The thread that reads is running: up to when the scheduler has
 * counted that is now, or at most a tick ago.
 */
static __always_inline __u64 scheduler_clock(__u64 now_ns)
{
	long long ahead_ns = counted_up_to((const void *)bpf_get_current_task()) - now_ns;

	if (ahead_ns > clock_ahead_ns)
		clock_ahead_ns = ahead_ns;
	return now_ns + clock_ahead_ns;
}

static __always_inline void read_thread(const struct kvm_vcpu *vcpu, struct account_thread *to)
{
	const struct task_struct *task;
	__u64 clock, queued;

	if (!wants_bytes || !knows_idle(vcpu))
		return;
	task = thread_of(vcpu);
	if (!task)
		return;
	to->now_ns = bpf_ktime_get_ns();
	clock = scheduler_clock(to->now_ns);
	to->ran_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	to->waited_ns = BPF_CORE_READ(task, sched_info.run_delay);
	to->sleeps = BPF_CORE_READ(task, nvcsw);
	to->is_idle = is_idle(vcpu);
	queued = BPF_CORE_READ(task, sched_info.last_queued);
	if (is_asleep(task))
		to->asleep_ns = since(clock, counted_up_to(task));
	else if (BPF_CORE_READ(task, on_cpu))
		to->ran_ns += since(clock, counted_up_to(task));
	else if (queued)
		to->waited_ns += since(clock, queued);
}

SEC("iter/task_file")
int read_account(struct bpf_iter__task_file *ctx)
{
	struct record *record;
	enum held held;
	void *of;

	record = begin_record(ctx, &held, &of);
	if (!record)
		return 0;
	if (held == HELD_VM) {
		put_record(ctx->meta->seq, record, bpf_core_type_size(struct kvm_vm_stat),
			   &((struct kvm *)of)->stat);
	} else {
		read_thread(of, &record->head.thread);
		put_record(ctx->meta->seq, record, bpf_core_type_size(struct kvm_vcpu_stat),
			   &((struct kvm_vcpu *)of)->stat);
	}
	return 0;
}

/* ---- what the names of a guest's functions need: its memory and registers */

const volatile __u32 vcpu_place; /* enum exit_place: the kind of the vCPUs */

#define BUCKETS 128
#define BUCKET_SLOTS 256 /* as many as KVM can have there */

struct slots_walk {
	struct seq_file *seq;
	struct record *record;
	const char *lists;
	const char *node;
	unsigned long node_at; /* of the node in its slot */
};

static long put_slot(__u32 i, struct slots_walk *walk)
{
	struct account_slot *to = (struct account_slot *)walk->record->bytes;
	struct kvm_memory_slot *slot = (void *)(walk->node - walk->node_at);

	(void)i;
	if (!walk->node)
		return 1;
	to->gfn = BPF_CORE_READ(slot, base_gfn);
	to->pages = BPF_CORE_READ(slot, npages);
	to->hva = BPF_CORE_READ(slot, userspace_addr);
	bpf_seq_write(walk->seq, walk->record, sizeof(walk->record->head) + sizeof(*to));
	bpf_probe_read_kernel(&walk->node, sizeof(walk->node), walk->node);
	return 0;
}

static long put_bucket(__u32 i, struct slots_walk *walk)
{
	bpf_probe_read_kernel(&walk->node, sizeof(walk->node), walk->lists + 8 * i);
	bpf_loop(BUCKET_SLOTS, put_slot, walk, 0);
	return 0;
}

/* bpf_loop() is as old as this hash of slots. */
static __always_inline void put_slots(struct seq_file *seq, struct record *record, struct kvm *kvm)
{
	struct kvm_memslots *slots = BPF_CORE_READ(kvm, memslots[0]);
	struct slots_walk walk = { .seq = seq, .record = record };

	walk.lists = (const char *)slots + bpf_core_field_offset(slots->id_hash);
	walk.node_at = bpf_core_field_offset(struct kvm_memory_slot, id_node);
	if (BPF_CORE_READ(slots, node_idx))
		walk.node_at += bpf_core_type_size(struct hlist_node);
	record->head.size = sizeof(struct account_slot);
	bpf_loop(BUCKETS, put_bucket, &walk, 0);
}

/* As the vCPU left the guest: in what the processor wrote, or in KVM's copies, which may be old. */
static __always_inline void read_svm(const struct kvm_vcpu *vcpu, struct account_registers *to)
{
	const char *at = bpf_core_field_exists(struct vcpu_svm, vmcb01) ?
				 READ_POINTER(vcpu, struct vcpu_svm, vmcb01.ptr) :
				 READ_POINTER(vcpu, struct vcpu_svm, vmcb);

	to->pc = READ(at, struct vmcb, save.rip);
	to->root = READ(at, struct vmcb, save.cr3);
	to->control = READ(at, struct vmcb, save.cr4);
	to->lstar = READ(at, struct vmcb, save.lstar);
	to->idt = READ(at, struct vmcb, save.idtr.base);
}

static __always_inline void read_x86(const struct kvm_vcpu *vcpu, struct account_registers *to)
{
	to->pc = bpf_core_field_exists(vcpu->arch.rip) ?
			 READ(vcpu, struct kvm_vcpu, arch.rip) :
			 READ(vcpu, struct kvm_vcpu, arch.regs[VCPU_REGS_RIP]);
	to->root = READ(vcpu, struct kvm_vcpu, arch.cr3);
	to->control = READ(vcpu, struct kvm_vcpu, arch.cr4);
}

#define PSTATE_MODE 0xf
#define PSTATE_EL0 0
#define PSTATE_EL1 4 /* with EL0's stack pointer, or 5 */

static __always_inline void read_arm64(const struct kvm_vcpu *vcpu, struct account_registers *to)
{
	const char *at = (const char *)vcpu +
			 bpf_core_field_offset(struct kvm_vcpu, arch.ctxt.sys_regs);
	__u64 mode = READ(vcpu, struct kvm_vcpu, arch.ctxt.regs.pstate) & PSTATE_MODE;

	if (mode != PSTATE_EL0 && mode != PSTATE_EL1 && mode != PSTATE_EL1 + 1)
		return;
	to->pc = READ(vcpu, struct kvm_vcpu, arch.ctxt.regs.pc);
	to->root = read_number(at + 8 * bpf_core_enum_value(enum vcpu_sysreg, TTBR1_EL1), 8);
	to->control = read_number(at + 8 * bpf_core_enum_value(enum vcpu_sysreg, TCR_EL1), 8);
}

SEC("iter/task_file")
int read_guest(struct bpf_iter__task_file *ctx)
{
	struct account_registers *registers;
	struct record *record;
	struct kvm_vcpu *vcpu;
	enum held held;
	void *of;

	record = begin_record(ctx, &held, &of);
	if (!record)
		return 0;
	if (held == HELD_VM) {
		if (bpf_core_field_exists(struct kvm_memslots, id_hash))
			put_slots(ctx->meta->seq, record, of);
		return 0;
	}
	vcpu = of;
	registers = (struct account_registers *)record->bytes;
	__builtin_memset(registers, 0, sizeof(*registers));
	record->head.size = sizeof(*registers);
	if (vcpu_place == EXIT_IN_SVM)
		read_svm(vcpu, registers);
	else if (vcpu_place == EXIT_IN_SYNDROME)
		read_arm64(vcpu, registers);
	else if (bpf_core_field_exists(vcpu->arch.cr3))
		read_x86(vcpu, registers);
	bpf_seq_write(ctx->meta->seq, record, sizeof(record->head) + sizeof(*registers));
	return 0;
}
