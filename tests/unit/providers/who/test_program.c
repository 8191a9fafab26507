// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs of the provider "who" in this kernel, without KVM: a thread of the test stands for a
 * vCPU's, and waits for a CPU that others have. What they are charged with is compared with the
 * kernel's own sum of its waits. Skipped where the kernel allows us no programs.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "providers/who/program.h"
#include "tests/unit/unit.h"

#define RUNS   40 /* that the first of them has of the CPU */
#define RUN_NS 2000000

/* A thread that computes on the last CPU, or sleeps. */
struct worker {
	pthread_t thread;
	sem_t go_on;
	atomic_int tid, is_held, is_ended;
};

struct waits {
	struct who_bpf *bpf;
	struct worker vcpus[2];
	uint64_t delay_ns; /* the kernel's sum of the first vCPU's waits as it began */
	struct charged {
		uint64_t ns, all_ns, nr; /* of the sought thread, of all; pairs with time */
		uint32_t tid;		 /* of the vCPU that waited */
		enum who_kind kind;
		const char *thread;
		_Atomic(uint32_t) ran_tid;
		uint32_t ran_pid;
	} charged;
};

/* Of those that we may use. */
static int last_cpu;

/* Whether threads may be the first on it, which cmocka cannot be told from within them. */
static bool find_last_cpu(void)
{
	const struct sched_param first = { .sched_priority = 10 }, usual = { 0 };
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &first) < 0)
		return false;
	sched_setscheduler(0, SCHED_OTHER, &usual);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		last_cpu = CPU_ISSET(cpu, &set) ? cpu : last_cpu;
	return true;
}

