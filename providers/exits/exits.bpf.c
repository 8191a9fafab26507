// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts and times VM exits by thread and reason; runs in the kernel, on its events.
 *
 * An exit begins with kvm_exit and ends with kvm_entry of the same thread; the part of it from
 * kvm_userspace_exit on is user space's. Each instruction costs time in each exit of each guest:
 * work for a new thread or a new reason, done once, is in functions of its own.
 *
 * The programs get the arguments of the events: the record of a trace event would cost more than
 * half of our own work.
 */
#include "providers/bpf/kernel.bpf.h"
#include "providers/exits/arguments.bpf.h"
#include "providers/exits/away.bpf.h"
#include "providers/exits/halts.bpf.h"
#include "providers/exits/maps.bpf.h"
#include "providers/exits/pc.bpf.h"
#include "providers/exits/shared.h"
#include "providers/exits/stacks.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The number of the vCPU, which a record has; asked once for each thread. */
static __always_inline __u32 id_of(const struct kvm_vcpu *vcpu)
{
	return vcpu ? (__u32)vcpu->vcpu_id : EXITS_NO_VCPU;
}

/* The exit's code; and what else is noted when it begins. */
static __always_inline __u64 note_begin(const __u64 *ctx, const struct kvm_vcpu *vcpu,
					enum exit_place place, struct exits_thread *thread)
{
	if (reports_long) {
		thread->user_ns = 0;
		thread->polled_ns = 0;
		thread->waited_before_ns = thread->at.sums.waited;
		thread->pc = pc_at_begin(ctx, place);
	}
	return counts_pcs ? code_and_pc(ctx, vcpu, place, &thread->pc) :
			    exit_code(ctx, vcpu, place);
}

static __always_inline int begin_exit(const __u64 *ctx, enum exit_place place)
{
	const struct kvm_vcpu *vcpu = 0;
	__u32 cpu = bpf_get_smp_processor_id(), cell;
	struct exits_thread *thread;
	__u64 code;

	count_event(cpu, EXITS_EVENT_EXIT);
	if (exit_has_vcpu(place)) {
		vcpu = POINTER(ctx, 0);
		if (!vcpu) /* it never is; the kernel refuses loads without the check */
			return 0;
		thread = find_running(cpu, (__u64)(unsigned long)vcpu);
	} else {
		thread = find_thread(cpu);
	}
	if (!thread)
		thread = add_thread(id_of(vcpu), 1);
	if (!thread)
		return 0;
	code = notes ? note_begin(ctx, vcpu, place, thread) : exit_code(ctx, vcpu, place);
	cell = find_cell(code, EXITS_VMEXIT);
	count(thread, cell);
	thread->cpu = cpu;
	exits_begin(&thread->at, cell, bpf_ktime_get_ns());
	return 0;
}

/* The event has other arguments on each architecture, and one of these programs. */
#define ON_EXIT(name, place)                                                                       \
	SEC("tp_btf") int name(const __u64 *ctx)                                                   \
	{                                                                                          \
		return begin_exit(ctx, place);                                                     \
	}

ON_EXIT(on_svm_exit, EXIT_IN_SVM)
ON_EXIT(on_vmx_exit, EXIT_IN_VMX)
ON_EXIT(on_arm64_exit, EXIT_IN_SYNDROME)
ON_EXIT(on_riscv_exit, EXIT_IN_TRAP)
ON_EXIT(on_other_exit, EXIT_IN_SECOND)

/* Reports an exit that took longer than the threshold. */
static __noinline void report(struct exits_thread *thread, __u64 since, __u64 now, __u64 pc)
{
	__u32 cell = exits_cell_of(thread->at.cell);
	struct exits_long *exit;

	if (is_left_out[cell])
		return;
	exit = bpf_ringbuf_reserve(&long_exits, sizeof(*exit), 0);
	if (!exit) {
		__sync_fetch_and_add(&lost_long_exits, 1);
		return;
	}
	exit->end_ns = now;
	exit->took_ns = now - since;
	exit->user_ns = thread->user_ns;
	exit->polled_ns = thread->polled_ns;
	exit->waited_ns = sees_away ? thread->at.sums.waited - thread->waited_before_ns :
				      EXITS_UNKNOWN;
	exit->pc = pc;
	exit->thread = thread->number;
	exit->cpu = thread->cpu;
	exit->cell = cell;
	exit->has_argument = thread->has_argument;
	exit->argument = thread->argument;
	bpf_ringbuf_submit(exit, BPF_RB_NO_WAKEUP);
}

