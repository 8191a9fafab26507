// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine bpf in this kernel, without KVM: a thread changes its name, which is an event, while
 * room for more threads is made. Skipped where the kernel allows us no programs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "host/env.h"
#include "lib/array.h"
#include "lib/xalloc.h"
#include "providers/tracepoint/bpf_programs.h"
#include "providers/tracepoint/counters_shared.h"
#include "providers/tracepoint/engine.h"
#include "tests/unit/unit.h"

#define NO_TID 100000000 /* the first of the numbers that no thread has */
#define MOST (COUNTERS_CHUNK * COUNTERS_CHUNKS)

enum { OTHERS = 1, OURS }; /* guests */

static char event[] = "task_rename";

struct world {
	struct env env;
	struct provider_args args;
	struct fields *fields;
	struct counter counter;
	struct field_set wanted;
	uint64_t seen; /* by another provider's programs; UINT64_MAX: they do not run */
	void *engine; /* NULL: not allowed */
	struct error error;
};

static bool find_count(void *monitor, const char *name, uint64_t *ret_count)
{
	const struct world *world = monitor;

	assert_string_equal(name, event);
	*ret_count = world->seen;
	return world->seen != UINT64_MAX;
}

static int setup(void **state)
{
	struct world *world = xcalloc(1, sizeof(*world));

	*state = world;
	world->seen = UINT64_MAX;
	world->args = (struct provider_args){ .env = &world->env, .find_count = find_count,
					      .monitor = world };
	world->fields = fields_new();
	world->counter = (struct counter){ .event = event, .name = event };
	world->counter.field = fields_add(world->fields,
					  &(struct field){ .name = event, .parent = FIELD_NONE,
							   .use = USE_EVENT });
	field_set_add(&world->wanted, world->counter.field);
	if (env_init(&world->env, "", &world->error) < 0 ||
	    bpf_engine.probe(&world->env, &world->error) < 0 ||
	    bpf_engine.open(&world->args, &world->counter, 1, &world->engine, &world->error) < 0)
		print_message("%s\n", world->error.text);
	else
		bpf_engine.want(world->engine, &world->wanted);
	world->error.text[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	bpf_engine.close(world->engine);
	env_release(&world->env);
	field_set_release(&world->wanted);
	fields_free(world->fields);
	free(world);
	return 0;
}

/* tid: a thread of our guest; 0: none. And so many others, which do not exist. */
static void count_in(const struct world *world, pid_t tid, size_t others)
{
	struct target *targets = xcalloc(others + 1, sizeof(*targets));
	size_t nr = 0;

	if (tid)
		targets[nr++] = (struct target){ true, tid, OURS };
	for (size_t i = 0; i < others; i++)
		targets[nr++] = (struct target){ true, NO_TID + (int)i, OTHERS };
	assert_int_equal(bpf_engine.retarget(world->engine, targets, nr, ENGINE_KEEP_NONE), 0);
	free(targets);
}

static uint64_t read_of(struct world *world, uint32_t guest)
{
	struct sample sample = { 0 };
	uint64_t time_ns, count = 0;

	assert_int_equal(bpf_engine.read(world->engine, &sample, &time_ns, &world->error), 0);
	for (size_t i = 0; i < sample.nr_rows; i++)
		count += sample.rows[i].key.guest == guest ? sample.rows[i].count : 0;
	sample_release(&sample);
	return count;
}

static uint64_t read_count(struct world *world)
{
	return read_of(world, OURS);
}

struct renamer {
	pthread_t thread;
	atomic_int tid, must_begin, must_end;
	uint64_t nr; /* how often it has had another name */
};

static void *be_renamed(void *arg)
{
	struct renamer *renamer = arg;

	atomic_store(&renamer->tid, (int)syscall(SYS_gettid));
	while (!atomic_load(&renamer->must_begin))
		usleep(1000);
	while (!atomic_load(&renamer->must_end)) {
		prctl(PR_SET_NAME, "renamed");
		renamer->nr++;
	}
	return NULL;
}

TEST(room_is_made_while_events_are_counted, setup, teardown)
{
	static const size_t others[] = { 2 * COUNTERS_CHUNK, 3 * COUNTERS_CHUNK, 2000 };
	struct renamer renamer = { .nr = 0 };
	struct world *world = *state;

	if (!world->engine)
		skip();
	assert_int_equal(pthread_create(&renamer.thread, NULL, be_renamed, &renamer), 0);
	while (!atomic_load(&renamer.tid))
		usleep(1000);
	count_in(world, 0, 1);
	count_in(world, 0, COUNTERS_CHUNK); /* our thread is in the second chunk */
	count_in(world, atomic_load(&renamer.tid), COUNTERS_CHUNK);
	atomic_store(&renamer.must_begin, 1);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		usleep(20000);
		count_in(world, atomic_load(&renamer.tid), others[i]);
		assert_true(read_count(world) > 0);
	}
	atomic_store(&renamer.must_end, 1);
	pthread_join(renamer.thread, NULL);
	assert_int_equal(read_count(world), renamer.nr);
	assert_string_equal(world->error.text, "");
}

