// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF program of the provider "exits" in this kernel: what is asked of its map of arguments,
 * how often, and what is said where the kernel refuses. Some of libbpf's functions are ours here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "providers/bpf/bpf.h"
#include "providers/exits/program.h"
#include "providers/providers.h"
#include "tests/unit/unit.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

#define THREADS 4

/* What the map says and was told. */
static struct {
	bool is_ours; /* while this file's tests run: else the functions below are libbpf's */
	struct exits_argument_key keys[THREADS], deleted[THREADS];
	uint32_t nr_keys, nr_deleted;
	unsigned int nr_reads, nr_deletes, nr_tids;
	unsigned int nr_full; /* so many readings find no room */
	uint32_t gone; /* the record whose key the kernel has not, and stops at; 0: none */
	int err;
	uint64_t nr_missed;
} map;

/* Threads whose tid is forgotten. */
int bpf_map_delete_elem(int fd, const void *key)
{
	int (*delete)(int, const void *);

	*(void **)&delete = dlsym(RTLD_NEXT, "bpf_map_delete_elem");
	if (!map.is_ours)
		return delete(fd, key);
	map.nr_tids++;
	return 0;
}

int bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	int (*lookup)(int, void *, void *, void *, void *, __u32 *,
		      const struct bpf_map_batch_opts *);

	*(void **)&lookup = dlsym(RTLD_NEXT, "bpf_map_lookup_batch");
	if (!map.is_ours)
		return lookup(fd, in, out, keys, values, count, opts);
	map.nr_reads++;
	if (map.err)
		return map.err;
	if (map.nr_reads <= map.nr_full)
		return -ENOSPC;
	memcpy(keys, map.keys, map.nr_keys * sizeof(map.keys[0]));
	memset(values, 0, map.nr_keys * sizeof(struct exits_cell));
	*count = map.nr_keys;
	return -ENOENT; /* that was the last of them */
}

int bpf_map_delete_batch(int fd, const void *keys, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	int (*delete)(int, const void *, __u32 *, const struct bpf_map_batch_opts *);
	const struct exits_argument_key *key = keys;

	*(void **)&delete = dlsym(RTLD_NEXT, "bpf_map_delete_batch");
	if (!map.is_ours)
		return delete(fd, keys, count, opts);
	map.nr_deletes++;
	for (uint32_t i = 0; i < *count; i++) {
		if (key[i].thread == map.gone && map.gone) {
			*count = i;
			return -ENOENT;
		}
		map.deleted[map.nr_deleted++] = key[i];
	}
	return 0;
}

/* Made up: how often the kernel did not run a program. */
int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size)
{
	int (*get)(int, void *, __u32 *);
	struct bpf_prog_info *program = info;
	int err;

	*(void **)&get = dlsym(RTLD_NEXT, "bpf_obj_get_info_by_fd");
	err = get(fd, info, size);
	if (err || !map.is_ours)
		return err;
	if (strcmp(program->name, "on_userspace") == 0)
		program->recursion_misses = map.nr_missed * 3;
	else if (strcmp(program->name, "on_ioport") == 0)
		program->recursion_misses = map.nr_missed * 40;
	else if (strcmp(program->name, "on_entry") == 0) /* exits without a time are counted */
		program->recursion_misses = map.nr_missed * 500;
	return 0;
}

struct machine {
	struct env env;
	struct exits_bpf *bpf; /* NULL: BPF is not to be had */
};

/* One that every machine has the types for. */
static const struct split made_up = {
	.system = "kvm", .event = "kvm_exit", .entry_event = "kvm_entry", .place = EXIT_IN_SECOND,
};

