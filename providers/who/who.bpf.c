// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Charges the time that a vCPU's thread waits for a CPU to what has the CPU meanwhile.
 *
 * All times are of the run queue's clock, as run_delay is (kernel/sched/stats.h): what is charged
 * adds up to what run_delay grows by. A CPU has slots for the vCPUs that wait for it. The run queue
 * is locked at each of the events, so what is written needs no lock; only a vCPU that moves to
 * another CPU gets its slot there without that CPU's lock.
 */
#include "providers/bpf/buckets.bpf.h"
#include "providers/bpf/kernel.bpf.h"
#include "providers/who/tables.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define PF_KTHREAD 0x00200000
#define CPUS_MAX 8192

/*
 * How far a CPU's kernel_cpustat (linux/kernel_stat.h) is from its run queue; 0: not known. Each
 * CPU has both.
 */
const volatile __s64 cpustat_from_rq = 0;
__u64 attached_ns; /* CLOCK_MONOTONIC */

enum cpu_usage_stat { CPUTIME_SOFTIRQ, CPUTIME_IRQ }; /* in this order, side by side */

struct queue {
	__u32 nr; /* of the slots that are used */
	__u64 slots[WHO_SLOTS]; /* the thread, and in the lower half its number */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX); /* the reader sets how many there are */
	__type(key, __u32);
	__type(value, struct queue);
} queues SEC(".maps");

/* A moment on a CPU, what has run there since the moment before, and what runs next. */
struct moment {
	__u64 ns;
	struct who_irqs irqs;
	__u64 ran, ran_hash; /* the address of what has run; its kind and names as a number */
	__u32 cpu, ran_tid, ran_kind, next_tid;
	__u64 ended; /* next_tid's number; 0: it has not waited. No hole: Linux 6.1 wants none. */
};

/* The run queue of the CPU that the thread is on, or waits for. */
static __always_inline const struct rq *queue_of(const struct task_struct *task)
{
	return task->se.cfs_rq->rq;
}

/* 0 without CONFIG_IRQ_TIME_ACCOUNTING: the tick only finds whole ticks, and too many for irqs. */
static __always_inline void read_irqs(const struct rq *rq, struct who_irqs *irqs)
{
	__u64 first = bpf_core_enum_value(enum cpu_usage_stat, CPUTIME_SOFTIRQ);

	irqs->soft_ns = irqs->hard_ns = 0;
	if (cpustat_from_rq && bpf_core_field_exists(rq->prev_irq_time) && rq->prev_irq_time)
		bpf_probe_read_kernel(irqs, sizeof(*irqs), (const char *)rq + cpustat_from_rq +
							   first * sizeof(irqs->soft_ns));
}

/* ---- charging */

static __always_inline __u64 mix_name(__u64 hash, const struct task_struct *task)
{
	for (unsigned int i = 0; i < WHO_NAME / sizeof(__u64); i++)
		hash = mix(hash, ((const __u64 *)task->comm)[i]);
	return hash;
}

/* What many threads do under one name is one. */
static __always_inline void identify(struct moment *now, const struct task_struct *ran,
				     __u32 number)
{
	__u32 tgid = ran->tgid;

	now->ran = (__u64)ran;
	now->ran_tid = ran->pid;
	if (!ran->pid) {
		now->ran_kind = WHO_IDLE;
		now->ran_hash = hash_of(WHO_IDLE);
	} else if (is_vcpu(number)) {
		now->ran_kind = WHO_VCPU;
		now->ran_hash = mix(hash_of(WHO_VCPU), now->ran_tid);
	} else if (ran->flags & PF_KTHREAD) {
		now->ran_kind = WHO_KERNEL;
		now->ran_hash = mix_name(hash_of(WHO_KERNEL), ran);
	} else if (number_of(tgid)) {
		now->ran_kind = WHO_VMM;
		now->ran_hash = mix_name(mix(hash_of(WHO_VMM), tgid), ran);
	} else {
		now->ran_kind = WHO_PROCESS;
		now->ran_hash = mix_name(mix_name(hash_of(WHO_PROCESS), ran), ran->group_leader);
	}
}

/* What interrupts took of ns. They are counted to the moment, which may be later than ns is. */
static __always_inline __u64 charge_irqs(__u32 tid, enum who_kind kind, __u64 from_ns,
					 __u64 to_ns, __u64 ns)
{
	__u64 took_ns = to_ns - from_ns;

	if (!from_ns || to_ns <= from_ns || !ns)
		return 0;
	if (took_ns > ns)
		took_ns = ns;
	add_kind(tid, kind, took_ns);
	return took_ns;
}

/* Linux 6.18 throttles each thread, before that its queue is. */
static __always_inline _Bool is_throttled(const struct who_record *record)
{
	const void *task = (void *)(unsigned long)record->task;

	if (bpf_core_field_exists(struct task_struct, throttled))
		return READ(task, struct task_struct, throttled);
	if (!bpf_core_field_exists(struct cfs_rq, throttle_count))
		return 0;
	return READ(READ_POINTER(task, struct task_struct, se.cfs_rq), struct cfs_rq,
		    throttle_count);
}

