/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_world - what the tests of the perf engine share: calls to count, threads that make them.
 *
 * What is counted are system calls that no other program makes. The engine is the one that
 * tests/unit/providers/tracepoint/played.c includes.
 */
#ifndef KVMTOP_TESTS_WORLDS_PERF_WORLD_H
#define KVMTOP_TESTS_WORLDS_PERF_WORLD_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/guests/guests.h"
#include "host/machine.h"
#include "lib/file.h"
#include "providers/tracepoint/engine.h"
#include "tests/unit/unit.h"

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define ABSENT UINT64_MAX /* as a count: there is no row */
#define PERF_COUNTERS_MAX 1400
#define TARGETS_MAX 64
#define NR_HORSES 3

/* ---- calls that no other program makes */

enum call { CALL_INTERVAL, CALL_IOPRIO, NR_CALLS };

static const char *const call_events[] = {
	[CALL_INTERVAL] = "syscalls/sys_enter_sched_rr_get_interval",
	[CALL_IOPRIO] = "syscalls/sys_enter_ioprio_get",
};

static const char any_event[] = "raw_syscalls/sys_enter";

static const long call_numbers[] = {
	[CALL_INTERVAL] = SYS_sched_rr_get_interval,
	[CALL_IOPRIO] = SYS_ioprio_get,
};

static inline void make_calls(enum call call, unsigned int n)
{
	struct timespec interval;

	for (; n; n--) {
		if (call == CALL_INTERVAL)
			syscall(SYS_sched_rr_get_interval, 0, &interval);
		else
			syscall(SYS_ioprio_get, 1 /* IOPRIO_WHO_PROCESS */, 0);
	}
}

/* A thread that makes calls on request. */
struct horse {
	pthread_t thread;
	pid_t tid;
	sem_t go, done;
	int cpu; /* where it must run; -1: anywhere */
	enum call call;
	unsigned int n; /* 0: end */
	atomic_bool is_enough; /* no more of them */
	bool is_alive;
};

static inline void *horse_main(void *arg)
{
	struct horse *horse = arg;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (horse->cpu >= 0) {
		CPU_SET((size_t)horse->cpu, &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
	}
	horse->tid = (pid_t)syscall(SYS_gettid);
	sem_post(&horse->done);
	for (;;) {
		sem_wait(&horse->go);
		if (!horse->n)
			return NULL;
		for (unsigned int n = horse->n; n && !atomic_load(&horse->is_enough); n--)
			make_calls(horse->call, 1);
		sem_post(&horse->done);
	}
}

static inline void horse_start(struct horse *horse, int cpu)
{
	horse->cpu = cpu;
	horse->is_alive = true;
	sem_init(&horse->go, 0, 0);
	sem_init(&horse->done, 0, 0);
	assert_int_equal(pthread_create(&horse->thread, NULL, horse_main, horse), 0);
	sem_wait(&horse->done);
}

static inline void horse_begin(struct horse *horse, enum call call, unsigned int n)
{
	horse->call = call;
	horse->n = n;
	atomic_store(&horse->is_enough, false);
	sem_post(&horse->go);
}

static inline void horse_work(struct horse *horse, enum call call, unsigned int n)
{
	horse_begin(horse, call, n);
	sem_wait(&horse->done);
}

static inline void horse_end(struct horse *horse)
{
	if (!horse->is_alive)
		return;
	horse->is_alive = false;
	atomic_store(&horse->is_enough, true);
	horse->n = 0;
	sem_post(&horse->go);
	pthread_join(horse->thread, NULL);
	sem_destroy(&horse->go);
	sem_destroy(&horse->done);
}

/* ---- of played.c */

/* From now on the engine's first CPU is offline; NULL: none is. */
void played_offline(const void *engine);

/* The groups of events that an engine has open. */
unsigned int played_groups(void *engine);

/* ---- the engine under test */

struct fixture {
	struct env env;
	struct counter counters[PERF_COUNTERS_MAX];
	uint32_t nr_counters;
	struct target targets[TARGETS_MAX];
	size_t nr_targets;
	struct field_set wanted;
	void *engine;
	struct sample sample;
	uint64_t time_ns;
	struct error error;
	unsigned int nr_fds; /* before the engine was opened */
	struct horse horses[NR_HORSES]; /* the teardown ends them */
	rlim_t *nr_needed; /* descriptors, as a child was told; shared with it */
};

static inline unsigned int count_fds(void)
{
	DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned int n = 0;

	assert_non_null(fds);
	while ((entry = readdir(fds)))
		n += entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(fds);
	closedir(fds);
	return n;
}

static inline uint64_t id_of(const struct fixture *f, const char *event)
{
	char path[256], text[32];

	snprintf(path, sizeof(path), "%s/events/%s/id", f->env.tracefs ? f->env.tracefs : "",
		 event);
	return read_small(path, text, sizeof(text)) < 0 ? 0 : strtoull(text, NULL, 10);
}

/* Skips the test where events cannot be counted, or these calls are no events. */
static inline void need_events(const struct fixture *f)
{
	struct error error = { "these system calls are no trace events here" };

	if (perf_engine.probe(&f->env, &error) == 0 && id_of(f, call_events[0]) &&
	    id_of(f, call_events[1]) && id_of(f, any_event))
		return;
	print_message("%s\n", f->env.tracefs ? error.text : "tracefs is not mounted");
	skip();
}

static inline int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.nr_fds = count_fds();
	played_offline(NULL);
	*state = &f;
	return env_init(&f.env, "", NULL);
}