static int setup(void **state)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	struct error error = { "" };
	struct exits_bpf_config config = {
		.env = &machine->env, .max_threads = THREADS, .has_arguments = true,
	};

	memset(&map, 0, sizeof(map));
	map.is_ours = true;
	assert_non_null(machine);
	*state = machine;
	assert_int_equal(env_init(&machine->env, "", &error), 0);
	if (!machine->env.tracefs || bpf_probe(&machine->env, &error) < 0) {
		print_message("BPF is not to be had here: %s\n", error.text);
		return 0;
	}
	if (trace_event_exists(&machine->env, "kvm", "kvm_exit"))
		config.exit = &made_up;
	if (exits_bpf_open(&config, &machine->bpf, &error) < 0)
		fail_msg("%s", error.text); /* it is our program, and not the machine */
	return 0;
}

static int teardown(void **state)
{
	struct machine *machine = *state;

	exits_bpf_close(machine->bpf);
	env_release(&machine->env);
	free(machine);
	return 0;
}

/* As if the program had given a record to a thread. */
static void make_thread(struct machine *machine, uint32_t number)
{
	struct exits_thread *thread = (struct exits_thread *)(uintptr_t)
		exits_bpf_thread(machine->bpf, number);

	thread->tid = 1000 + number;
	map.keys[map.nr_keys++] = (struct exits_argument_key){ .thread = number, .a = 0x3f8 };
}

TEST(test_threads_end_together, setup, teardown)
{
	struct machine *machine = *state;
	const uint32_t ended[] = { 0, 2 };
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	struct error error = { "" };

	if (!machine->bpf)
		skip();
	for (uint32_t i = 0; i < 3; i++)
		make_thread(machine, i);
	map.nr_deleted = 0;
	assert_int_equal(exits_bpf_arguments(machine->bpf, &keys, &cells, &error), 3);
	exits_bpf_end_sample(machine->bpf, ended, 2);
	assert_int_equal(map.nr_reads, 1); /* one for all of them, and for the sample */
	assert_int_equal(map.nr_deletes, 1);
	assert_int_equal(map.nr_deleted, 2);
	assert_int_equal(map.deleted[0].thread, 0);
	assert_int_equal(map.deleted[1].thread, 2);
	assert_int_equal(exits_bpf_thread(machine->bpf, 0)->tid, 0);
	assert_int_equal(exits_bpf_thread(machine->bpf, 1)->tid, 1001);
	exits_bpf_end_sample(machine->bpf, ended, 0);
	assert_int_equal(map.nr_deletes, 1);
}

/* The kernel stops at a key that is gone: the keys after it would be counted again. */
TEST(test_a_key_that_is_gone, setup, teardown)
{
	struct machine *machine = *state;
	const uint32_t ended[] = { 0, 1, 2, 3 };
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	struct error error = { "" };

	if (!machine->bpf)
		skip();
	for (uint32_t i = 0; i < 4; i++)
		make_thread(machine, i);
	map.gone = 1;
	assert_int_equal(exits_bpf_arguments(machine->bpf, &keys, &cells, &error), 4);
	exits_bpf_end_sample(machine->bpf, ended, 4);
	assert_int_equal(map.nr_deletes, 2);
	assert_int_equal(map.nr_deleted, 3);
	assert_int_equal(map.deleted[0].thread, 0);
	assert_int_equal(map.deleted[1].thread, 2);
	assert_int_equal(map.deleted[2].thread, 3);
}

/* Keys that come while it is read may leave no room for the last ones. */
TEST(test_full_for_a_moment, setup, teardown)
{
	struct machine *machine = *state;
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	struct error error = { "" };

	if (!machine->bpf)
		skip();
	make_thread(machine, 0);
	map.nr_full = 2;
	assert_int_equal(exits_bpf_arguments(machine->bpf, &keys, &cells, &error), 1);
	map.nr_reads = 0;
	map.nr_full = UINT32_MAX;
	assert_int_equal(exits_bpf_arguments(machine->bpf, &keys, &cells, &error), -ENOSPC);
}