/* Time that earlier samples had, before the argument was counted, is its reason's alone. */
static __noinline void end_uncounted(struct exits_thread *thread, __u64 since, __u64 now)
{
	struct exits_cell *cell = count_argument(thread, &thread->argument);

	if (!cell)
		return;
	took(cell, now - since);
	if (sampled_ns > since && sampled_ns < now)
		cell->time_ns -= sampled_ns - since;
}

static __always_inline void end_argument(struct exits_thread *thread, __u64 since, __u64 now)
{
	struct exits_cell *cell;

	if (thread->has_argument == EXITS_UNCOUNTED) {
		end_uncounted(thread, since, now);
	} else {
		cell = argument_cell(&thread->argument);
		if (cell)
			took(cell, now - since);
	}
	thread->has_argument = 0;
}

/* What else is noted when an exit ends, before its time is in its cell. */
static __always_inline void note_end(struct exits_thread *thread, const struct kvm_vcpu *vcpu,
				     __u32 cell, __u64 since, __u64 now)
{
	if (reports_long) {
		barrier(); /* the threshold is not read before */
		if (now - since > longer_ns)
			report(thread, since, now, pc_at_end(thread, vcpu));
	}
	if (counts_pcs)
		count_pc(thread, vcpu, cell, now);
}

/* Most exits are no halts, not long and not user space's: they pay for comparisons, and no more. */
static __always_inline int end_exit(struct exits_thread *thread, const struct kvm_vcpu *vcpu)
{
	__u64 since, now, number;

	if (!thread)
		return 0;
	now = thread->at.user_since ? end_userspace(thread) : bpf_ktime_get_ns();
	number = thread->at.cell;
	if (number >= EXITS_HALT) {
		end_halt(thread, vcpu);
		number %= EXITS_CELLS;
	}
	since = exits_end(&thread->at);
	if (since) {
		thread->ended_ns = now;
		thread->ended_cell = (__u32)number;
		if (notes)
			note_end(thread, vcpu, (__u32)number, since, now);
		exit_took(thread, (__u32)number, now - since);
		if (thread->has_argument)
			end_argument(thread, since, now);
	}
	return 0;
}

static __always_inline int end_exit_of(const __u64 *ctx, __u32 cpu)
{
	const struct kvm_vcpu *vcpu = POINTER(ctx, 0);

	return end_exit(find_running(cpu, (__u64)(unsigned long)vcpu), vcpu);
}

SEC("tp_btf")
int on_entry(const __u64 *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();

	count_event(cpu, EXITS_EVENT_ENTRY);
	return end_exit_of(ctx, cpu);
}

/* LoongArch: the guest goes on after an exit that KVM has handled. */
SEC("tp_btf/kvm_reenter")
int on_reentry(const __u64 *ctx)
{
	return end_exit_of(ctx, bpf_get_smp_processor_id());
}

/* AArch64's event has no vCPU. */
SEC("tp_btf")
int on_arm64_entry(const __u64 *ctx __attribute__((unused)))
{
	__u32 cpu = bpf_get_smp_processor_id();

	count_event(cpu, EXITS_EVENT_ENTRY);
	return end_exit(find_thread(cpu), 0);
}

/*
 * Intel: KVM reads the program counter for the record of this event, and so has a copy when the
 * exit ends. Most page faults need it for nothing else. Programs on a trace event return 1: with 0
 * the kernel hides the event from all perf events on it, other programs' too.
 */
SEC("tp/kvm/kvm_page_fault")
int on_page_fault(const void *ctx __attribute__((unused)))
{
	return 1;
}

