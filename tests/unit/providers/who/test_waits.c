// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF programs that charge waits for a CPU, run here as plain C, in cases that no test can make
 * happen in the kernel at will.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* test_pending.c has these, too. */
#define LICENSE waits_license
#define bpf_rdonly_cast waits_cast
#include "tests/unit/providers/bpf_as_c.h"
#include "tests/unit/providers/who/whole_kernel.h"

static void *bpf_map_lookup_elem(void *map, const void *key);

#include <linux/bpf.h>

struct moment;
struct queue;
struct charge;

int on_switch(const __u64 *ctx);
int on_wakeup(const __u64 *ctx);
int on_migrate(const __u64 *ctx);
int pass_slot(struct moment *now, struct queue *queue, __u32 i);
int add_elsewhere(struct charge *charge);

#include "providers/who/who.bpf.c" /* NOLINT(bugprone-suspicious-include): what is tested */
#include "tests/unit/unit.h"

#define CPUS 2
#define VCPUS (WHO_SLOTS + 1) /* threads 1, 2 ... */
#define OTHER VCPUS	      /* a process that is no vCPU, the last of the threads */
#define RUNNING 0
#define ASLEEP	1

/* The machine that the programs run on. */
static struct {
	struct rq rqs[CPUS];
	struct cfs_rq cfs[CPUS];
	struct queue queues[CPUS];
	struct task_struct tasks[VCPUS + 1];
	struct who_record records[VCPUS];
} m;

static struct who_time all_times[WHO_TIMES];

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t i = *(const uint32_t *)key;

	if (map == &queues)
		return i < CPUS ? &m.queues[i] : NULL;
	if (map == &records)
		return i < VCPUS ? &m.records[i] : NULL;
	assert_ptr_equal(map, &times);
	return i < WHO_TIMES ? &all_times[i] : NULL;
}

static int setup(void **state)
{
	(void)state;
	memset(&m, 0, sizeof(m));
	memset(all_times, 0, sizeof(all_times));
	memset(threads, 0, sizeof(threads));
	lost_ns = 0;
	for (uint32_t i = 0; i < CPUS; i++)
		m.cfs[i].rq = &m.rqs[i];
	for (uint32_t i = 0; i <= VCPUS; i++) {
		struct task_struct *task = &m.tasks[i];

		task->pid = task->tgid = (int)i + 1;
		task->se.cfs_rq = &m.cfs[0];
		task->group_leader = task;
		snprintf(task->comm, sizeof(task->comm), "t%u", i);
		if (i == OTHER)
			continue;
		m.records[i].tid = i + 1;
		threads[WHO_PLACE(i + 1) % WHO_THREADS] = (struct who_thread){ i + 1, i + 1 };
	}
	return 0;
}

/* The CPU goes from one thread to another; the kernel counts the wait of that. */
static void switches_at(uint64_t now_ns, struct task_struct *prev, struct task_struct *next,
			unsigned int prev_state, bool is_preempted)
{
	struct sched_info *info = &next->sched_info;

	m.rqs[0].clock = now_ns;
	prev->__state = prev_state;
	assert_int_equal(on_switch((__u64[]){ is_preempted, (uintptr_t)prev, (uintptr_t)next }), 0);
	if (info->last_queued)
		info->run_delay += now_ns - info->last_queued;
	info->last_queued = 0;
	if (is_preempted || !prev_state)
		prev->sched_info.last_queued = now_ns;
}

static void is_woken_at(uint64_t now_ns, struct task_struct *task)
{
	m.rqs[0].clock = now_ns;
	task->sched_info.last_queued = now_ns;
	assert_int_equal(on_wakeup((__u64[]){ (uintptr_t)task }), 0);
}

/* ns that the vCPU was charged with this kind. */
static uint64_t charged_ns(uint32_t vcpu, enum who_kind kind)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < WHO_TIMES; i++) {
		if (all_times[i].tid == vcpu + 1 && all_times[i].kind == kind)
			ns += all_times[i].ns;
	}
	return ns;
}

/* Its state is not "running", but nothing has woken it when it goes on. */
TEST(preempted_on_the_way_to_sleep, setup)
{
	struct task_struct *vcpu = &m.tasks[0], *other = &m.tasks[OTHER];

	switches_at(1000, vcpu, other, ASLEEP, true);
	switches_at(1500, other, vcpu, RUNNING, true);
	assert_int_equal(charged_ns(0, WHO_PROCESS), 500);
	assert_int_equal(m.records[0].waits, 1);
	switches_at(2000, vcpu, other, ASLEEP, false);
	switches_at(2500, other, vcpu, RUNNING, true);
	assert_int_equal(charged_ns(0, WHO_PROCESS), 500); /* it slept */
	assert_int_equal(charged_ns(0, WHO_UNKNOWN), 0);
}

/* The inventory finds a vCPU late: of a thread that is younger than ours all waits count. */
TEST(threads_that_are_older_and_younger, setup)
{
	struct task_struct *other = &m.tasks[OTHER];

	attached_ns = 1000;
	m.tasks[0].start_time = 900;
	m.tasks[1].start_time = 1100;
	for (uint32_t i = 0; i < 2; i++) {
		m.tasks[i].sched_info.run_delay = 100;
		is_woken_at(2000, &m.tasks[i]);
		switches_at(2500, other, &m.tasks[i], RUNNING, true);
		switches_at(3000, &m.tasks[i], other, ASLEEP, false);
		assert_int_equal(charged_ns(i, WHO_PROCESS), 500);
	}
	assert_int_equal(charged_ns(0, WHO_UNKNOWN), 0);
	assert_int_equal(m.records[0].seen_ns - m.records[0].first_ns, 500);
	assert_int_equal(charged_ns(1, WHO_UNKNOWN), 100);
	assert_int_equal(m.records[1].seen_ns - m.records[1].first_ns, 600);
}

/* More wait than a CPU has slots: of the last one nothing is seen, and so it is said. */
TEST(more_than_there_are_slots, setup)
{
	struct task_struct *other = &m.tasks[OTHER], *last = &m.tasks[VCPUS - 1];

	for (uint32_t i = 0; i < VCPUS; i++) {
		m.records[i].seen_ns = m.tasks[i].sched_info.run_delay = 100;
		is_woken_at(1000, &m.tasks[i]);
	}
	switches_at(1700, other, last, ASLEEP, false);
	assert_int_equal(charged_ns(0, WHO_PROCESS), 700);
	assert_int_equal(charged_ns(VCPUS - 1, WHO_PROCESS), 0);
	switches_at(2000, last, other, RUNNING, true);
	assert_int_equal(charged_ns(VCPUS - 1, WHO_UNKNOWN), 700);
	assert_int_equal(charged_ns(0, WHO_VCPU), 300);
	assert_int_equal(lost_ns, 0);
}
