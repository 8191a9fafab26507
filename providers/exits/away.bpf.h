/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * away - the time in which a vCPU's thread has no CPU: it waits for one, or it sleeps.
 *
 * Within KVM_RUN, KVM's own notifiers of the scheduler, kvm_sched_out() and kvm_sched_in(), say
 * when a vCPU's thread loses its CPU and gets one: no other switch of the host costs anything, and
 * no exit without a switch. In user space, the scheduler's sums of the thread say what passed
 * between the exit to user space and the end of the time there.
 *
 * An exit is timed without waiting: its begin moves forward by what its thread waited, so that the
 * end of an exit, which is frequent, is as it was.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_AWAY_BPF_H
#define KVMTOP_PROVIDERS_EXITS_AWAY_BPF_H

#include "providers/exits/maps.bpf.h"

/* Set once the programs on KVM's notifiers are attached. */
_Bool sees_away;

/* CONFIG_SCHED_INFO */
static __always_inline _Bool knows_waits(void)
{
	return bpf_core_field_exists(struct task_struct, sched_info.run_delay);
}

/* How long this thread has waited for a CPU since it began. It has one now, so it is up to date. */
static __always_inline __u64 waited_so_far(const struct task_struct *task)
{
	return knows_waits() ? task->sched_info.run_delay : 0;
}

static __always_inline void add_parts(struct exits_thread *thread, __u32 cell, enum exits_away why,
				      const struct exits_off *off)
{
	struct exits_reason *reason = reason_of(thread, cell, 0);

	if (reason)
		exits_parts_add(&reason->parts, why, off);
}

/* ---- in user space */

/*
 * With CONFIG_IRQ_TIME_ACCOUNTING the scheduler's clock of a CPU stands while interrupts are served
 * there: this is for how long it has.
 */
static __always_inline __u64 irq_time(const struct task_struct *task)
{
	if (!bpf_core_field_exists(struct rq, prev_irq_time) ||
	    !bpf_core_field_exists(struct sched_entity, cfs_rq))
		return 0;
	return task->se.cfs_rq->rq->prev_irq_time;
}

/*
 * A clock that stands while the thread runs, and goes on while it has no CPU: the scheduler reads
 * the time, exec_start, whenever it adds what passed to sum_exec_runtime.
 */
static __always_inline __u64 off_clock(const struct task_struct *task)
{
	return task->se.exec_start - task->se.sum_exec_runtime + irq_time(task);
}

/* When user space gets the exit. */
static __always_inline void note_userspace(struct exits_thread *thread)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	thread->user_off = off_clock(task);
	thread->user_ran = task->se.sum_exec_runtime;
	thread->user_delay = waited_so_far(task);
	thread->user_switches = task->nvcsw;
}

/*
 * How long the thread had no CPU in the ns since then. Each CPU has a clock of its own: on another
 * one, what the thread ran is right to a tick. Without a switch of its own it has not slept,
 * whatever the clock says: interrupts may be served there while it runs.
 */
static __always_inline void ask_scheduler(const struct exits_thread *thread,
					  const struct task_struct *task, __u64 ns,
					  struct exits_off *ret_off)
{
	__u64 waited = waited_so_far(task) - thread->user_delay;
	__u64 ran = task->se.sum_exec_runtime - thread->user_ran;
	__u64 off = off_clock(task) - thread->user_off;

	if (thread->cpu != bpf_get_smp_processor_id())
		off = ns > ran ? ns - ran : 0;
	if (waited > ns)
		waited = ns;
	if (off > ns)
		off = ns;
	ret_off->waited_ns = waited;
	ret_off->slept_ns =
		task->nvcsw != thread->user_switches && off > waited ? off - waited : 0;
}

/* Takes what passed without a CPU out of the time in user space. */
static __noinline int leave_out_off(struct exits_thread *thread, __u64 now)
{
	enum exits_away why = exits_away_in_user(&thread->at);
	struct exits_off off;

	if (now < thread->at.user_since || !exits_open_since(&thread->at))
		return 0;
	ask_scheduler(thread, bpf_get_current_task_btf(), now - thread->at.user_since, &off);
	exits_was_away(&thread->at, why, &off);
	add_parts(thread, thread->at.cell, why, &off);
	add_parts(thread, thread->at.user_cell, why, &off);
	return 0;
}

