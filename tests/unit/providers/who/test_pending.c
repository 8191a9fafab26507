// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF program that measures interrupts, run here as plain C: which parts the time has in which
 * an interrupt is pending.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/providers/bpf_as_c.h"
#include "tests/unit/providers/who/whole_kernel.h"

struct task_struct;

static void *bpf_map_lookup_elem(void *map, const void *key);
static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags);
static struct task_struct *bpf_get_current_task_btf(void);
static uint64_t bpf_get_current_task(void);
static uint64_t bpf_get_current_pid_tgid(void);
static uint64_t bpf_ktime_get_ns(void);

#include <linux/bpf.h>

int on_accept(const __u64 *ctx);
int on_queue(const __u64 *ctx);
int on_inject(const __u64 *ctx);
int on_sched_in(const void *ctx);
int on_probed_in(const void *ctx);
int on_entry(const void *ctx);
int on_expire(const __u64 *ctx);

#include "providers/who/interrupts.bpf.c" /* NOLINT(bugprone-suspicious-include): what is tested */
#include "tests/unit/unit.h"

#define TID 7
#define VECTOR 0x40

/* The machine that the program runs on. */
static struct {
	uint64_t now_ns;
	struct kvm_lapic apic;
	struct kvm_vcpu vcpu;
	struct pid pid;
	struct task_struct task; /* of the vCPU */
	struct thread thread;
	struct interrupt_time time; /* of the only vector */
	bool has_thread, has_time;
} m;

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	(void)key;
	if (map == &irq_threads)
		return m.has_thread ? &m.thread : NULL;
	assert_ptr_equal(map, &interrupts);
	return m.has_time ? &m.time : NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	(void)flags;
	if (map == &irq_threads) {
		assert_int_equal(*(const uint32_t *)key, TID);
		memcpy(&m.thread, value, sizeof(m.thread));
		m.has_thread = true;
	} else {
		assert_int_equal(((const struct interrupt *)key)->irq, VECTOR);
		memcpy(&m.time, value, sizeof(m.time));
		m.has_time = true;
	}
	return 0;
}

static struct task_struct *bpf_get_current_task_btf(void)
{
	return &m.task;
}

static uint64_t bpf_get_current_task(void)
{
	return (uintptr_t)&m.task;
}

static uint64_t bpf_get_current_pid_tgid(void)
{
	return TID;
}

static uint64_t bpf_ktime_get_ns(void)
{
	return m.now_ns;
}

static int setup(void **state)
{
	(void)state;
	memset(&m, 0, sizeof(m));
	m.apic.vcpu = &m.vcpu;
	m.vcpu.pid = &m.pid;
	m.pid.numbers[0].nr = TID;
	m.pid.tasks[0].first = &m.task.pid_links[0];
	m.task.sched_info.run_delay = 5000;
	return 0;
}

static void comes_at(uint64_t now_ns)
{
	m.now_ns = now_ns;
	assert_int_equal(on_accept((__u64[]){ (uintptr_t)&m.apic, FIXED, VECTOR, 1, 0 }), 0);
}

/* The thread gets a CPU. */
static void runs_at(uint64_t now_ns, uint64_t waited_ns)
{
	m.now_ns = now_ns;
	m.task.on_cpu = 1;
	m.task.sched_info.run_delay += waited_ns;
	assert_int_equal(on_sched_in(NULL), 0);
}

static void enters_at(uint64_t now_ns)
{
	m.now_ns = now_ns;
	assert_int_equal(on_entry(NULL), 0);
}

static void assert_parts(uint64_t waking_ns, uint64_t waiting_ns, uint64_t entering_ns)
{
	assert_int_equal(m.time.count, 1);
	assert_int_equal(m.time.waking_ns, waking_ns);
	assert_int_equal(m.time.waiting_ns, waiting_ns);
	assert_int_equal(m.time.ns, waking_ns + waiting_ns + entering_ns);
}

/* KVM's own event, kvm_vcpu_wakeup, comes when the thread has run for a while. */
TEST(a_thread_that_has_a_cpu_is_awake, setup)
{
	comes_at(1000);
	runs_at(1500, 200);
	enters_at(2000);
	assert_parts(300, 200, 500);
}

TEST(a_thread_loses_its_cpu_again, setup)
{
	comes_at(1000);
	runs_at(1500, 200);
	runs_at(1900, 100);
	enters_at(2000);
	assert_parts(300, 300, 400);
}

TEST(a_thread_that_runs_only_enters, setup)
{
	m.task.on_cpu = 1;
	comes_at(1000);
	enters_at(1200);
	assert_parts(0, 0, 200);
}

/* It waited before, too. */
TEST(a_thread_that_waits_is_awake, setup)
{
	m.task.sched_info.last_queued = 500;
	comes_at(1000);
	runs_at(1500, 1000);
	enters_at(1600);
	assert_parts(0, 500, 100);
}

/* Outside of KVM_RUN no notifier tells when the thread has a CPU. */
TEST(a_thread_sleeps_in_user_space, setup)
{
	comes_at(1000);
	m.task.sched_info.run_delay += 200;
	enters_at(2000);
	assert_parts(800, 200, 0);
}
