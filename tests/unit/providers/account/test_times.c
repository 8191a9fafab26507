// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of a vCPU's time by what KVM and the scheduler have counted at each reading. */
#include "providers/account/times.h"
#include "tests/unit/unit.h"

/* A reading, in ms; and what the parts are then. */
struct reading {
	uint64_t now, ran, waited, asleep, sleeps;
	bool is_idle;
	uint64_t halted, halts;
	uint64_t idle, block;
};

#define MS UINT64_C(1000000)

static void read_one(struct account_times *times, const struct reading *reading, uint32_t tid,
		     uint64_t parts[TIME_PARTS])
{
	struct account_head head = {
		.vcpu = 3, .tid = tid, .vm = 0xffff8000,
		.thread = { .now_ns = reading->now * MS, .ran_ns = reading->ran * MS,
			    .waited_ns = reading->waited * MS, .asleep_ns = reading->asleep * MS,
			    .sleeps = reading->sleeps, .is_idle = reading->is_idle },
	};
	struct account_halts halts = { reading->halted * MS, reading->halts };

	assert_true(account_times_read(times, &head, halts, parts));
}

static void expect(const struct reading *readings, size_t nr)
{
	struct account_times times = { NULL };
	uint64_t parts[TIME_PARTS], latest[TIME_PARTS] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		read_one(&times, &readings[i], 7, parts);
		assert_int_equal(parts[TIME_WHOLE], (readings[i].now - readings[0].now) * MS);
		assert_int_equal(parts[TIME_IDLE], readings[i].idle * MS);
		assert_int_equal(parts[TIME_BLOCK], readings[i].block * MS);
		for (int part = 0; part < TIME_PARTS; part++) {
			assert_true(parts[part] >= latest[part]);
			latest[part] = parts[part];
		}
		account_times_sweep(&times);
	}
	account_times_release(&times);
}

#define EXPECT(readings) expect((readings), sizeof(readings) / sizeof((readings)[0]))

TEST(a_guest_that_sleeps_since_long_ago_is_idle)
{
	static const struct reading readings[] = {
		{ .now = 9000, .ran = 500, .asleep = 4000, .sleeps = 20, .is_idle = true,
		  .halted = 300, .halts = 19 },
		{ .now = 10000, .ran = 500, .asleep = 5000, .sleeps = 20, .is_idle = true,
		  .halted = 300, .halts = 19, .idle = 1000 },
		/* The halt ends, which KVM counts as a whole; and another one is not over. */
		{ .now = 11000, .ran = 510, .asleep = 290, .sleeps = 21, .is_idle = true,
		  .halted = 300 + 5700, .halts = 20, .idle = 1990 },
	};

	EXPECT(readings);
}

/* KVM counts no halt where a vCPU waits for the interrupt that starts it. */
TEST(a_vcpu_that_is_started_was_idle)
{
	static const struct reading readings[] = {
		{ .now = 1000, .asleep = 100, .sleeps = 1, .is_idle = true },
		{ .now = 2000, .asleep = 1100, .sleeps = 1, .is_idle = true, .idle = 1000 },
		{ .now = 3000, .ran = 1000, .sleeps = 1, .idle = 1000 },
	};

	EXPECT(readings);
}

TEST(other_sleep_is_blocked)
{
	static const struct reading readings[] = {
		{ .now = 1000 },
		/* 100 ms each: on a CPU, waiting, in halts; 5 ms of the waits are in KVM's sum. */
		{ .now = 2000, .ran = 100, .waited = 100, .sleeps = 12, .halted = 105, .halts = 4,
		  .idle = 105, .block = 695 },
		/* Asleep in the VMM since 900 ms. */
		{ .now = 3000, .ran = 200, .waited = 100, .asleep = 900, .sleeps = 13,
		  .halted = 105, .halts = 4, .idle = 105, .block = 1595 },
		/* And ever since. */
		{ .now = 4000, .ran = 200, .waited = 100, .asleep = 1900, .sleeps = 13,
		  .halted = 105, .halts = 4, .idle = 105, .block = 2595 },
	};

	EXPECT(readings);
}

/* Interrupts of the host took 30 ms, which the scheduler does not count. */
TEST(what_is_counted_nowhere_is_no_sleep)
{
	static const struct reading readings[] = {
		{ .now = 1000 },
		{ .now = 2000, .ran = 970 },
		{ .now = 3000, .ran = 1470, .sleeps = 3, .halted = 470, .halts = 3, .idle = 470 },
		{ .now = 4000, .ran = 1570, .asleep = 800, .sleeps = 4, .halted = 470, .halts = 3,
		  .idle = 470, .block = 900 },
	};

	EXPECT(readings);
}

/* Waiting after each wake-up is in KVM's sum of halts; Block% is not below 0. */
TEST(waits_after_halts_are_not_idle)
{
	static const struct reading readings[] = {
		{ .now = 1000 },
		{ .now = 2000, .ran = 200, .waited = 300, .sleeps = 9, .halted = 800, .halts = 9,
		  .idle = 500 },
	};

	EXPECT(readings);
}

TEST(another_thread_begins_anew)
{
	static const struct reading first = { .now = 1000, .ran = 900, .sleeps = 5 };
	static const struct reading second = { .now = 2000, .ran = 10, .halted = 50, .halts = 1 };
	struct account_times times = { NULL };
	uint64_t parts[TIME_PARTS];

	read_one(&times, &first, 7, parts);
	read_one(&times, &second, 8, parts);
	assert_int_equal(parts[TIME_WHOLE], 0);
	assert_int_equal(parts[TIME_IDLE], 0);
	account_times_release(&times);
}

TEST(unknown_threads_have_no_times)
{
	struct account_times times = { NULL };
	struct account_head head = { .vcpu = 0, .tid = 7 };
	uint64_t parts[TIME_PARTS];

	assert_false(account_times_read(&times, &head, (struct account_halts){ 0, 0 }, parts));
	assert_null(times.vcpus);
}

TEST(vcpus_that_are_gone_are_forgotten)
{
	static const struct reading reading = { .now = 1000 };
	struct account_times times = { NULL };
	uint64_t parts[TIME_PARTS];

	read_one(&times, &reading, 7, parts);
	account_times_sweep(&times);
	assert_non_null(times.vcpus);
	account_times_sweep(&times);
	assert_null(times.vcpus);
}
