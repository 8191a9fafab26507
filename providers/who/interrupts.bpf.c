// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures how long an interrupt is pending for a vCPU before the vCPU enters the guest.
 *
 * An interrupt begins where KVM gives it to a vCPU, in any thread or interrupt of the host. The
 * tracepoint there has the vCPU's number, but not its guest: so x86 has a program at the function,
 * and AArch64 two probes. KVM's notifier says when the thread has a CPU. The next entry of the
 * vCPU's thread ends all that are pending. A slot has one writer at a time: the program that takes
 * it, then the thread.
 */
#include "providers/bpf/buckets.bpf.h"
#include "providers/bpf/kernel.bpf.h"
#include "providers/who/shared.h"

char LICENSE[] SEC("license") = "GPL";

struct kvm_lapic {
	struct kvm_vcpu *vcpu;
	_Bool apicv_active;
} OF_KERNEL;

struct vgic_irq {
	struct kvm_vcpu *target_vcpu;
	__u32 intid;
	_Bool pending_latch, line_level, enabled;
} OF_KERNEL;

enum { FIXED = 0, LOWEST = 0x100 }; /* ways of delivery (APIC_DM_*); others are no interrupts */
enum { IN_GUEST_MODE = 1 };
enum { VIRTUAL_TIMER = 27, FIRST_SHARED = 32 }; /* AArch64's interrupts */
#define TIMER_VTIMER 1 /* the timer's place among a vCPU's timers */

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_PENDING };

struct slot {
	__u64 since_ns; /* when the interrupt became pending */
	__u64 due_ns; /* of AArch64's timer; 0: it is another interrupt, or the time is not known */
	__u64 seen_ns; /* the time up to here is in the two parts below, or in none */
	__u64 run_delay_ns; /* what the thread had waited for a CPU at seen_ns */
	__u64 waking_ns; /* part of the time: the thread was asleep */
	__u64 waiting_ns; /* part of the time: the thread had no CPU */
	__u32 irq; /* the interrupt's number */
	__u32 state; /* enum slot_state */
	__u64 is_asleep; /* the thread sleeps, and has had no CPU since */
};

/* The thread of a vCPU. */
struct thread {
	__u64 is_pending; /* any slot may be */
	struct slot slots[INTERRUPT_SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WHO_VCPUS);
	__type(key, __u32);
	__type(value, struct thread);
} irq_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, INTERRUPTS);
	__type(key, struct interrupt);
	__type(value, struct interrupt_time);
} interrupts SEC(".maps");

/* Zero-initialised, and too large for a program's stack. */
static const struct thread no_thread = { 0 };
static const struct interrupt_time no_time = { 0 };

/* Interrupts that came; that a vCPU got in the guest, without an entry; and without room. */
__u64 nr_came, nr_direct, nr_lost;
__u64 has_entered; /* any vCPU that had an interrupt */

/* The reader sets one while programs read the other. */
struct counter_clock clocks[2];
__u32 present_clock;

/* ---- pending */

static __always_inline struct thread *thread_of(__u32 tid)
{
	struct thread *thread = bpf_map_lookup_elem(&irq_threads, &tid);

	if (thread)
		return thread;
	bpf_map_update_elem(&irq_threads, &tid, &no_thread, BPF_NOEXIST);
	return bpf_map_lookup_elem(&irq_threads, &tid);
}

/*
 * An interrupt that is pending already gets no second slot. is_pending is set then, too: the entry
 * that cleared it may have looked at this slot before.
 */
static __always_inline struct slot *take_slot(struct thread *thread, __u32 irq)
{
	for (int i = 0; i < INTERRUPT_SLOTS; i++) {
		struct slot *slot = &thread->slots[i];

		if (slot->state == SLOT_PENDING && slot->irq == irq) {
			thread->is_pending = 1;
			return 0;
		}
	}
	for (int i = 0; i < INTERRUPT_SLOTS; i++) {
		struct slot *slot = &thread->slots[i];

		if (!slot->state &&
		    !__sync_val_compare_and_swap(&slot->state, SLOT_FREE, SLOT_TAKEN))
			return slot;
	}
	__sync_fetch_and_add(&nr_lost, 1);
	return 0;
}

static __always_inline void begin_pending(const void *vcpu, __u32 irq, __u64 due_ns)
{
	const char *pid = READ_POINTER(vcpu, struct kvm_vcpu, pid);
	const char *task = READ_POINTER(pid, struct pid, tasks);
	__u32 tid = READ(pid, struct pid, numbers[0].nr);
	struct thread *thread;
	struct slot *slot;

	if (!task) /* its thread has ended, or none has run it yet */
		return;
	__sync_fetch_and_add(&nr_came, 1);
	task -= bpf_core_field_offset(struct task_struct, pid_links);
	thread = thread_of(tid);
	if (!thread) {
		__sync_fetch_and_add(&nr_lost, 1);
		return;
	}
	slot = take_slot(thread, irq);
	if (!slot)
		return;
	slot->irq = irq;
	slot->due_ns = due_ns;
	slot->run_delay_ns = READ(task, struct task_struct, sched_info.run_delay);
	slot->is_asleep = !READ(task, struct task_struct, on_cpu) &&
			  !READ(task, struct task_struct, sched_info.last_queued);
	slot->waking_ns = slot->waiting_ns = 0;
	slot->since_ns = slot->seen_ns = bpf_ktime_get_ns();
	__sync_lock_test_and_set(&slot->state, SLOT_PENDING);
	if (READ(task, struct task_struct, on_cpu)) /* since before: pass() has left out the slot */
		slot->is_asleep = 0;
	thread->is_pending = 1;
}