/* A thread with too many arguments gets a new epoch; the old epoch's arguments are dropped. */
TEST(test_too_many_arguments, setup, teardown)
{
	struct machine *machine = *state;
	struct exits_thread *thread;
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	struct error error = { "" };

	if (!machine->bpf)
		skip();
	make_thread(machine, 0);
	make_thread(machine, 1);
	thread = (struct exits_thread *)(uintptr_t)exits_bpf_thread(machine->bpf, 1);
	thread->nr_arguments = EXITS_ARGUMENTS;
	assert_int_equal(exits_bpf_arguments(machine->bpf, &keys, &cells, &error), 2);
	assert_false(exits_bpf_is_over(machine->bpf, &keys[1]));
	exits_bpf_end_sample(machine->bpf, NULL, 0);
	assert_int_equal(map.nr_deletes, 0); /* the program may be counting it now */
	assert_int_equal(thread->nr_arguments, 0);
	assert_int_equal(exits_bpf_arguments(machine->bpf, &keys, &cells, &error), 2);
	assert_true(exits_bpf_is_over(machine->bpf, &keys[1]));
	exits_bpf_end_sample(machine->bpf, NULL, 0);
	assert_int_equal(map.nr_deleted, 1);
	assert_int_equal(map.deleted[0].thread, 1);
}

TEST(test_more_threads, setup, teardown)
{
	struct machine *machine = *state;
	struct error error = { "" };

	if (!machine->bpf)
		skip();
	assert_int_equal(machine->bpf->max_threads, THREADS);
	assert_int_equal(exits_bpf_add_threads(machine->bpf, &error), 0);
	assert_int_equal(exits_bpf_add_threads(machine->bpf, &error), 0);
	assert_int_equal(machine->bpf->max_threads, THREADS + 2 * EXITS_CHUNK);
	make_thread(machine, THREADS + EXITS_CHUNK);
	assert_int_equal(exits_bpf_thread(machine->bpf, THREADS)->tid, 0);
	assert_int_equal(exits_bpf_thread(machine->bpf, THREADS + EXITS_CHUNK)->tid,
			 1000 + THREADS + EXITS_CHUNK);
	exits_bpf_end_sample(machine->bpf, &(uint32_t){ THREADS + EXITS_CHUNK }, 1);
	assert_int_equal(exits_bpf_thread(machine->bpf, THREADS + EXITS_CHUNK)->tid, 0);
}

TEST(test_sleepers, setup, teardown)
{
	struct machine *machine = *state;
	struct exits_sleeper sleeper = { .tgid = 100, .tid = 101, .vcpu = 1, .since_ns = 5000,
					 .waited_ns = 7 };
	const volatile struct exits_thread *record;
	uint32_t number, other;

	if (!machine->bpf)
		skip();
	map.is_ours = false;
	assert_false(exits_bpf_has_record(machine->bpf, 101));
	assert_true(exits_bpf_add_sleeper(machine->bpf, &sleeper, &number));
	assert_true(exits_bpf_has_record(machine->bpf, 101));
	record = exits_bpf_thread(machine->bpf, number);
	assert_int_equal(record->tid, 101);
	assert_int_equal(record->number, number);
	assert_int_equal(record->at.away, EXITS_IDLES);
	assert_int_equal(record->at.away_since, 5000);
	assert_int_equal(record->delay_before, 7);
	assert_false(exits_bpf_add_sleeper(machine->bpf, &sleeper, &other)); /* it has one */
	assert_int_equal(exits_bpf_thread(machine->bpf, other)->tid, 0);
	sleeper.since_ns++; /* it sleeps again */
	exits_bpf_wake(machine->bpf, &sleeper, number);
	assert_int_equal(record->at.away_since, 5000);
	sleeper.since_ns--;
	exits_bpf_wake(machine->bpf, &sleeper, number);
	assert_int_equal(record->at.away_since, 0);
	exits_bpf_end_sample(machine->bpf, &number, 1);
	assert_true(exits_bpf_add_sleeper(machine->bpf, &sleeper, &number));
	for (sleeper.tid = 102; exits_bpf_add_sleeper(machine->bpf, &sleeper, &other);)
		sleeper.tid++;
	assert_int_equal(sleeper.tid - 101, THREADS); /* as many have room */
}