/* Ends the time in user space, and returns when that is: now. */
static __noinline __u64 end_userspace(struct exits_thread *thread)
{
	__u64 now = bpf_ktime_get_ns(), since = thread->at.user_since;

	if (!since)
		return now;
	if (sees_away && off_clock(bpf_get_current_task_btf()) != thread->user_off)
		leave_out_off(thread, now);
	since = exits_end_user(&thread->at, now);
	if (!since || !exits_open_since(&thread->at))
		return now;
	if (reports_long)
		thread->user_ns += now - since;
	exit_took(thread, thread->at.user_cell, now - since);
	return now;
}

/* ---- in KVM_RUN */

/* Whether the thread, which is about to lose its CPU, could go on. */
static __always_inline _Bool is_runnable(const struct task_struct *task)
{
	/* Since Linux 6.12 a thread that sleeps may stay in the queue for a while. */
	if (bpf_core_field_exists(struct task_struct, se.sched_delayed) && task->se.sched_delayed)
		return 0;
	return task->on_rq != 0;
}

/*
 * Whether KVM blocks the vCPU until there is work for it: in a halt, or before the interrupt that
 * starts it. A halt for a page that the host has not got is the host's.
 */
static __always_inline _Bool is_idle(const void *vcpu)
{
	if (!vcpu || !bpf_core_field_exists(struct kvm_vcpu, wait.task) ||
	    !READ(vcpu, struct kvm_vcpu, wait.task))
		return 0;
	return !bpf_core_field_exists(struct kvm_vcpu, arch.apf.halted) ||
	       !READ(vcpu, struct kvm_vcpu, arch.apf.halted);
}

/* A thread without a record has made no exit yet. */
static __always_inline int lose_cpu(void)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());
	const struct task_struct *task = bpf_get_current_task_btf();
	__u64 now;

	if (!thread)
		return 0;
	now = end_userspace(thread); /* KVM_RUN has begun again */
	thread->delay_before = waited_so_far(task);
	exits_lose_cpu(&thread->at,
		       is_runnable(task) ? EXITS_WAITS :
		       is_idle(vcpu_of(task)) ? EXITS_IDLES : EXITS_BLOCKED, now);
	return 0;
}

static __always_inline int get_cpu(void)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());
	struct exits_off off;
	__u64 away, waited;

	if (!thread || !thread->at.away_since)
		return 0;
	off = exits_absence(&thread->at, bpf_ktime_get_ns());
	/*
	 * By the clock alone, interrupts that are served before KVM hears of the CPU are waiting;
	 * by the scheduler's sum alone, a wait counts twice in part if the thread was woken
	 * meanwhile.
	 */
	if (knows_waits()) {
		away = off.waited_ns + off.slept_ns;
		waited = waited_so_far(bpf_get_current_task_btf()) - thread->delay_before;
		off.waited_ns = waited < away ? waited : away;
		if (thread->at.away != EXITS_WAITS)
			off.slept_ns = away - off.waited_ns;
	}
	exits_was_away(&thread->at, thread->at.away, &off);
	if (exits_open_since(&thread->at))
		add_parts(thread, thread->at.cell, thread->at.away, &off);
	EXITS_PUBLISH();
	thread->at.away_since = 0;
	return 0;
}

#define ON_SWITCH(name, function, work)                                                            \
	SEC(function) int name(const void *ctx __attribute__((unused)))                            \
	{                                                                                          \
		return work;                                                                       \
	}

/* AArch64 before Linux 6.4 attaches no programs of the first kind: see exits_attach(). */
ON_SWITCH(on_sched_out, "fentry/kvm_sched_out", lose_cpu())
ON_SWITCH(on_sched_in, "fentry/kvm_sched_in", get_cpu())
ON_SWITCH(on_probed_out, "kprobe/kvm_sched_out", lose_cpu())
ON_SWITCH(on_probed_in, "kprobe/kvm_sched_in", get_cpu())

#endif