static __always_inline _Bool is_direct(const void *apic, const void *vcpu)
{
	if (READ(vcpu, struct kvm_vcpu, mode) != IN_GUEST_MODE)
		return 0;
	if (bpf_core_field_exists(struct kvm_lapic, apicv_active))
		return READ(apic, struct kvm_lapic, apicv_active);
	return bpf_core_field_exists(struct kvm_vcpu_arch, apicv_active) &&
	       READ(vcpu, struct kvm_vcpu, arch.apicv_active);
}

/* apic, delivery, vector, level, whether it is of a level */
SEC("fentry/__apic_accept_irq")
int on_accept(const __u64 *ctx)
{
	const void *apic = POINTER(ctx, 0), *vcpu = READ_POINTER(apic, struct kvm_lapic, vcpu);
	__u32 way = ARGUMENT(ctx, 1);
	_Bool has_ended = (__u32)ARGUMENT(ctx, 4) && !(__u32)ARGUMENT(ctx, 3);

	if ((way != FIXED && way != LOWEST) || has_ended)
		return 0;
	if (is_direct(apic, vcpu))
		__sync_fetch_and_add(&nr_direct, 1);
	else
		begin_pending(vcpu, (__u32)ARGUMENT(ctx, 2), 0);
	return 0;
}

/* 0: too far away, as a guest may set its timer to any time. */
static __always_inline __u64 ns_of_cycles(__u64 cycles)
{
	const struct counter_clock *now = &clocks[present_clock & 1];
	__s64 since = (__s64)(cycles - now->cycles), limit = (1ull << 62) / now->rate;

	if (since < -limit || since > limit)
		return 0;
	return now->ns + (since * (__s64)now->rate >> 24);
}

/*
 * By the host's clock, when the vCPU's virtual timer was to come. While its registers are in the
 * CPU, this has just said so.
 */
static __always_inline __u64 timer_due_ns(const void *vcpu)
{
	const char *regs =
		(const char *)vcpu + bpf_core_field_offset(struct kvm_vcpu, arch.ctxt.sys_regs);
	__u64 cycles =
		read_number(regs + 8 * bpf_core_enum_value(enum vcpu_sysreg, CNTV_CVAL_EL0), 8);
	const char *offset;

	if (READ(vcpu, struct kvm_vcpu, arch.timer_cpu.timers[TIMER_VTIMER].loaded))
		return bpf_ktime_get_ns();
	if (bpf_core_field_exists(struct arch_timer_context, offset))
		offset = READ_POINTER(vcpu, struct kvm_vcpu,
				      arch.timer_cpu.timers[TIMER_VTIMER].offset.vm_offset);
	else
		offset = regs + 8 * bpf_core_enum_value(enum vcpu_sysreg, CNTVOFF_EL2);
	return ns_of_cycles(cycles + read_number(offset, 8));
}

static __always_inline void begin_if_enabled(const struct vgic_irq *irq)
{
	const void *vcpu = READ_POINTER(irq, struct vgic_irq, target_vcpu);
	__u32 intid = READ(irq, struct vgic_irq, intid);

	if (vcpu && BPF_CORE_READ_BITFIELD_PROBED(irq, enabled))
		begin_pending(vcpu, intid, intid == VIRTUAL_TIMER ? timer_due_ns(vcpu) : 0);
}

/* The registers: the second argument is the interrupt, which has changed, not always to pending. */
SEC("kprobe/vgic_queue_irq_unlock")
int on_queue(const __u64 *ctx)
{
	const struct vgic_irq *irq = (const void *)ctx[1];

	if (BPF_CORE_READ_BITFIELD_PROBED(irq, pending_latch) ||
	    BPF_CORE_READ_BITFIELD_PROBED(irq, line_level))
		begin_if_enabled(irq);
	return 0;
}

/*
 * The registers: guest; vCPU, if the interrupt is its own; number; level. The line still has its
 * old level. A compiler may put the begin of the function above into this one, of the same file, as
 * in Linux 7.2. In 6.1 the registers have no vCPU, and the function above sees all.
 */
SEC("kprobe/kvm_vgic_inject_irq")
int on_inject(const __u64 *ctx)
{
	__u32 intid = ctx[2], from = intid < FIRST_SHARED ? 0 : FIRST_SHARED;
	const char *irqs;
	const struct vgic_irq *irq;

	if (!(__u8)ctx[3] || !bpf_core_field_exists(struct vgic_cpu, private_irqs))
		return 0;
	if (from)
		irqs = READ_POINTER(ctx[0], struct kvm, arch.vgic.spis);
	else
		irqs = READ_POINTER(ctx[1], struct kvm_vcpu, arch.vgic_cpu.private_irqs);
	irq = (const void *)(irqs + (intid - from) * bpf_core_type_size(struct vgic_irq));
	if (!BPF_CORE_READ_BITFIELD_PROBED(irq, line_level))
		begin_if_enabled(irq);
	return 0;
}