static __always_inline int begin_userspace(const struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), cell;
	struct exits_thread *thread = find_thread(cpu);
	__u64 code = exits_user_code(ctx->args[0], (int)ctx->args[1]), now;

	/* Here another thread may come in between. */
	__sync_fetch_and_add(&cpus[cpu % EXITS_CPUS].events[EXITS_EVENT_USERSPACE], 1);
	if (!thread)
		thread = add_thread(EXITS_NO_VCPU, !has_exits);
	if (!thread)
		return 0;
	if (counts_pcs && exit_place == EXIT_IN_VMX)
		thread->pc = pc_at_end(thread, (const void *)(unsigned long)thread->running);
	thread->running = 0; /* KVM_RUN is over */
	now = thread->at.user_since ? end_userspace(thread) : bpf_ktime_get_ns();
	cell = find_cell(code, EXITS_USERSPACE);
	count(thread, cell);
	thread->cpu = cpu;
	if (!sees_away && exits_halt_goes_on(&thread->at, code))
		return 0;
	note_userspace(thread);
	exits_begin_user(&thread->at, cell, now);
	return 0;
}

#define ON_EVENT(name, event, work)                                                                \
	SEC("raw_tp/" event) int name(const struct bpf_raw_tracepoint_args *ctx)                   \
	{                                                                                          \
		return work;                                                                       \
	}

ON_EVENT(on_userspace, "kvm_userspace_exit", begin_userspace(ctx))

/* The cells that share EXITS_OTHER have no twin. KVM has the halts of L2 that L1 does not want. */
static __noinline __u32 add_twin(__u32 cell)
{
	const struct exits_code *code = &codes[exits_cell_of(cell)];
	__u32 twin = EXITS_OTHER;

	if (exits_cell_of(cell))
		twin = add_cell(code->code, code->kind | EXITS_NESTED);
	if (!twin)
		return cell;
	twin |= cell & EXITS_HALT;
	twins[exits_cell_of(cell)] = twin;
	twins[exits_cell_of(twin)] = twin;
	return twin;
}

/*
 * kvm_nested_vmexit: the exit that the thread has just begun with kvm_exit was of a guest that the
 * guest runs, L2. From here on the exit is counted, timed and named by the twin of its cell. What
 * lies between the entry and the exit was time in L2.
 */
SEC("raw_tp/kvm_nested_vmexit")
int on_nested_exit(const void *ctx __attribute__((unused)))
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());
	struct exits_reason *reason;
	__u32 cell, twin;
	__u64 since;

	since = thread ? exits_nest(&thread->at) : 0;
	if (!since)
		return 0;
	cell = thread->at.cell;
	twin = twins[exits_cell_of(cell)];
	if (!twin)
		twin = add_twin(cell);
	if (twin != cell) {
		reason = reason_of(thread, cell, 0);
		if (reason)
			reason->cell.count--;
		thread->at.cell = twin;
		count(thread, twin);
	}
	barrier();
	thread->at.nested_since = since;
	if (!is_nesting)
		is_nesting = 1;
	return 0;
}

/* Attached to kvm_entry beside on_entry while a guest nests. */
SEC("raw_tp/kvm_entry")
int on_nested_entry(const void *ctx __attribute__((unused)))
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());

	if (thread && thread->at.nested_since)
		thread->at.entered = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int begin_ioport(const struct bpf_raw_tracepoint_args *ctx)
{
	if (!ctx->args[0])
		return on_argument(EXITS_IOPORT, ctx->args[1], ctx->args[2], 0);
	return on_write(EXITS_IOPORT, ctx->args[1], ctx->args[2], 1, ctx->args);
}

static __always_inline int begin_mmio(const struct bpf_raw_tracepoint_args *ctx)
{
	if (ctx->args[0] != MMIO_WRITE)
		return on_argument(EXITS_MMIO, ctx->args[2], ctx->args[1], ctx->args[0]);
	return on_write(EXITS_MMIO, ctx->args[2], ctx->args[1], MMIO_WRITE, ctx->args);
}

ON_EVENT(on_ioport, "kvm_pio", begin_ioport(ctx))
ON_EVENT(on_mmio, "kvm_mmio", begin_mmio(ctx))

/* A write that an ioeventfd takes, whatever its value is; KVM has not looked at the instruction. */
ON_EVENT(on_fast_mmio, "kvm_fast_mmio", on_write(EXITS_MMIO, ctx->args[0], 0, MMIO_WRITE, 0))