static void count_on_cpus(const struct world *world)
{
	int nr = get_nprocs_conf();
	struct target *cpus = xcalloc((size_t)nr, sizeof(*cpus));

	for (int i = 0; i < nr; i++)
		cpus[i] = (struct target){ false, i, GUEST_NONE };
	assert_int_equal(bpf_engine.retarget(world->engine, cpus, (size_t)nr, ENGINE_KEEP_NONE), 0);
	free(cpus);
}

/* On all CPUs: our program, theirs, theirs that were loaded again, and ours once more. */
TEST(what_others_count_has_no_program, setup, teardown)
{
	struct world *world = *state;
	struct programs programs = { 0 };
	uint64_t count, others = 0;

	if (!world->engine)
		skip();
	count_on_cpus(world);
	prctl(PR_SET_NAME, "one");
	count = read_of(world, GUEST_NONE);
	assert_true(count >= 1);

	world->seen = 1000;
	others = read_of(world, GUEST_NONE) - count; /* of the whole machine */
	bpf_engine.programs(world->engine, &programs);
	assert_int_equal(programs.nr, 0);
	world->seen = 1030;
	prctl(PR_SET_NAME, "two");
	assert_int_equal(read_of(world, GUEST_NONE), count + others + 30);
	world->seen = 5;
	assert_int_equal(read_of(world, GUEST_NONE), count + others + 35);

	world->seen = UINT64_MAX;
	assert_int_equal(read_of(world, GUEST_NONE), count + others + 35);
	prctl(PR_SET_NAME, "three");
	assert_true(read_of(world, GUEST_NONE) > count + others + 35);
	bpf_engine.programs(world->engine, &programs);
	assert_int_equal(programs.nr, 1);
	free(programs.list);
}

TEST(an_event_that_does_not_come_back_is_said, setup, teardown)
{
	struct rlimit limit, none;
	struct world *world = *state;

	if (!world->engine)
		skip();
	count_on_cpus(world);
	world->seen = 1000;
	read_of(world, GUEST_NONE);
	assert_string_equal(world->error.text, "");

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	world->seen = UINT64_MAX;
	assert_int_equal(read_of(world, GUEST_NONE), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_non_null(strstr(world->error.text, "1 events not counted"));

	/* With the next want it is tried again. */
	world->error.text[0] = '\0';
	bpf_engine.want(world->engine, &world->wanted);
	prctl(PR_SET_NAME, "four");
	assert_true(read_of(world, GUEST_NONE) > 0);
	assert_string_equal(world->error.text, "");
}

/* Each split once, in the order of the counters; one that has no place is none for programs. */
TEST(the_splits_of_counters)
{
	static const struct split here = { .place = EXIT_IN_FIRST };
	static const struct split there = { .place = EXIT_IN_FIRST };
	static const struct split nowhere = { .place = EXIT_NOWHERE };
	const struct counter counters[] = { { .split = &there }, { .split = NULL },
					    { .split = &here }, { .split = &there },
					    { .split = &nowhere } };
	struct bpf_reasons reasons;

	assert_int_equal(bpf_reasons_find(&reasons, NULL, counters, 4), 0);
	assert_int_equal(reasons.nr, 2);
	assert_ptr_equal(reasons.splits[0], &there);
	assert_ptr_equal(reasons.splits[1], &here);
	assert_int_equal(bpf_reasons_find(&reasons, NULL, counters, 5), -ENOTSUP);
}

TEST(threads_beyond_the_limit_are_said, setup, teardown)
{
	struct world *world = *state;

	if (!world->engine)
		skip();
	count_in(world, 0, MOST);
	read_count(world);
	assert_string_equal(world->error.text, "");
	count_in(world, 0, MOST + 10);
	read_count(world);
	assert_string_equal(world->error.text, "the events of 10 threads are not counted: there "
			    "is room for 16384");
}