/* Charges ns to what ran up to now. */
static __always_inline void charge(struct moment *now, struct who_record *record, __u64 ns)
{
	__u64 rest_ns = ns;

	record->seen_ns += ns;
	if (record->is_throttled) {
		add_kind(record->tid, WHO_QUOTA, ns);
		return;
	}
	rest_ns -= charge_irqs(record->tid, WHO_IRQ, record->irqs.hard_ns, now->irqs.hard_ns,
			       rest_ns);
	rest_ns -= charge_irqs(record->tid, WHO_SOFTIRQ, record->irqs.soft_ns, now->irqs.soft_ns,
			       rest_ns);
	if (rest_ns)
		add_charge(now->ran_hash, record->tid, now->ran_kind, now->ran, rest_ns);
}

/* On its new CPU a vCPU waits since it was queued there, by the clock of that CPU. */
static __always_inline __u64 since_of(const struct who_record *record)
{
	const void *task = (void *)(unsigned long)record->task;

	return record->since_ns ? record->since_ns :
				  READ(task, struct task_struct, sched_info.last_queued);
}

/* Charges what has passed. */
static __always_inline void pass(struct moment *now, struct who_record *record)
{
	__u64 since_ns = since_of(record);

	if (since_ns && now->ns > since_ns)
		charge(now, record, now->ns - since_ns);
	record->is_throttled = is_throttled(record); /* when it is no longer, it runs soon */
	record->since_ns = now->ns;
	record->irqs = now->irqs;
}

/* ---- waits */

/* A vCPU that gets no slot has waited without being seen. */
static __always_inline void take_slot(struct queue *queue, struct who_record *record, __u32 cpu,
				      __u64 slot)
{
	record->queue = cpu + 1;
	for (int i = 0; i < WHO_SLOTS; i++) {
		if (!queue->slots[i] && !__sync_val_compare_and_swap(&queue->slots[i], 0, slot)) {
			__sync_fetch_and_add(&queue->nr, 1);
			return;
		}
	}
	record->queue = 0;
}

static __always_inline void free_slot(struct queue *queue, __u64 *slot)
{
	*slot = 0;
	__sync_fetch_and_add(&queue->nr, -1);
}

/*
 * Charges what the kernel has counted and no program has seen. The inventory knows a vCPU some time
 * after it began: if its thread is younger than the measurement, all its waits count.
 */
static __always_inline void charge_unseen(struct who_record *record,
					  const struct task_struct *task)
{
	__u64 sum_ns = task->sched_info.run_delay;

	if (!record->seen_ns && task->start_time < attached_ns)
		record->first_ns = sum_ns;
	else if (sum_ns > record->seen_ns)
		add_kind(record->tid, WHO_UNKNOWN, sum_ns - record->seen_ns);
	if (sum_ns > record->seen_ns)
		record->seen_ns = sum_ns;
}

/* has_run: up to now; else it may wait already, as one that is woken twice. */
static __always_inline void begin_wait(const struct task_struct *task, __u32 number, __u32 cpu,
				       _Bool has_run)
{
	struct queue *queue = bpf_map_lookup_elem(&queues, &cpu);
	struct who_record *record = record_at(number);
	__u32 tid = task->pid;

	if (!queue || !record || record->tid != tid || (record->queue && !has_run))
		return;
	charge_unseen(record, task);
	record->task = (__u64)task;
	record->since_ns = has_run ? queue_of(task)->clock : task->sched_info.last_queued;
	record->begun_ns = record->seen_ns;
	record->is_throttled = is_throttled(record);
	read_irqs(queue_of(task), &record->irqs);
	take_slot(queue, record, cpu, (__u64)tid << 32 | number);
}

#define PSTATE_MODE 0xf
#define PSTATE_EL1 4 /* with EL0's stack pointer, or 5 */

/* As KVM has noted it when the thread lost its CPU; on AArch64 by the guest's own mode. */
static __always_inline _Bool is_in_kernel(const void *vcpu)
{
	if (bpf_core_field_exists(struct kvm_vcpu_arch, preempted_in_kernel))
		return READ(vcpu, struct kvm_vcpu, arch.preempted_in_kernel);
	if (bpf_core_field_exists(struct kvm_vcpu_arch, ctxt))
		return (READ(vcpu, struct kvm_vcpu, arch.ctxt.regs.pstate) & PSTATE_MODE & ~1) ==
		       PSTATE_EL1;
	return 0;
}

static __always_inline void count_preemption(struct who_record *record, struct task_struct *task)
{
	const char *vcpu = vcpu_of(task);

	if (!vcpu || !bpf_core_field_exists(struct kvm_vcpu, preempted))
		return;
	if (!READ(vcpu, struct kvm_vcpu, preempted))
		return;
	record->preempted++;
	record->in_kernel += is_in_kernel(vcpu);
}