#define ON_ARGUMENT(name, event, kind, a, b, c)                                                   \
	ON_EVENT(name, event, on_argument(kind, a, b, c))

ON_ARGUMENT(on_msr, "kvm_msr", EXITS_MSR, ctx->args[1], ctx->args[0], 0)
ON_ARGUMENT(on_cpuid, "kvm_cpuid", EXITS_CPUID, ctx->args[0], 0, 0)
ON_ARGUMENT(on_hypercall, "kvm_hypercall", EXITS_HYPERCALL, ctx->args[0], 0, 0)
ON_ARGUMENT(on_hvc, "kvm_hvc_arm64", EXITS_HYPERCALL, ctx->args[1], 0, 0)

/*
 * Whether the thread that runs can raise interrupts of its guest: it is a VMM's, the kernel's vhost
 * threads among them, or it is KVM's timer. A device's message may come in any thread, which would
 * get a record for it.
 */
static __always_inline _Bool may_raise(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	static const char pit[] = "kvm-pit/";
	char comm[16];

	if (task->mm)
		return may_be_of_vmm(task);
	bpf_get_current_comm(comm, sizeof(comm));
	for (__u32 i = 0; i < sizeof(pit) - 1; i++) {
		if (comm[i] != pit[i])
			return 0;
	}
	return 1;
}

/*
 * An interrupt is no exit's argument: it is raised by threads of the VMM or the kernel, or by a
 * vCPU's in the middle of an exit.
 */
static __noinline int on_interrupt(__u64 a, __u32 b, __u32 c)
{
	struct exits_thread *thread;
	struct exits_argument_key key = { .a = a, .b = b, .c = c, .kind = EXITS_INTERRUPT,
					  .cell = EXITS_NO_CELL };

	if (!may_raise())
		return 0;
	thread = find_thread(bpf_get_smp_processor_id());
	if (!thread)
		thread = add_thread(EXITS_NOT_VCPU, 1);
	if (!thread)
		return 0;
	key.thread = thread->number;
	key.epoch = thread->epoch;
	count_argument(thread, &key);
	return 0;
}

#define ON_INTERRUPT(name, event, a, b, c) ON_EVENT(name, event, on_interrupt(a, b, c))

ON_INTERRUPT(on_line, "kvm_set_irq", (__u32)ctx->args[0], (__u32)ctx->args[1], (__u32)ctx->args[2])
ON_INTERRUPT(on_message, "kvm_msi_set_irq", exits_message_of_x86(ctx->args[0]),
	     (__u32)ctx->args[1], 0)

SEC("tp_btf/kvm_sys_access")
int on_sysreg(const __u64 *ctx)
{
	const struct sys_reg_params *access = POINTER(ctx, 1);
	const struct sys_reg_desc *reg = POINTER(ctx, 2);

	if (!access || !reg)
		return 0;
	return on_argument(EXITS_SYSREG,
			   reg->Op0 | reg->Op1 << 8 | reg->CRn << 16 | (__u32)reg->CRm << 24,
			   access->is_write, reg->Op2);
}

/*
 * A page fault is counted when its exit ends, with the level at which KVM has mapped the page. One
 * of a device's address ends as an access of the device. A fault without an exit has no end.
 */
static __always_inline int begin_fault(__u64 fault)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());

	if (!thread || !exits_open_since(&thread->at))
		return on_argument(EXITS_FAULT, fault, 0, 0);
	set_argument(thread, EXITS_FAULT, fault, 0, 0);
	thread->has_argument = EXITS_UNCOUNTED;
	return 0;
}

ON_EVENT(on_fault, "kvm_page_fault",
	 begin_fault(exits_fault_of_x86(has_fault_vcpu ? ctx->args[2] : (__u32)ctx->args[1])))
ON_EVENT(on_arm64_fault, "kvm_guest_fault", begin_fault(exits_fault_of_arm64(ctx->args[1])))

/* The first page that is mapped is the fault's; KVM may map its neighbours, too. */
SEC("raw_tp/kvm_mmu_set_spte")
int on_mapping(const struct bpf_raw_tracepoint_args *ctx)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());

	if (thread && thread->has_argument == EXITS_UNCOUNTED && !thread->argument.b)
		thread->argument.b = (__u32)ctx->args[0];
	return 0;
}