/* No other program makes these calls, but this test may run twice: one after the other. */
static inline int wait_for_turn(void **state)
{
	struct env env;
	int fd = -1;

	(void)state;
	if (env_init(&env, "", NULL) == 0 && env.tracefs)
		fd = open(env.tracefs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX) < 0) /* held until we end */
		print_message("cannot lock tracefs: %m\n");
	env_release(&env);
	return 0;
}

/* Every test closes without waiting for anything first: that must work at any time. */
static inline int teardown(void **state)
{
	struct fixture *f = *state;

	perf_engine.close(f->engine);
	for (int i = 0; i < NR_HORSES; i++)
		horse_end(&f->horses[i]);
	for (uint32_t i = 0; i < f->nr_counters; i++)
		free(f->counters[i].filter);
	field_set_release(&f->wanted);
	sample_release(&f->sample);
	env_release(&f->env);
	if (count_fds() == f->nr_fds)
		return 0;
	print_error("%u descriptors before, %u after\n", f->nr_fds, count_fds());
	return -1;
}

static inline void add_counter(struct fixture *f, const char *event, const char *filter)
{
	f->counters[f->nr_counters] = (struct counter){
		.tracepoint_id = id_of(f, event),
		.filter = filter ? strdup(filter) : NULL,
		.name = event,
		.field = f->nr_counters,
	};
	f->nr_counters++;
}

static inline void add_plain(struct fixture *f, enum call call)
{
	add_counter(f, call_events[call], NULL);
}

static inline void add_child(struct fixture *f, enum call call)
{
	char filter[32];

	snprintf(filter, sizeof(filter), "id==%ld", call_numbers[call]);
	add_counter(f, any_event, filter);
}

static inline void open_engine(struct fixture *f)
{
	const struct provider_args args = { .env = &f->env };

	assert_int_equal(perf_engine.open(&args, f->counters, f->nr_counters, &f->engine,
					  &f->error), 0);
}

static inline void add_cpu(struct fixture *f, int cpu)
{
	if (f->nr_targets < TARGETS_MAX)
		f->targets[f->nr_targets++] = (struct target){ false, cpu, GUEST_NONE };
}

static inline void add_cpus(struct fixture *f)
{
	char list[CPUS_TEXT];
	struct cpus cpus;

	assert_true(env_read(&f->env, list, sizeof(list), CPUS_ONLINE) > 0);
	cpus = cpus_of(list);
	for (int cpu; (cpu = cpus_next(&cpus)) >= 0;)
		add_cpu(f, cpu);
}

static inline int compare(const void *a, const void *b)
{
	return target_compare(a, b);
}

static inline void add_thread(struct fixture *f, pid_t tid, uint32_t guest)
{
	f->targets[f->nr_targets++] = (struct target){ true, tid, guest };
	qsort(f->targets, f->nr_targets, sizeof(f->targets[0]), compare);
}

static inline void retarget(struct fixture *f, uint32_t keep)
{
	assert_int_equal(perf_engine.retarget(f->engine, f->targets, f->nr_targets, keep), 0);
}

static inline void target_host(struct fixture *f)
{
	f->nr_targets = 0;
	add_cpus(f);
	retarget(f, ENGINE_KEEP_NONE);
}

static inline void want_first(struct fixture *f, uint32_t nr)
{
	field_set_clear(&f->wanted);
	for (uint32_t i = 0; i < nr; i++)
		field_set_add(&f->wanted, i);
	perf_engine.want(f->engine, &f->wanted);
}

static inline void sleep_ms(long ms)
{
	struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

static inline void wait_ready(const struct fixture *f)
{
	for (int i = 0; i < 20000 && !perf_engine.is_ready(f->engine); i++)
		sleep_ms(1);
	assert_true(perf_engine.is_ready(f->engine));
}

/* Until all events that are not wanted any more are closed and this many are open. */
static inline void wait_events(const struct fixture *f, unsigned int nr)
{
	for (int i = 0; i < 4000; i++) {
		if (count_fds() == f->nr_fds + played_groups(f->engine) + nr)
			return;
		sleep_ms(5);
	}
	assert_int_equal(count_fds(), f->nr_fds + played_groups(f->engine) + nr);
}

static inline void read_sample(struct fixture *f)
{
	sample_reset(&f->sample);
	f->error.text[0] = '\0';
	assert_int_equal(perf_engine.read(f->engine, &f->sample, &f->time_ns, &f->error), 0);
}

static inline const struct row *row_of(const struct fixture *f, uint32_t guest, uint32_t field)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < f->sample.nr_rows; i++) {
		const struct row *row = &f->sample.rows[i];

		if (row->key.guest != guest || row->key.field != field)
			continue;
		assert_null(found); /* no key twice */
		found = row;
	}
	return found;
}

static inline uint64_t count_of(const struct fixture *f, uint32_t guest, uint32_t field)
{
	const struct row *row = row_of(f, guest, field);

	return row ? row->count : ABSENT;
}

static inline uint64_t read_count(struct fixture *f, uint32_t guest, uint32_t field)
{
	read_sample(f);
	return count_of(f, guest, field);
}

#endif
