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
#include "providers/who/shared.h"

char LICENSE[] SEC("license") = "GPL";

#define PF_KTHREAD 0x00200000
#define CPUS_MAX 8192

/*
 * How far a CPU's kernel_cpustat (linux/kernel_stat.h) is from its run queue; 0: not known. Each
 * CPU has both.
 */
const volatile __s64 cpustat_from_rq = 0;

enum cpu_usage_stat { CPUTIME_SOFTIRQ, CPUTIME_IRQ }; /* in this order, side by side */

struct irqs {
	__u64 soft_ns, hard_ns;
};

struct queue {
	__u32 nr; /* of the slots that are used */
	__u64 slots[WHO_SLOTS]; /* the thread, and in the lower half its record with 1 added */
};

/* By thread, and by process: WHO_IS_VMM. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WHO_THREADS);
	__type(key, __u32);
	__type(value, __u32);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WHO_VCPUS);
	__type(key, __u32);
	__type(value, struct who_record);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX); /* the reader sets how many there are */
	__type(key, __u32);
	__type(value, struct queue);
} queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WHO_PAIRS);
	__type(key, struct who_pair);
	__type(value, struct who_time);
} pairs SEC(".maps");

/* Whether a thread may be in the map of threads, by the last bits of its number: most are not. */
__u64 may_be_known[WHO_WORDS];

__u64 lost_ns; /* was charged to a pair that had no room */

/* A moment on a CPU, what has run there since the moment before, and what runs next. */
struct moment {
	__u64 ns;
	struct irqs irqs;
	struct who_pair pair; /* of what has run: */
	__u64 ran;	      /* its address in the kernel */
	__u64 next_sum_ns; /* the kernel's sum of the waits of next_tid up to now */
	__u32 cpu, ran_tid, next_tid;
	__u32 ended; /* the number of next_tid's record, with 1 added; 0: it has not waited */
};

