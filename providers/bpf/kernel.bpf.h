/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel - the parts of the kernel's types that our programs read, and the reason of an exit.
 *
 * The types have the members that are read, and no others: libbpf looks for them in the BTF of the
 * running kernel and its modules, and puts their offsets into the programs (CO-RE). A read of what
 * a kernel has not is an instruction that the kernel refuses, unless it can never be reached.
 */
#ifndef KVMTOP_PROVIDERS_BPF_KERNEL_BPF_H
#define KVMTOP_PROVIDERS_BPF_KERNEL_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "arch/exit_kind.h"

#ifndef OF_KERNEL
#define OF_KERNEL __attribute__((preserve_access_index))
#endif

struct hlist_node {
	struct hlist_node *next;
} OF_KERNEL;

struct hlist_head {
	struct hlist_node *first;
} OF_KERNEL;

struct list_head {
	struct list_head *next;
} OF_KERNEL;

struct sched_info {
	unsigned long long run_delay, last_arrival, last_queued;
} OF_KERNEL;

struct rq {
	struct task_struct *curr;
	__u64 clock, prev_irq_time;
} OF_KERNEL;

struct cfs_rq {
	struct rq *rq;
	int throttle_count;
} OF_KERNEL;

struct sched_entity {
	struct cfs_rq *cfs_rq;
	unsigned char sched_delayed;
	__u64 exec_start, sum_exec_runtime, prev_sum_exec_runtime;
} OF_KERNEL;

struct thread_info {
	__u32 cpu;
} OF_KERNEL;

struct mm_struct {
	struct task_struct *owner;
	void *notifier_subscriptions;
	unsigned long arg_start, arg_end;
} OF_KERNEL;

struct hrtimer {
	long long _softexpires;
} OF_KERNEL;

/* x86-64; regs: AArch64 */
struct pt_regs {
	unsigned long bp, sp, di, regs[31];
} OF_KERNEL;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state, flags, on_rq;
	int on_cpu;
	struct sched_entity se;
	int pid, tgid;
	struct task_struct *group_leader;
	char comm[16];
	struct mm_struct *mm;
	unsigned long nvcsw;
	__u64 start_time;
	struct sched_info sched_info;
	struct hlist_head preempt_notifiers;
	struct hlist_node pid_links[1];
	_Bool throttled;
} OF_KERNEL;

struct upid {
	int nr;
} OF_KERNEL;

struct pid {
	struct hlist_head tasks[1];
	struct upid numbers[1];
} OF_KERNEL;

struct timespec64 {
	long long tv_sec;
} OF_KERNEL;

struct preempt_notifier {
	struct hlist_node link;
} OF_KERNEL;

struct rcuwait {
	struct task_struct *task;
} OF_KERNEL;

struct kvm_vcpu_stat_generic {
	__u64 halt_poll_success_ns, halt_poll_fail_ns;
} OF_KERNEL;

struct kvm_vcpu_stat {
	struct kvm_vcpu_stat_generic generic;
	__u64 guest_mode, nested_run; /* x86: it runs a guest of its own, and how often it has */
} OF_KERNEL;

struct kvm_vm_stat {
	__u64 unused;
} OF_KERNEL;

/* Since Linux 5.17 each slot is in the list of a hash, by one of its two nodes. */
struct kvm_memory_slot {
	struct hlist_node id_node[2];
	__u64 base_gfn;
	unsigned long npages, userspace_addr;
} OF_KERNEL;

struct kvm_memslots {
	struct hlist_head id_hash[128];
	int node_idx;
} OF_KERNEL;

/* An eventfd that takes a guest's writes to a device. */
struct _ioeventfd {
	struct list_head list;
	__u64 addr;
	int length; /* 0: any */
	__u8 bus_idx;
	_Bool wildcard; /* else it takes one value only */
} OF_KERNEL;

enum kvm_bus { KVM_MMIO_BUS, KVM_PIO_BUS };

/* AArch64 */
struct vgic_dist {
	void *spis; /* interrupts that are not one vCPU's */
} OF_KERNEL;