/* ---- entered */

/*
 * The thread has a CPU: of the time up to now, waiting is what the kernel has counted. It may have
 * counted more, as the thread may have waited already when the interrupt came.
 */
static __always_inline void pass(struct slot *slot, __u64 now_ns, __u64 run_delay_ns)
{
	__u64 ns = now_ns - slot->seen_ns, waiting_ns = run_delay_ns - slot->run_delay_ns;

	if (waiting_ns > ns)
		waiting_ns = ns;
	slot->waiting_ns += waiting_ns;
	if (slot->is_asleep)
		slot->waking_ns = ns - waiting_ns;
	slot->is_asleep = 0;
	slot->seen_ns = now_ns;
	slot->run_delay_ns = run_delay_ns;
}

static __always_inline int get_cpu(void)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct thread *thread = bpf_map_lookup_elem(&irq_threads, &tid);
	__u64 now_ns, run_delay_ns;

	if (!thread || !thread->is_pending)
		return 0;
	now_ns = bpf_ktime_get_ns();
	run_delay_ns = READ(bpf_get_current_task(), struct task_struct, sched_info.run_delay);
	for (int i = 0; i < INTERRUPT_SLOTS; i++) {
		if (thread->slots[i].state == SLOT_PENDING)
			pass(&thread->slots[i], now_ns, run_delay_ns);
	}
	return 0;
}

/* KVM's own notifier of the scheduler, in the thread of a vCPU that is within KVM_RUN. */
SEC("fentry/kvm_sched_in")
int on_sched_in(const void *ctx __attribute__((unused)))
{
	return get_cpu();
}

/* As above, on AArch64. */
SEC("kprobe/kvm_sched_in")
int on_probed_in(const void *ctx __attribute__((unused)))
{
	return get_cpu();
}

static __always_inline struct interrupt_time *count(__u32 tid, __u32 irq, __u64 ns)
{
	struct interrupt key = { tid, irq };
	struct interrupt_time *time = bpf_map_lookup_elem(&interrupts, &key);

	if (!time) {
		bpf_map_update_elem(&interrupts, &key, &no_time, BPF_NOEXIST);
		time = bpf_map_lookup_elem(&interrupts, &key);
	}
	if (!time) {
		__sync_fetch_and_add(&nr_lost, 1);
		return 0;
	}
	time->count++;
	time->ns += ns;
	if (ns > time->max_ns)
		time->max_ns = ns;
	time->hist[bucket_of(ns)]++;
	return time;
}

static __always_inline void end_pending(struct slot *slot, __u32 tid, __u64 now_ns,
					__u64 run_delay_ns)
{
	struct interrupt_time *time = count(tid, slot->irq, now_ns - slot->since_ns);

	pass(slot, now_ns, run_delay_ns);
	if (!time)
		return;
	time->waking_ns += slot->waking_ns;
	time->waiting_ns += slot->waiting_ns;
}

SEC("tp_btf/kvm_entry")
int on_entry(const void *ctx)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct thread *thread = bpf_map_lookup_elem(&irq_threads, &tid);
	__u64 now_ns, run_delay_ns;

	(void)ctx;
	if (!thread || !thread->is_pending)
		return 0;
	has_entered = 1;
	__sync_lock_test_and_set(&thread->is_pending, 0); /* before the slots are looked at */
	now_ns = bpf_ktime_get_ns();
	run_delay_ns = READ(bpf_get_current_task(), struct task_struct, sched_info.run_delay);
	for (int i = 0; i < INTERRUPT_SLOTS; i++) {
		struct slot *slot = &thread->slots[i];

		if (slot->state != SLOT_PENDING)
			continue;
		end_pending(slot, tid, now_ns, run_delay_ns);
		if (slot->due_ns)
			count(tid, INTERRUPT_TIMER,
			      now_ns > slot->due_ns ? now_ns - slot->due_ns : 0);
		slot->state = SLOT_FREE;
	}
	return 0;
}

/* ---- timers */

/* vCPU's number; how late its timer is, in cycles of the guest's clock: below 0 it is early */
SEC("tp_btf/kvm_wait_lapic_expire")
int on_expire(const __u64 *ctx)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const char *vcpu = vcpu_of(task);
	__s64 cycles = (__s64)ARGUMENT(ctx, 1);
	__u64 khz;

	if (!vcpu || !bpf_core_field_exists(struct kvm_vcpu_arch, virtual_tsc_khz))
		return 0;
	khz = READ(vcpu, struct kvm_vcpu, arch.virtual_tsc_khz);
	if (khz)
		count(task->pid, INTERRUPT_TIMER, cycles < 0 ? 0 : (__u64)cycles * 1000000 / khz);
	return 0;
}