static __always_inline const __u32 *find_thread(__u32 tid)
{
	if (!(may_be_known[tid / 64 % WHO_WORDS] >> tid % 64 & 1))
		return 0;
	return bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline struct who_record *record_of(__u32 tid)
{
	const __u32 *number = find_thread(tid);

	return number ? bpf_map_lookup_elem(&records, number) : 0;
}

/* Of the CPU that the thread is on, or waits for. */
static __always_inline const struct rq *queue_of(const struct task_struct *task)
{
	return task->se.cfs_rq->rq;
}

/* 0 without CONFIG_IRQ_TIME_ACCOUNTING: the tick only finds whole ticks, and too many for irqs. */
static __always_inline _Bool has_irq_times(const struct rq *rq)
{
	return cpustat_from_rq && bpf_core_field_exists(rq->prev_irq_time) && rq->prev_irq_time;
}

static __always_inline struct irqs irqs_of(const struct rq *rq)
{
	__u64 first = bpf_core_enum_value(enum cpu_usage_stat, CPUTIME_SOFTIRQ);
	struct irqs irqs = { 0 };

	if (has_irq_times(rq))
		bpf_probe_read_kernel(&irqs, sizeof(irqs), (const char *)rq + cpustat_from_rq +
							   first * sizeof(irqs.soft_ns));
	return irqs;
}

/* ---- charging */

/* Of several names and numbers. */
static __always_inline __u64 mix(__u64 hash, __u64 more)
{
	hash = (hash ^ more) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static __always_inline __u64 mix_name(__u64 hash, const struct task_struct *task)
{
	for (unsigned int i = 0; i < WHO_NAME / sizeof(__u64); i++)
		hash = mix(hash, ((const __u64 *)task->comm)[i]);
	return hash;
}

static __always_inline void name_pair(struct who_pair *pair, const struct task_struct *ran)
{
	__u32 tid = ran->pid, tgid = ran->tgid;
	const __u32 *number = find_thread(tid);

	pair->id = tid;
	if (!tid) {
		pair->kind = WHO_IDLE;
		return;
	}
	if (number && *number != WHO_IS_VMM) {
		pair->kind = WHO_VCPU;
		return;
	}
	if (ran->flags & PF_KTHREAD) {
		pair->kind = WHO_KERNEL;
		pair->id = mix_name(0, ran);
	} else if (find_thread(tgid)) {
		pair->kind = WHO_VMM;
		pair->id = mix_name(tgid, ran);
	} else {
		pair->kind = WHO_PROCESS;
		pair->id = mix_name(mix_name(0, ran), ran->group_leader);
	}
}

static __always_inline void copy_name(union who_name *name, const void *task)
{
	bpf_probe_read_kernel(name->text, sizeof(name->text),
			      (const char *)task + bpf_core_field_offset(struct task_struct, comm));
}

/* The time of a pair that is new. ran: as of struct moment; 0: an interrupt, or the like. */
static __noinline struct who_time *add_pair(const struct who_pair *pair, __u64 ran)
{
	const void *task = (void *)(unsigned long)ran;
	struct who_time time = { 0 };

	if (ran && pair->kind == WHO_VCPU)
		time.number = pair->id;
	if (ran && pair->kind == WHO_VMM)
		time.number = READ(task, struct task_struct, tgid);
	if (ran)
		copy_name(&time.thread, task);
	if (ran && pair->kind == WHO_PROCESS)
		copy_name(&time.process, READ_POINTER(task, struct task_struct, group_leader));
	bpf_map_update_elem(&pairs, pair, &time, BPF_NOEXIST);
	return bpf_map_lookup_elem(&pairs, pair);
}

static __always_inline void add(const struct who_pair *pair, __u64 ran, __u64 ns)
{
	struct who_time *time = bpf_map_lookup_elem(&pairs, pair);

	if (!time)
		time = add_pair(pair, ran);
	if (!time) {
		__sync_fetch_and_add(&lost_ns, ns);
		return;
	}
	time->count++;
	time->ns += ns;
	if (ns > time->max_ns)
		time->max_ns = ns;
}

static __always_inline void add_kind(__u32 tid, enum who_kind kind, __u64 ns)
{
	struct who_pair pair = { .tid = tid, .kind = kind };

	add(&pair, 0, ns);
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
	struct who_pair pair = now->pair; /* Linux 6.1 wants a key on the stack */
	__u64 rest_ns = ns;

	record->ns += ns;
	record->waited_ns += ns;
	record->seen_ns += ns;
	if (record->is_throttled) {
		add_kind(record->tid, WHO_QUOTA, ns);
		return;
	}
	rest_ns -= charge_irqs(record->tid, WHO_IRQ, record->irq_ns, now->irqs.hard_ns, rest_ns);
	rest_ns -= charge_irqs(record->tid, WHO_SOFTIRQ, record->softirq_ns, now->irqs.soft_ns,
			       rest_ns);
	if (!rest_ns)
		return;
	pair.tid = record->tid;
	add(&pair, now->ran, rest_ns);
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
	record->irq_ns = now->irqs.hard_ns;
	record->softirq_ns = now->irqs.soft_ns;
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

/* What the kernel has counted and no program has seen; sum_ns: the kernel's sum. */
static __always_inline void charge_unseen(struct who_record *record, __u64 sum_ns)
{
	__u64 ns = sum_ns - record->seen_ns;

	if (record->seen_ns && sum_ns > record->seen_ns) {
		record->ns += ns;
		add_kind(record->tid, WHO_UNKNOWN, ns);
	}
	if (sum_ns > record->seen_ns)
		record->seen_ns = sum_ns;
}

/* has_run: else it may wait already, as one that is woken twice. */
static __always_inline void begin(struct task_struct *task, __u32 cpu, __u64 since_ns,
				  _Bool has_run)
{
	__u32 tid = task->pid;
	const __u32 *number = find_thread(tid);
	struct queue *queue = number ? bpf_map_lookup_elem(&queues, &cpu) : 0;
	struct who_record *record;
	struct irqs irqs;

	if (!queue)
		return;
	record = bpf_map_lookup_elem(&records, number);
	if (!record || record->tid != tid || (record->queue && !has_run))
		return;
	charge_unseen(record, task->sched_info.run_delay);
	record->task = (__u64)task;
	record->since_ns = since_ns;
	record->waited_ns = 0;
	record->is_throttled = is_throttled(record);
	irqs = irqs_of(queue_of(task));
	record->irq_ns = irqs.hard_ns;
	record->softirq_ns = irqs.soft_ns;
	take_slot(queue, record, cpu, (__u64)tid << 32 | (*number + 1));
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
static __always_inline void end(struct moment *now, struct who_record *record)
{
	if (now->next_sum_ns > record->seen_ns)
		charge(now, record, now->next_sum_ns - record->seen_ns);
	record->queue = 0;
	record->waits++;
	if (record->waited_ns > record->max_ns)
		record->max_ns = record->waited_ns;
	record->hist[bucket_of(record->waited_ns)]++;
}

/* ---- the events */

/*
 * The vCPU in a slot has waited up to now, or it runs next. A function of its own, which the
 * kernel verifies once: in the loop it takes seconds.
 */
__attribute__((noinline)) int pass_slot(struct moment *now, __u32 i)
{
	__u32 cpu = now ? now->cpu : 0, number;
	struct queue *queue = bpf_map_lookup_elem(&queues, &cpu);
	struct who_record *record;
	__u64 slot;

	if (!now || !queue || i >= WHO_SLOTS)
		return 0;
	slot = queue->slots[i];
	number = (__u32)slot - 1;
	record = bpf_map_lookup_elem(&records, &number);
	if (!record || record->tid != slot >> 32 || record->queue != cpu + 1) {
		free_slot(queue, &queue->slots[i]); /* it is no longer measured */
	} else if (record->tid == now->next_tid) {
		free_slot(queue, &queue->slots[i]);
		end(now, record);
		now->ended = number + 1;
	} else if (record->tid == now->ran_tid) {
		free_slot(queue, &queue->slots[i]);
		record->queue = 0; /* it was woken as it fell asleep, and had the CPU all along */
	} else {
		pass(now, record);
	}
	return 0;
}

static __always_inline void pass_time(struct queue *queue, __u32 cpu,
				      const struct task_struct *ran, struct task_struct *next)
{
	struct moment now = { .cpu = cpu, .ns = queue_of(ran)->clock };
	__u64 queued_ns = next->sched_info.last_queued;
	struct who_record *record;
	__u32 number;

	now.irqs = irqs_of(queue_of(ran));
	now.ran_tid = ran->pid;
	now.next_tid = next->pid;
	now.next_sum_ns = next->sched_info.run_delay;
	if (queued_ns && now.ns > queued_ns)
		now.next_sum_ns += now.ns - queued_ns;
	now.ran = (__u64)ran;
	name_pair(&now.pair, ran);
	for (__u32 i = 0, left = queue->nr; i < WHO_SLOTS && left; i++) {
		if (!queue->slots[i])
			continue;
		pass_slot(&now, i);
		left--;
	}
	number = now.ended - 1;
	record = now.ended ? bpf_map_lookup_elem(&records, &number) : 0;
	if (record)
		count_preemption(record, next);
}

SEC("tp_btf/sched_switch")
int on_switch(const __u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 cpu = bpf_get_smp_processor_id();
	struct queue *queue = bpf_map_lookup_elem(&queues, &cpu);

	if (queue && queue->nr)
		pass_time(queue, cpu, prev, next);
	if (!prev->__state) /* it was preempted, or gave way */
		begin(prev, cpu, queue_of(prev)->clock, 1);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(const __u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (task->sched_info.last_queued)
		begin(task, task->thread_info.cpu, task->sched_info.last_queued, 0);
	return 0;
}

/* The run queue of the CPU that it leaves is locked, unless it does not wait. */
SEC("tp_btf/sched_migrate_task")
int on_migrate(const __u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 to = (__u32)ctx[1];
	struct queue *from_queue, *queue = bpf_map_lookup_elem(&queues, &to);
	struct moment now = { 0 };
	struct who_record *record;
	const struct rq *rq;

	record = queue && task->on_rq ? record_of(task->pid) : 0;
	if (!record || !record->queue)
		return 0;
	now.cpu = record->queue - 1;
	from_queue = bpf_map_lookup_elem(&queues, &now.cpu);
	if (!from_queue)
		return 0;
	rq = queue_of(task); /* of the CPU that it leaves */
	now.ns = rq->clock;
	now.irqs = irqs_of(rq);
	now.ran = (__u64)rq->curr;
	name_pair(&now.pair, rq->curr);
	pass(&now, record);
	for (int i = 0; i < WHO_SLOTS; i++) {
		__u64 slot = from_queue->slots[i];

		if (slot >> 32 != record->tid)
			continue;
		free_slot(from_queue, &from_queue->slots[i]);
		record->since_ns = record->irq_ns = record->softirq_ns = 0;
		take_slot(queue, record, to, slot);
		return 0;
	}
	return 0;
}