struct kvm_arch {
	struct vgic_dist vgic;
} OF_KERNEL;

struct mmu_notifier {
	struct hlist_node hlist;
} OF_KERNEL;

struct kvm {
	struct mm_struct *mm;
	struct mmu_notifier mmu_notifier; /* not on s390 */
	struct kvm_memslots *memslots[1];
	struct list_head ioeventfds;
	struct kvm_vm_stat stat;
	struct kvm_arch arch;
} OF_KERNEL;

/* AArch64 */
struct user_pt_regs {
	__u64 pc, pstate;
} OF_KERNEL;

enum vcpu_sysreg { TTBR1_EL1 = 1, TCR_EL1, CNTV_CVAL_EL0, CNTVOFF_EL2 };

struct kvm_cpu_context {
	struct user_pt_regs regs;
	__u64 sys_regs[1]; /* by enum vcpu_sysreg */
} OF_KERNEL;

struct arch_timer_offset {
	__u64 *vm_offset;
} OF_KERNEL;

struct arch_timer_context {
	struct arch_timer_offset offset; /* since Linux 6.4 */
	_Bool loaded;			 /* its registers are in the CPU, and old in memory */
} OF_KERNEL;

struct arch_timer_cpu {
	struct arch_timer_context timers[2]; /* physical, virtual */
} OF_KERNEL;

struct vgic_cpu {
	void *private_irqs; /* since Linux 6.11; an array before */
} OF_KERNEL;

/* x86: pages that the host has not got, of which the guest does not know. */
struct async_page_faults {
	_Bool halted;
} OF_KERNEL;

/* x86; from ctxt on AArch64. Linux 7.2 has taken the program counter out of the array. */
struct kvm_vcpu_arch {
	unsigned long rip, regs[17], cr3, cr4;
	__u32 regs_avail, virtual_tsc_khz;
	_Bool preempted_in_kernel, apicv_active;
	void *apic; /* NULL: user space has it, and the halts */
	struct async_page_faults apf;
	struct kvm_cpu_context ctxt;
	struct arch_timer_cpu timer_cpu;
	struct vgic_cpu vgic_cpu;
} OF_KERNEL;

enum kvm_reg { VCPU_REGS_RIP = 16 };

enum kvm_reg___7_2 { VCPU_REG_RIP = 16 };

struct kvm_vcpu {
	struct kvm *kvm;
	struct preempt_notifier preempt_notifier;
	int vcpu_id, mode;
	struct rcuwait wait;
	_Bool preempted;
	struct pid *pid; /* of the thread that ran it last */
	struct kvm_vcpu_arch arch;
	struct kvm_vcpu_stat stat;
} OF_KERNEL;

/* AMD. vmcb is the current one: the nested guest's while that runs. */
struct vmcb_control_area {
	__u64 exit_code; /* before Linux 7.0: 32 bits */
} OF_KERNEL;

struct vmcb_seg {
	__u64 base;
} OF_KERNEL;

struct vmcb_save_area {
	struct vmcb_seg idtr;
	__u64 cr4, cr3, rip, lstar;
} OF_KERNEL;

struct vmcb {
	struct vmcb_control_area control;
	struct vmcb_save_area save;
} OF_KERNEL;

struct kvm_vmcb_info {
	struct vmcb *ptr;
} OF_KERNEL;

struct svm_nested_state {
	struct kvm_vmcb_info vmcb02;
} OF_KERNEL;

struct vcpu_svm {
	struct kvm_vcpu vcpu;
	struct vmcb *vmcb;
	struct kvm_vmcb_info vmcb01;
	struct svm_nested_state nested;
} OF_KERNEL;

/* Intel. Newer kernels have it in the common part of the vCPUs of VMX and TDX. */
union vmx_exit_reason {
	__u32 full;
} OF_KERNEL;

struct vcpu_vmx {
	struct kvm_vcpu vcpu;
	union vmx_exit_reason exit_reason;
} OF_KERNEL;

