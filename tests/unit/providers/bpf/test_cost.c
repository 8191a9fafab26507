// SPDX-License-Identifier: GPL-2.0-or-later
/* What kvmtop takes of an exit, by run counts that are made up: the kernel's calls are here. */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "arch/arch.h"
#include "core/facts/shared_fields.h"
#include "core/facts/stats.h"
#include "providers/bpf/bpf.h"
#include "providers/providers.h"

#define SECOND UINT64_C(1000000000)

enum { EXIT_FD = 5000, ENTRY_FD, NR_PROGRAMS = 2 };

/* The kernel, as far as it is made up. */
static uint64_t ahead_ns; /* how much time has passed besides */
static unsigned int nr_windows, nr_sleeps;
static uint64_t exits_a_part, runs[NR_PROGRAMS], ns[NR_PROGRAMS];
static uint64_t stall_ns; /* of a program in each fifth part */

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has its own names */
int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	int err = (int)syscall(SYS_clock_gettime, id, ret_time);

	ret_time->tv_sec += (time_t)(ahead_ns / SECOND);
	return err;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has its own names */
int clock_nanosleep(clockid_t id, int flags, const struct timespec *end, struct timespec *rest)
{
	(void)id;
	(void)flags;
	(void)end;
	(void)rest;
	for (int i = 0; i < NR_PROGRAMS; i++) {
		runs[i] += exits_a_part;
		ns[i] += exits_a_part * (i == 0 ? 200 : 100);
	}
	if (nr_sleeps++ % 5 == 2)
		ns[0] += stall_ns;
	return 0;
}

int bpf_enable_stats(enum bpf_stats_type type)
{
	(void)type;
	nr_windows++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size)
{
	struct bpf_prog_info *program = info;

	(void)size;
	if (fd < EXIT_FD || fd >= EXIT_FD + NR_PROGRAMS)
		return -1;
	program->run_cnt = runs[fd - EXIT_FD];
	program->run_time_ns = ns[fd - EXIT_FD];
	return 0;
}

/* What the monitor has. */
struct world {
	struct env env;
	struct fields *fields;
	struct stats *stats;
	struct sample sample;
	struct provider_args args;
	uint32_t exits, exit_ns;
	void *state;
};

static void find_programs(void *monitor, struct programs *programs)
{
	(void)monitor;
	programs_add(programs, EXIT_FD, arch_userspace_split.event);
	programs_add(programs, ENTRY_FD, NULL);
}

static int set_up(void **state)
{
	static struct world world;
	struct error error = { "" };

	world = (struct world){ .fields = fields_new(), .stats = stats_new() };
	ahead_ns = nr_sleeps = 0;
	stall_ns = 0;
	exits_a_part = 100;
	*state = &world;
	assert_int_equal(env_init(&world.env, "", &error), 0);
	world.exits = fields_add(world.fields, &(struct field){ .name = "userspace",
								.parent = FIELD_NONE,
								.use = USE_EXIT, .exit_rank = 2 });
	world.args = (struct provider_args){
		.env = &world.env, .fields = world.fields, .stats = world.stats,
		.find_programs = find_programs, .source = PROVIDER_COST,
	};
	if (cost_provider.open(&world.args, &world.state, &error) < 0) {
		printf("SKIP: %s\n", error.text);
		return 0;
	}
	for (uint32_t i = 0; i < fields_count(world.fields); i++) {
		if (fields_get(world.fields, i)->part == HOST_COST &&
		    fields_get(world.fields, i)->use == USE_HOST)
			world.exit_ns = i;
	}
	nr_windows = 0;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	cost_provider.close(world->state);
	sample_release(&world->sample);
	stats_free(world->stats);
	fields_free(world->fields);
	env_release(&world->env);
	return 0;
}

static void want(struct world *world)
{
	struct want want = { .scope = WANT_EACH };
	struct error error = { "" };

	field_set_add(&want.fields, world->exit_ns);
	assert_int_equal(cost_provider.want(world->state, &want, &error), 0);
	field_set_release(&want.fields);
}

/* A sample, so many seconds later, in which one vCPU had so many exits. ns of an exit; 0: none. */
static uint64_t take(struct world *world, uint64_t seconds, uint64_t exits)
{
	static uint64_t all;
	struct error error = { "" };
	uint64_t result = 0;

	ahead_ns += seconds * SECOND;
	all += exits;
	sample_reset(&world->sample);
	if (cost_provider.collect(world->state, &world->sample, &error) == 0)
		result = world->sample.rows[0].count;
	assert_string_equal(error.text, "");
	sample_reset(&world->sample);
	sample_add(&world->sample, (struct key){ 1, 0, world->exits }, all, ROW_NEW);
	world->sample.time_ns[0] = ahead_ns + SECOND;
	stats_update(world->stats, world->fields, &world->sample);
	return result;
}

TEST(all_programs_of_an_exit, set_up, tear_down)
{
	struct world *world = *state;

	if (!world->state)
		skip();
	want(world);
	assert_int_equal(take(world, 1, 10), 300);
}

/* One stall of a CPU is in one part of a window. */
TEST(a_stall_is_no_cost, set_up, tear_down)
{
	struct world *world = *state;

	if (!world->state)
		skip();
	stall_ns = 5000000;
	want(world);
	assert_int_equal(take(world, 1, 10), 300);
}

/* Each window interrupts all CPUs: where the result does not matter, the first one serves. */
TEST(a_window_only_while_it_matters, set_up, tear_down)
{
	struct world *world = *state;

	if (!world->state)
		skip();
	want(world);
	for (int i = 0; i < 50; i++)
		assert_int_equal(take(world, 40, 40 * 10000), 300); /* 0.3 % of the vCPU's time */
	assert_int_equal(nr_windows, 1);
	for (int i = 0; i < 50; i++)
		take(world, 40, 40 * 100000);
	assert_int_equal(nr_windows, 1 + 49);
	take(world, 40, 10);
	want(world); /* other programs may run */
	for (int i = 0; i < 50; i++)
		take(world, 40, 10);
	assert_int_equal(nr_windows, 1 + 50 + 1);
}

/* With few exits there is no result; with many later, there is one. */
TEST(few_exits, set_up, tear_down)
{
	struct world *world = *state;

	if (!world->state)
		skip();
	exits_a_part = 0;
	want(world);
	for (int i = 0; i < 50; i++)
		assert_int_equal(take(world, 40, 10), 0);
	assert_int_equal(nr_windows, 6);
	take(world, 40, 40 * 10000);
	exits_a_part = 20;
	assert_int_equal(take(world, 40, 40 * 10000), 300);
}