/* Threads are found by their tids, which are forgotten with them; not one that is another's now. */
TEST(test_tids_are_forgotten, setup, teardown)
{
	struct machine *machine = *state;
	const uint32_t ended[] = { 0, 1, 2 };
	int fd;

	if (!machine->bpf)
		skip();
	fd = bpf_map__fd(machine->bpf->program->maps.by_tid);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t tid = 1000 + i, number = i == 1 ? 4 : i + 1;

		make_thread(machine, i);
		assert_int_equal(bpf_map_update_elem(fd, &tid, &number, BPF_ANY), 0);
	}
	map.nr_tids = 0;
	exits_bpf_end_sample(machine->bpf, ended, 3);
	assert_int_equal(map.nr_tids, 2);
}

/* An event that this machine has not has no program. */
static uint64_t if_there(const struct machine *machine, const char *event, uint64_t misses)
{
	return trace_event_exists(&machine->env, "kvm", event) ? misses : 0;
}

TEST(test_missed, setup, teardown)
{
	struct machine *machine = *state;
	struct error error = { "" };

	if (!machine->bpf)
		skip();
	map.nr_missed = 1; /* before exits are counted */
	assert_int_equal(exits_bpf_attach(machine->bpf, &error), 0);
	assert_int_equal(exits_bpf_lost(machine->bpf).missed, 0);
	map.nr_missed = 2;
	assert_int_equal(exits_bpf_lost(machine->bpf).missed,
			 if_there(machine, "kvm_userspace_exit", 3) +
				 if_there(machine, "kvm_pio", 40));
}

/* More programs join the ones that count: what these have counted stays, arguments begin anew. */
TEST(test_change, setup, teardown)
{
	struct machine *machine = *state;
	struct exits_bpf_config config;
	struct exits_thread *thread;
	struct error error = { "" };

	if (!machine->bpf)
		skip();
	assert_int_equal(exits_bpf_attach(machine->bpf, &error), 0);
	thread = (struct exits_thread *)(uintptr_t)exits_bpf_thread(machine->bpf, 0);
	make_thread(machine, 0);
	thread->nr_arguments = 3;
	config = machine->bpf->config;
	for (int i = 0; i < 4; i++) { /* without arguments, with all, with long exits, as before */
		config.has_arguments = i % 2;
		config.has_long = i == 1 || i == 2;
		config.has_pcs = i == 1 && config.exit;
		config.stack_hz = i == 1 ? STACKS_HZ : 0;
		map.nr_missed = 5;
		thread->pc = 7; /* of an exit that is open, or as an earlier visit left it */
		thread->user_ns = 9;
		thread->at.sums.waited = 100;
		assert_int_equal(exits_bpf_change(machine->bpf, &config, &error), 0);
		assert_int_equal(thread->pc, i == 2 || i == 3 ? 7 : 0);
		assert_int_equal(thread->user_ns, i == 1 ? 0 : 9);
		assert_int_equal(thread->waited_before_ns, i == 0 ? 0 : 100);
		assert_int_equal(machine->bpf->arguments != NULL, i % 2);
		assert_int_equal(machine->bpf->stacks != NULL, i == 1);
		assert_int_equal(machine->bpf->ring != NULL, i == 1 || i == 2);
		assert_int_equal(exits_bpf_thread(machine->bpf, 0)->tid, 1000);
	}
	assert_int_equal(thread->nr_arguments, 0);
	assert_int_equal(thread->epoch, 1);
}

TEST(test_kernel_does_not_tell, setup, teardown)
{
	struct machine *machine = *state;
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	struct error error = { "" };

	if (!machine->bpf)
		skip();
	map.err = -EINVAL;
	assert_int_equal(exits_bpf_arguments(machine->bpf, &keys, &cells, &error), -EINVAL);
	assert_string_equal(error.text,
			    "cannot read the arguments of exits from the kernel: Invalid argument");
}