struct vcpu_vt {
	union vmx_exit_reason exit_reason;
} OF_KERNEL;

struct vcpu_vmx___vt {
	struct kvm_vcpu vcpu;
	struct vcpu_vt vt;
} OF_KERNEL;

/* RISC-V */
struct kvm_cpu_trap {
	unsigned long sepc, scause;
} OF_KERNEL;

/* AArch64 */
struct sys_reg_params {
	_Bool is_write;
} OF_KERNEL;

struct sys_reg_desc {
	__u8 Op0, Op1, CRn, CRm, Op2;
} OF_KERNEL;

/* ---- reading */

/*
 * An argument of the event. In assembler, for the compiler likes to move the address of the
 * arguments before it reads, which the kernel refuses.
 */
#ifdef __bpf__
#define ARGUMENT(ctx, i)                                                                           \
	({                                                                                         \
		__u64 argument_;                                                                   \
		asm volatile("%0 = *(u64 *)(%1 + %2)"                                              \
			     : "=r"(argument_)                                                     \
			     : "r"(ctx), "i"(8 * (i)));                                            \
		argument_;                                                                         \
	})
#else
#define ARGUMENT(ctx, i) ((ctx)[i])
#endif
#define POINTER(ctx, i) ((const void *)(unsigned long)ARGUMENT(ctx, i))

enum special_kfunc_type { KF_bpf_rdonly_cast = 1 };

extern void *bpf_rdonly_cast(const void *address, __u32 type) __ksym __weak;

/* Linux 6.2 has it: loads, which cost nothing. Before there is a helper function. */
static __always_inline _Bool has_cast(void)
{
	return bpf_core_enum_value_exists(enum special_kfunc_type, KF_bpf_rdonly_cast);
}

/* The cast takes types of vmlinux only; this one begins with 8 bytes. */
static __always_inline __u64 load_number(const void *at, __u32 bytes)
{
	at = bpf_rdonly_cast(at, bpf_core_type_id_kernel(struct timespec64));
	switch (bytes) {
	case 8:
		return *(const __u64 *)at;
	case 4:
		return *(const __u32 *)at;
	default:
		return *(const __u8 *)at;
	}
}

static __always_inline __u64 copy_number(const void *at, __u32 bytes)
{
	__u64 number = 0; /* bytes of it are right where bytes are stored lowest first */

	bpf_probe_read_kernel(&number, bytes, at);
	return number;
}

/* A number of 1, 4 or 8 bytes. */
static __always_inline __u64 read_number(const void *at, __u32 bytes)
{
	return has_cast() ? load_number(at, bytes) : copy_number(at, bytes);
}

static __always_inline const char *read_pointer(const void *at)
{
	return (const char *)(unsigned long)read_number(at, sizeof(__u64));
}

/* Reads a member, by its name, of a struct that begins at the address. */
#define READ(at, type, member)                                                                     \
	read_number((const char *)(at) + bpf_core_field_offset(type, member),                      \
		    bpf_core_field_size(type, member))
#define READ_POINTER(at, type, member)                                                             \
	read_pointer((const char *)(at) + bpf_core_field_offset(type, member))

/* The vCPU that the task runs, to which its first preempt notifier leads; NULL: none. */
static __always_inline const char *vcpu_of(const struct task_struct *task)
{
	const char *first = (const char *)task->preempt_notifiers.first;

	return first ? first - bpf_core_field_offset(struct kvm_vcpu, preempt_notifier.link) : 0;
}

/* ---- the reason of an exit */

#define EXIT_NO_CODE (1ull << 63) /* of a vCPU of another kind, as PVM's */

/* The argument "isa" of x86's kvm_exit. */
enum { ISA_VMX = 1, ISA_SVM };

/* AArch64's argument "ret": the code of a trap, beside a flag of an SError that came with it. */
#define ARM64_CODE 0x7fffffff
#define ARM64_TRAP 2