/* The kernel's own sum says how long the wait was; what of it is not charged yet is added. */
static __always_inline void end_wait(struct moment *now, struct who_record *record,
				     struct task_struct *task)
{
	__u64 queued_ns = task->sched_info.last_queued, sum_ns = task->sched_info.run_delay, ns;

	if (queued_ns && now->ns > queued_ns)
		sum_ns += now->ns - queued_ns;
	if (sum_ns > record->seen_ns)
		charge(now, record, sum_ns - record->seen_ns);
	count_preemption(record, task);
	ns = record->seen_ns - record->begun_ns;
	record->queue = 0;
	record->waits++;
	if (ns > record->max_ns)
		record->max_ns = ns;
	record->hist[bucket_of(ns)]++;
}

/* ---- the events */

/*
 * The vCPU in a slot has waited up to now, or it runs next. A function of its own, which the
 * kernel verifies once: in the loop it takes seconds.
 */
__attribute__((noinline)) int pass_slot(struct moment *now, struct queue *queue, __u32 i)
{
	struct who_record *record;
	__u64 slot;

	if (!now || !queue || i >= WHO_SLOTS)
		return 0;
	slot = queue->slots[i];
	record = record_at(slot);
	if (!record || record->tid != slot >> 32 || record->queue != now->cpu + 1) {
		free_slot(queue, &queue->slots[i]); /* it is no longer measured */
	} else if (record->tid == now->next_tid) {
		free_slot(queue, &queue->slots[i]);
		now->ended = slot;
	} else if (record->tid == now->ran_tid) {
		free_slot(queue, &queue->slots[i]);
		record->queue = 0; /* it was woken as it fell asleep, and had the CPU all along */
	} else {
		pass(now, record);
	}
	return 0;
}

static __always_inline void pass_time(struct queue *queue, const struct task_struct *ran,
				      __u32 ran_number, struct task_struct *next)
{
	const struct rq *rq = queue_of(ran);
	struct who_record *record;
	struct moment now;

	now.ns = rq->clock;
	read_irqs(rq, &now.irqs);
	now.cpu = ran->thread_info.cpu;
	now.next_tid = next->pid;
	now.ended = 0;
	identify(&now, ran, ran_number);
	for (__u32 i = 0, left = queue->nr; i < WHO_SLOTS && left; i++) {
		if (!queue->slots[i])
			continue;
		pass_slot(&now, queue, i);
		left--;
	}
	record = now.ended ? record_at(now.ended) : 0;
	if (record)
		end_wait(&now, record, next);
}

SEC("tp_btf/sched_switch")
int on_switch(const __u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	/* It was preempted, maybe on its way to sleep, or gave way. */
	_Bool has_waiting, goes_on = (_Bool)ctx[0] || !prev->__state;
	__u32 cpu = prev->thread_info.cpu, number;
	struct queue *queue = bpf_map_lookup_elem(&queues, &cpu);

	has_waiting = queue && queue->nr;
	if (!has_waiting && !goes_on)
		return 0;
	number = number_of(prev->pid);
	if (has_waiting)
		pass_time(queue, prev, number, next);
	if (goes_on && is_vcpu(number))
		begin_wait(prev, number, cpu, 1);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(const __u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 number = number_of(task->pid);

	if (is_vcpu(number) && task->sched_info.last_queued)
		begin_wait(task, number, task->thread_info.cpu, 0);
	return 0;
}

/* The run queue of the CPU that it leaves is locked, unless it does not wait. */
SEC("tp_btf/sched_migrate_task")
int on_migrate(const __u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 to = (__u32)ctx[1];
	struct queue *from_queue, *queue = bpf_map_lookup_elem(&queues, &to);
	__u32 number = queue && task->on_rq ? number_of(task->pid) : 0;
	struct who_record *record = is_vcpu(number) ? record_at(number) : 0;
	struct moment now = { 0 };
	const struct rq *rq;

	if (!record || !record->queue)
		return 0;
	now.cpu = record->queue - 1;
	from_queue = bpf_map_lookup_elem(&queues, &now.cpu);
	if (!from_queue)
		return 0;
	rq = queue_of(task); /* of the CPU that it leaves */
	now.ns = rq->clock;
	read_irqs(rq, &now.irqs);
	identify(&now, rq->curr, number_of(rq->curr->pid));
	pass(&now, record);
	for (int i = 0; i < WHO_SLOTS; i++) {
		__u64 slot = from_queue->slots[i];

		if (slot >> 32 != record->tid)
			continue;
		free_slot(from_queue, &from_queue->slots[i]);
		record->since_ns = record->irqs.hard_ns = record->irqs.soft_ns = 0;
		take_slot(queue, record, to, slot);
		return 0;
	}
	return 0;
}
