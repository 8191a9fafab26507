// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The account of this kernel, of real VMs in processes of their own: what it counts and reports,
 * and what happens when it cannot be read. Cases that need KVM and BPF are skipped where these are
 * not there.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "providers/account/account.h"
#include "tests/unit/providers/account/bench.h"
#include "tests/unit/unit.h"

static uint64_t value(const struct bench *bench, const char *name, int32_t vcpu, size_t *ret_nr)
{
	const struct guest *guest = guests_by_pid(bench->guests, bench->guest);
	uint32_t field = fields_find(bench->fields, name);
	uint64_t sum = 0;

	*ret_nr = 0;
	assert_non_null(guest);
	for (size_t i = 0; i < bench->sample.nr_rows; i++) {
		const struct row *row = &bench->sample.rows[i];

		if (row->key.guest != guest->id || row->key.vcpu != vcpu ||
		    row->key.field != field)
			continue;
		sum += row->count;
		(*ret_nr)++;
	}
	return sum;
}

/* ---- cases */

TEST(two_vms_in_a_process_add_up)
{
	struct bench bench;
	size_t nr;

	bench_begin(&bench, 2);
	assert_int_equal(bench_collect(&bench), 0);
	for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
		uint64_t exits = value(&bench, "exits", vcpu, &nr);

		assert_int_equal(nr, 1); /* no key twice */
#ifdef __x86_64__
		assert_int_equal(value(&bench, "halt_exits", vcpu, &nr), 2 * ROUNDS);
#endif
		assert_true(exits >= 2 * ROUNDS);
	}
	assert_int_equal(guests_by_pid(bench.guests, bench.guest)->nr_vms, 2);
	assert_int_equal(guests_by_pid(bench.guests, bench.guest)->nr_vcpus, 4);
	/* The second sample has each once, too. */
	assert_int_equal(bench_collect(&bench), 0);
	value(&bench, "exits", 1, &nr);
	assert_int_equal(nr, 1);
	bench_end(&bench);
}

/* Of the guest: what /proc and the names of threads tell without the kernel's word. */
static void compare_with_names(const struct bench *bench)
{
	const struct guest *guest = guests_by_pid(bench->guests, bench->guest), *other;
	struct guests *by_names = guests_new(&bench->env);
	struct error error = { "" };

	assert_int_equal(guests_refresh(by_names, clock_now_ns(), &error), 0);
	other = guests_by_pid(by_names, bench->guest);
	assert_non_null(other);
	assert_string_equal(guest->name, other->name);
	assert_int_equal(guest->nr_vcpus, other->nr_vcpus);
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		assert_int_equal(guest->vcpus[i].index, other->vcpus[i].index);
		assert_true(guest->vcpus[i].tid > guest->pid);
		assert_int_equal(guest->vcpus[i].tid, other->vcpus[i].tid);
	}
	guests_free(by_names);
}

TEST(the_kernel_and_names_agree)
{
	struct bench bench;

	bench_begin(&bench, 1);
	assert_int_equal(bench_collect(&bench), 0); /* no refresh before: the guest is found here */
	compare_with_names(&bench);
	assert_int_equal(guests_refresh(bench.guests, clock_now_ns(), &bench.error), 0);
	compare_with_names(&bench);
	bench_end(&bench);
}

TEST(heirs_of_descriptors_are_no_guests)
{
	struct bench bench;

	bench_begin(&bench, 1);
	assert_int_equal(bench_collect(&bench), 0);
	assert_int_equal(kill(latest_heir, 0), 0);
	assert_null(guests_by_pid(bench.guests, latest_heir));
	bench_end(&bench);
}

TEST(new_guests_are_found_at_once)
{
	struct bench bench;
	pid_t other;

	bench_begin(&bench, 1);
	for (int i = 0; i < 4; i++) /* the walks of the begin are over */
		assert_int_equal(bench_collect(&bench), 0);
	other = start_guest(1);
	assert_int_equal(bench_collect(&bench), 0);
	assert_non_null(guests_by_pid(bench.guests, other));
	stop_guest(other);
	assert_int_equal(bench_collect(&bench), 0);
	assert_null(guests_by_pid(bench.guests, other));
	bench_end(&bench);
}

/* The case of descriptors that are short. */
TEST(what_cannot_be_read_is_said)
{
	struct rlimit limit, few;
	struct bench bench;
	size_t nr;
	int err;

	bench_begin(&bench, 1);
	assert_int_equal(bench_collect(&bench), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ .rlim_cur = 3, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	err = bench_collect(&bench);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(err, -EAGAIN);
	assert_non_null(strstr(bench.error.text, "ulimit -n"));
	/* The guest has not ended because of that, and is read again. */
	assert_non_null(guests_by_pid(bench.guests, bench.guest));
	assert_int_equal(bench_collect(&bench), 0);
	value(&bench, "exits", 0, &nr);
	assert_int_equal(nr, 1);
	bench_end(&bench);
}

TEST(guests_end_while_they_are_read)
{
	struct bench bench;

	bench_begin(&bench, 1);
	for (unsigned int i = 0; i < 20; i++) {
		struct timespec pause = { .tv_nsec = (long)i * 50000 };
		pid_t other = start_guest(1), killer;

		assert_int_equal(bench_collect(&bench), 0);
		assert_non_null(guests_by_pid(bench.guests, other));
		killer = fork();
		if (killer == 0) {
			nanosleep(&pause, NULL);
			kill(other, SIGKILL);
			_exit(0);
		}
		for (int k = 0; k < 10; k++)
			assert_int_equal(bench_collect(&bench), 0);
		waitpid(killer, NULL, 0);
		waitpid(other, NULL, 0);
		assert_int_equal(bench_collect(&bench), 0);
		assert_null(guests_by_pid(bench.guests, other));
	}
	bench_end(&bench);
}

/* ---- histograms */

TEST(histograms_of_halts_are_durations)
{
	struct account_layout layout = { 0 };
	struct timing timing = { 0 };
	uint64_t bytes[40] = { 0 };

	account_layout_add(&layout, "halt_wait_hist", 8, 32);
	account_layout_add(&layout, "halt_wait_ns", 0, 1);
	account_layout_add(&layout, "other_hist", 264, 4); /* nothing has its sum */
	account_layout_add(&layout, "too_long", 4000, 32);
	account_layout_end(&layout);
	assert_int_equal(layout.nr, 3);
	assert_true(layout.counters[0].has_durations);
	assert_int_equal(layout.counters[0].sum_at, 0);
	assert_false(layout.counters[2].has_durations);

	bytes[0] = 5000;
	bytes[1 + 3] = 2;   /* below 8 ns */
	bytes[1 + 7] = 1;   /* 64 to 128 ns: the last that is in our first bucket */
	bytes[1 + 12] = 40; /* 2,048 to 4,096 ns */
	account_timing_add(&layout.counters[0], (const char *)bytes, &timing);
	assert_int_equal(timing.time_ns, 5000);
	assert_int_equal(timing.hist[0], 3);
	assert_int_equal(timing.hist[5], 40);
	assert_int_equal(hist_edge_ns(5), 4096);
	assert_int_equal(timing.max_ns, 4096);
	/* Of another VM; the last bucket is open. */
	bytes[1 + 31] = 1;
	account_timing_add(&layout.counters[0], (const char *)bytes, &timing);
	assert_int_equal(timing.time_ns, 10000);
	assert_int_equal(timing.hist[5], 80);
	assert_int_equal(timing.hist[24], 1);
	assert_int_equal(timing.max_ns, INT64_MAX);
	free(layout.counters);
}