/* Whether the event's first argument is the vCPU. */
static __always_inline _Bool exit_has_vcpu(enum exit_place place)
{
	switch (place) {
	case EXIT_IN_SVM:
	case EXIT_IN_VMX:
	case EXIT_IN_SECOND:
		return 1;
	default:
		return 0;
	}
}

/*
 * Before the cast: what a CPU has loaded is a variable of kvm_amd, of which the kernel knows the
 * types, so that it can be read without the helper function, which costs some 60 instructions. A
 * program that knows it is for kernels that have the variable as declared here, or have none.
 */
#ifdef KNOWS_SVM_DATA
struct svm_cpu_data {
	struct vmcb *current_vmcb;
} OF_KERNEL;

extern const struct svm_cpu_data svm_data __ksym __weak;

/*
 * The vCPU's VMCB; NULL: not known, as it may be another one if the guest runs guests. A guest that
 * was restored while its own guest ran has not counted that: when it leaves that guest its reasons
 * may be wrong until its thread loses the CPU, or enters its guest again.
 */
static __always_inline const struct vmcb *loaded_vmcb(const struct kvm_vcpu *vcpu)
{
	const struct svm_cpu_data *data;

	if (!&svm_data || !bpf_core_field_exists(struct kvm_vcpu, stat.nested_run) ||
	    (vcpu->stat.nested_run | vcpu->stat.guest_mode))
		return 0;
	data = bpf_this_cpu_ptr(&svm_data);
	return data->current_vmcb;
}
#else
static __always_inline const struct vmcb *loaded_vmcb(const struct kvm_vcpu *vcpu)
{
	(void)vcpu;
	return 0;
}
#endif

/* Asked once whether there is a cast: each instruction counts here. */
static __always_inline __u64 svm_code(const void *vcpu)
{
	const struct vmcb *loaded;
	const char *at = (const char *)vcpu + bpf_core_field_offset(struct vcpu_svm, vmcb);
	unsigned long there = bpf_core_field_offset(struct vmcb, control.exit_code);
	__u32 bytes = bpf_core_field_size(struct vmcb, control.exit_code);

	if (has_cast())
		return load_number((const char *)(load_number(at, 8) + there), bytes);
	loaded = loaded_vmcb(vcpu);
	if (loaded)
		return loaded->control.exit_code;
	return copy_number((const char *)(copy_number(at, 8) + there), bytes);
}

static __always_inline __u64 vmx_code(const void *vcpu)
{
	if (bpf_core_field_exists(struct vcpu_vmx, exit_reason))
		return READ(vcpu, struct vcpu_vmx, exit_reason.full);
	return READ(vcpu, struct vcpu_vmx___vt, vt.exit_reason.full);
}

/* The asm keeps the compiler from loading the constant on the path of other exits. */
static __always_inline __u64 no_code(void)
{
	__u64 code = EXIT_NO_CODE;

	asm volatile("" : "+r"(code));
	return code;
}

/* The code that the event's record has, by the arguments of the event. vcpu: the first of them. */
static __always_inline __u64 exit_code(const __u64 *ctx, const void *vcpu, enum exit_place place)
{
	const struct kvm_cpu_trap *trap;
	__u32 type;

	switch (place) {
	case EXIT_IN_SVM:
		return ARGUMENT(ctx, 1) == ISA_SVM ? svm_code(vcpu) : no_code();
	case EXIT_IN_VMX:
		return ARGUMENT(ctx, 1) == ISA_VMX ? vmx_code(vcpu) : no_code();
	case EXIT_IN_SYNDROME:
		type = ARGUMENT(ctx, 0) & ARM64_CODE;
		if (type != ARM64_TRAP)
			return 1ull << REASON_TYPE_BIT | type;
		return ARGUMENT(ctx, 1);
	case EXIT_IN_TRAP:
		trap = POINTER(ctx, 0);
		return trap ? trap->scause : no_code();
	case EXIT_IN_FIRST:
		return ARGUMENT(ctx, 0);
	case EXIT_IN_SECOND:
		return ARGUMENT(ctx, 1);
	default:
		return no_code();
	}
}

#endif