static void be_on_last_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(last_cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *compute(void *arg)
{
	struct worker *worker = arg;

	be_on_last_cpu();
	atomic_store(&worker->tid, (int)syscall(SYS_gettid));
	while (!atomic_load(&worker->is_ended)) {
		if (atomic_load(&worker->is_held))
			sem_wait(&worker->go_on);
	}
	return NULL;
}

static bool sleeps(int tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state == 'S';
}

static void hold(struct worker *worker)
{
	atomic_store(&worker->is_held, 1);
	while (!sleeps(atomic_load(&worker->tid)))
		usleep(1000);
}

static void begin_worker(struct worker *worker)
{
	*worker = (struct worker){ .is_held = 1 };
	sem_init(&worker->go_on, 0, 0);
	assert_int_equal(pthread_create(&worker->thread, NULL, compute, worker), 0);
	while (!atomic_load(&worker->tid))
		sched_yield();
	hold(worker);
}

static void go_on(struct worker *worker)
{
	atomic_store(&worker->is_held, 0);
	sem_post(&worker->go_on);
}

static void end_worker(struct worker *worker)
{
	atomic_store(&worker->is_ended, 1);
	sem_post(&worker->go_on);
	pthread_join(worker->thread, NULL);
}

/* The kernel's sum of the waits of a thread, which does not wait now. */
static uint64_t run_delay_ns(int tid)
{
	char path[64];
	uint64_t ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %" SCNu64, &ns), 1);
	fclose(file);
	return ns;
}

/* False, and said: the kernel allows it not. */
static bool begin_waits(struct waits *waits, size_t nr)
{
	struct error error = { "" };

	*waits = (struct waits){ 0 };
	if (!find_last_cpu()) {
		print_message("no thread may have a priority here\n");
		return false;
	}
	/* First: earlier waits of threads that are younger than the programs would count, too. */
	for (size_t i = 0; i < nr; i++)
		begin_worker(&waits->vcpus[i]);
	if (who_bpf_open(&waits->bpf, &error) < 0) {
		print_message("%s\n", error.text);
		for (size_t i = 0; i < nr; i++)
			end_worker(&waits->vcpus[i]);
		return false;
	}
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(who_bpf_add_vcpu(waits->bpf, waits->vcpus[i].tid, (uint32_t)i), 0);
	waits->charged.tid = (uint32_t)waits->vcpus[0].tid;
	waits->delay_ns = run_delay_ns(waits->vcpus[0].tid);
	for (size_t i = 0; i < nr; i++)
		go_on(&waits->vcpus[i]);
	return true;
}

static void take(void *arg, const struct who_time *time, uint64_t count, uint64_t ns,
		 uint32_t *field)
{
	struct charged *charged = arg;

	*field = 0;
	if (time->tid != charged->tid)
		return;
	assert_true(count > 0);
	charged->nr++;
	charged->all_ns += ns;
	if (time->kind == charged->kind && time->ran_tid == charged->ran_tid &&
	    time->ran_pid == charged->ran_pid &&
	    (!charged->thread || !strcmp(time->thread, charged->thread)))
		charged->ns += ns;
}

static void assert_within(uint64_t ns, uint64_t expected_ns, double share)
{
	double far = (double)ns - (double)expected_ns;

	if (far > share * (double)expected_ns || -far > share * (double)expected_ns)
		fail_msg("%" PRIu64 " ns, expected %" PRIu64, ns, expected_ns);
}

/* What was charged is what the kernel counted; ends the threads that waited. */
static void end_waits(struct waits *waits, size_t nr)
{
	const struct who_record *record = who_bpf_record(waits->bpf, 0);
	uint64_t ns, seen_ns;

	for (size_t i = 0; i < nr; i++)
		hold(&waits->vcpus[i]);
	ns = run_delay_ns(waits->vcpus[0].tid) - waits->delay_ns;
	who_bpf_take(waits->bpf, take, &waits->charged);
	seen_ns = record->seen_ns - record->first_ns;
	for (size_t i = 0; i < nr; i++)
		end_worker(&waits->vcpus[i]);
	assert_int_equal(who_bpf_lost_ns(waits->bpf), 0);
	assert_within(waits->charged.all_ns, ns, 0.01);
	assert_int_equal(waits->charged.all_ns, seen_ns);
	who_bpf_close(waits->bpf);
}

/* ---- what has the CPU meanwhile */

static void be_first(void)
{
	const struct sched_param first = { .sched_priority = 10 };

	be_on_last_cpu();
	sched_setscheduler(0, SCHED_FIFO, &first);
}

static void *run_first(void *arg)
{
	struct charged *charged = arg;

	atomic_store(&charged->ran_tid, (uint32_t)syscall(SYS_gettid));
	be_first();
	prctl(PR_SET_NAME, "culprit");
	for (int i = 0; i < RUNS; i++) {
		uint64_t end_ns = clock_now_ns() + RUN_NS;

		while (clock_now_ns() < end_ns)
			;
		usleep(RUN_NS / 1000);
	}
	return arg;
}

static void blame_culprit(enum who_kind kind)
{
	struct waits waits;
	pthread_t culprit;

	if (!begin_waits(&waits, 1))
		skip();
	waits.charged.kind = kind;
	waits.charged.thread = "culprit";
	waits.charged.ran_pid = (uint32_t)getpid();
	if (kind == WHO_VMM)
		assert_int_equal(who_bpf_add_vmm(waits.bpf, getpid()), 0);
	assert_int_equal(pthread_create(&culprit, NULL, run_first, &waits.charged), 0);
	pthread_join(culprit, NULL);
	end_waits(&waits, 1);
	assert_true(waits.charged.ns > UINT64_C(9) * RUNS * RUN_NS / 10);
}

TEST(a_process_is_charged)
{
	blame_culprit(WHO_PROCESS);
}

TEST(a_thread_of_a_vmm_is_charged)
{
	blame_culprit(WHO_VMM);
}

TEST(two_vcpus_blame_each_other)
{
	struct waits waits;

	if (!begin_waits(&waits, 2))
		skip();
	waits.charged.kind = WHO_VCPU;
	waits.charged.ran_tid = (uint32_t)waits.vcpus[1].tid;
	waits.charged.ran_pid = (uint32_t)getpid();
	for (int i = 0; i < 200 && waits.charged.ns < 50000000; i++) {
		usleep(100000);
		who_bpf_take(waits.bpf, take, &waits.charged);
	}
	end_waits(&waits, 2);
	assert_true(waits.charged.ns >= 50000000);
}

/* ---- more names than there are places */

#define NAMES		40000
#define NAMES_A_READING 1000

static void *have_many_names(void *arg)
{
	struct waits *waits = arg;
	char name[16];

	be_first();
	for (int i = 1; i <= NAMES; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		prctl(PR_SET_NAME, name);
		usleep(30); /* the vCPU runs */
		if (i % NAMES_A_READING == 0)
			who_bpf_take(waits->bpf, take, &waits->charged);
	}
	return NULL;
}

TEST(places_are_used_again)
{
	struct waits waits;
	pthread_t culprit;

	if (!begin_waits(&waits, 1))
		skip();
	assert_int_equal(pthread_create(&culprit, NULL, have_many_names, &waits), 0);
	pthread_join(culprit, NULL);
	end_waits(&waits, 1);
	assert_true(waits.charged.nr > WHO_TIMES);
}

/* ---- threads that come and go */

TEST(many_threads_are_known)
{
	struct error error = { "" };
	struct who_bpf *bpf;

	if (who_bpf_open(&bpf, &error) < 0)
		skip();
	for (pid_t round = 0; round < 10; round++) {
		for (pid_t i = 0; i < WHO_VCPUS; i++)
			assert_int_equal(who_bpf_add_vcpu(bpf, 1000 * round + i + 1, (uint32_t)i),
					 0);
		assert_int_equal(who_bpf_add_vmm(bpf, 1000 * round + 1), 0); /* runs a vCPU, too */
		for (pid_t i = 0; i < WHO_VCPUS; i++)
			who_bpf_remove(bpf, 1000 * round + i + 1);
	}
	who_bpf_close(bpf);
}
