// SPDX-License-Identifier: GPL-2.0-or-later
/* Durations in the stats: intervals, totals, the longest, restarts, the ended, percentiles. */
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "tests/unit/unit.h"
#include "tests/worlds/stats_world.h"

enum { VMEXIT, VMEXIT_HLT, VMEXIT_MSR, TIME, KVM_EXIT, KVM_EXIT_HLT, NR_FIELDS };

static const struct field specs[] = {
	[VMEXIT] = { .name = "vmexit", .parent = FIELD_NONE, .use = USE_EXIT, .exit_rank = 1 },
	[VMEXIT_HLT] = { .name = "vmexit(HLT)", .parent = VMEXIT, .use = USE_EXIT },
	[VMEXIT_MSR] = { .name = "vmexit(MSR_WRITE)", .parent = VMEXIT, .use = USE_EXIT },
	[TIME] = { .name = "time", .parent = FIELD_NONE, .use = USE_TIME },
	[KVM_EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE },
	[KVM_EXIT_HLT] = { .name = "kvm_exit(HLT)", .parent = KVM_EXIT },
};

static int setup(void **state)
{
	return world_setup(state, specs, NR_FIELDS);
}

/* As a provider says it: everything since it began. */
static void add_timed(struct world *world, struct key key, const struct timing *timing,
		      uint32_t flags)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		count += timing->hist[i];
	sample_add_timed(&world->sample, key, count, flags, timing);
}

static void take(struct world *world)
{
	world->now_ns += SECOND;
	world->sample.time_ns[0] = world->now_ns;
	stats_update(world->stats, world->fields, &world->sample);
	sample_reset(&world->sample);
}

static void take_timed(struct world *world, const struct timing *timing)
{
	add_timed(world, (struct key){ 1, 0, VMEXIT_MSR }, timing, ROW_FROM_ZERO);
	take(world);
}

static const struct stats_item *get_key(const struct world *world, struct key key)
{
	for (size_t i = 0; i < world->stats->nr; i++) {
		const struct stats_item *stat = &world->stats->list[i];

		if (memcmp(&stat->key, &key, sizeof(key)) == 0)
			return stat;
	}
	fail_msg("no such key");
	abort(); /* analyzers do not see that fail_msg() never returns */
}

/* Its range is all that is not 0 in delta[], and no more. */
static const struct stats_timing *get(const struct world *world)
{
	const struct stats_item *stat = get_key(world, (struct key){ 1, 0, VMEXIT_MSR });
	const struct stats_timing *timing = stat->timing;
	unsigned int first = 0, end = HIST_BUCKETS;

	assert_non_null(timing);
	while (end && !timing->delta[end - 1])
		end--;
	while (first < end && !timing->delta[first])
		first++;
	assert_int_equal(timing->delta_end - timing->delta_first, end - first);
	if (end)
		assert_int_equal(timing->delta_first, first);
	return timing;
}

/* One more of so many ns, in the bucket where it belongs. */
static void hit(struct timing *timing, uint64_t ns)
{
	unsigned int bucket = 0;

	while (ns >= hist_edge_ns(bucket))
		bucket++;
	timing->hist[bucket]++;
	timing->time_ns += ns;
	if (ns > timing->max_ns)
		timing->max_ns = ns;
}

TEST(edges_of_buckets, setup, world_teardown)
{
	struct timing timing = { 0 };

	assert_int_equal(hist_edge_ns(0), 128);
	assert_int_equal(hist_edge_ns(3), 1024);
	assert_int_equal(hist_edge_ns(24), UINT64_C(1) << 31);
	assert_int_equal(hist_edge_ns(HIST_BUCKETS - 1), UINT64_MAX);
	hit(&timing, 127);
	hit(&timing, 128);
	hit(&timing, UINT64_C(1) << 31);
	assert_int_equal(timing.hist[0], 1);
	assert_int_equal(timing.hist[1], 1);
	assert_int_equal(timing.hist[HIST_BUCKETS - 1], 1);
}

TEST(intervals_and_totals, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };

	hit(&timing, 1000);
	hit(&timing, 3000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, 4000);
	hit(&timing, 1000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, 1000);
	assert_int_equal(get(world)->total_ns, 5000);
	assert_int_equal(get(world)->max_ns, 3000);
	assert_int_equal(get(world)->delta[3], 1);
	assert_int_equal(get(world)->delta[5], 0);
	assert_int_equal(get(world)->total[3], 2);
	assert_int_equal(get(world)->total[5], 1);
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, 0);
	assert_int_equal(get(world)->total_ns, 5000);
}

/* A long halt: its time is known before it is over, its bucket only then. */
TEST(one_that_is_not_over_has_time_only, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { .time_ns = SECOND };

	add_timed(world, (struct key){ 1, 0, VMEXIT_HLT }, &timing, ROW_FROM_ZERO);
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, SECOND);
	assert_int_equal(get(world)->max_ns, 0);
	timing.time_ns = 2 * SECOND;
	timing.max_ns = 2 * SECOND;
	timing.hist[24] = 1;
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, SECOND);
	assert_int_equal(get(world)->delta[24], 1);
	assert_int_equal(get(world)->max_ns, 2 * SECOND);
}

/* It has taken so long so far. */
static void goes_on(struct timing *timing, uint64_t ns)
{
	timing->time_ns += ns;
	timing->open_ns += ns;
}

/* What was open has ended, in the bucket where it belongs. */
static void ends(struct timing *timing, uint64_t ns)
{
	timing->time_ns -= timing->open_ns;
	timing->open_ns = 0;
	hit(timing, ns);
}

/* Time is counted as it passes; what ended has its whole time when it ended. */
TEST(time_is_charged_as_it_passes, setup, world_teardown)
{
	const struct key msr = { 1, 0, VMEXIT_MSR };
	struct world *world = *state;
	struct timing timing = { 0 };

	hit(&timing, 1000);
	take_timed(world, &timing);
	for (int i = 1; i <= 3; i++) {
		goes_on(&timing, SECOND);
		take_timed(world, &timing);
		assert_int_equal(get(world)->delta_ns, SECOND);
		assert_int_equal(get(world)->delta_ended_ns, 0);
		assert_int_equal(get(world)->open_ns, (uint64_t)i * SECOND);
		assert_int_equal(stats_open_ns(world->stats, fields_get(world->fields, msr.field),
					       get_key(world, msr)),
				 i > 1 ? (uint64_t)i * SECOND : 0); /* longer than the interval */
	}
	ends(&timing, 3 * SECOND + 500);
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, 500);
	assert_int_equal(get(world)->delta_ended_ns, 3 * SECOND + 500);
	assert_int_equal(get(world)->open_ns, 0);
	assert_int_equal(get(world)->total_ns, 3 * SECOND + 1500);
	assert_int_equal(get(world)->total_ended_ns, 3 * SECOND + 1500);
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns + get(world)->delta_ended_ns, 0);
}

/* What is open at a reset counts from then on; as something that ended, it counts as a whole. */
TEST(a_reset_while_something_is_open, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };

	goes_on(&timing, SECOND);
	take_timed(world, &timing);
	stats_reset(world->stats, world->fields);
	goes_on(&timing, SECOND / 2);
	take_timed(world, &timing);
	assert_int_equal(get(world)->total_ns, SECOND / 2);
	assert_int_equal(get(world)->total_ended_ns, 0);
	ends(&timing, 2 * SECOND);
	take_timed(world, &timing);
	assert_int_equal(get(world)->total_ns, SECOND);
	assert_int_equal(get(world)->total_ended_ns, 2 * SECOND);
}

/* A thread that ended within an exit: its time stays, and no average has it. */
TEST(what_never_ends_keeps_its_time, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };

	hit(&timing, 1000);
	take_timed(world, &timing);
	goes_on(&timing, SECOND);
	take_timed(world, &timing);
	timing.time_ns -= timing.open_ns;
	timing.open_ns = 0;
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, 0);
	assert_int_equal(get(world)->total_ns, SECOND + 1000);
	assert_int_equal(get(world)->total_ended_ns, 1000);
	assert_int_equal(get(world)->open_ns, 0);
	hit(&timing, 3000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, 3000);
	assert_int_equal(get(world)->delta_ended_ns, 3000);
}

TEST(sums_of_what_is_open, setup, world_teardown)
{
	struct stats_timing one = { .delta_ns = 5, .total_ns = 5 };
	struct stats_timing two = { .delta_ns = 9, .total_ns = 9,
				    .delta_ended_ns = 2, .total_ended_ns = 2 };
	struct timing_sum sum = { 0 }, all = { 0 };

	timing_sum_add(&sum, &two, false);
	timing_sum_add(&sum, &one, false);
	timing_sum_join(&all, &sum);
	assert_int_equal(all.delta_ns, 14);
	assert_int_equal(all.delta_ended_ns, 2);
	assert_int_equal(all.total_ended_ns, 2);
}

/* What had been counted before the first sample is no part of the total. */
TEST(history_is_left_out, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };

	hit(&timing, 1000000);
	add_timed(world, (struct key){ 1, 0, VMEXIT_MSR }, &timing, 0);
	take(world);
	assert_int_equal(get(world)->delta_ns + get(world)->total_ns + get(world)->max_ns, 0);
	hit(&timing, 1000);
	add_timed(world, (struct key){ 1, 0, VMEXIT_MSR }, &timing, 0);
	take(world);
	assert_int_equal(get(world)->delta_ns, 1000);
	assert_int_equal(get(world)->total_ns, 1000);
	assert_int_equal(get(world)->total[3], 1);
	/* Not longer than before: its bucket says how long it was at the most. */
	assert_int_equal(get(world)->max_ns, 1024);
}

/* Exact when it is longer than all before; else its bucket's edge, at most the longest before. */
TEST(the_longest_of_an_interval, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };
	struct timing_sum sum = { 0 };

	hit(&timing, 3000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->interval_max_ns, 3000);
	hit(&timing, 1000);
	hit(&timing, 100);
	take_timed(world, &timing);
	assert_int_equal(get(world)->interval_max_ns, 1024);
	timing_sum_add(&sum, get(world), false);
	assert_int_equal(sum.interval_max_ns, 1024);
	assert_int_equal(sum.max_ns, 3000);
	hit(&timing, 2900);
	take_timed(world, &timing);
	assert_int_equal(get(world)->interval_max_ns, 3000);
	hit(&timing, 3001);
	take_timed(world, &timing);
	assert_int_equal(get(world)->interval_max_ns, 3001);
	timing_sum_join(&sum, &(struct timing_sum){ .interval_max_ns = 1025 });
	assert_int_equal(sum.interval_max_ns, 1025);
	hit(&timing, 1);
	take_timed(world, &timing);
	assert_int_equal(get(world)->interval_max_ns, 128);
	/* A sample without the provider. */
	stats_update(world->stats, world->fields, &world->sample);
	assert_int_equal(get(world)->interval_max_ns, 0);
}

TEST(buckets_go_around, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { .time_ns = 1, .max_ns = 100, .hist[0] = UINT32_MAX - 1 };

	take_timed(world, &timing);
	for (int i = 0; i < 4; i++)
		hit(&timing, 100);
	assert_int_equal(timing.hist[0], 2);
	/* The count itself has 64 bits. */
	sample_add_timed(&world->sample, (struct key){ 1, 0, VMEXIT_MSR },
					  UINT64_C(0x100000002), 0, &timing);
	take(world);
	assert_int_equal(get(world)->delta[0], 4);
	assert_int_equal(get(world)->total[0], UINT64_C(0x100000002));
}

TEST(a_reset_begins_totals_and_the_longest, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };

	hit(&timing, 50000);
	take_timed(world, &timing);
	stats_reset(world->stats, world->fields);
	assert_int_equal(get(world)->total_ns + get(world)->max_ns + get(world)->total[9], 0);
	assert_int_equal(get(world)->delta_ns, 50000); /* the interval stays what it was */

	hit(&timing, 1000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->total_ns, 1000);
	assert_int_equal(get(world)->max_ns, 1024);
	hit(&timing, 70000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->max_ns, 70000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->max_ns, 70000);
	stats_reset(world->stats, world->fields);
	take_timed(world, &timing);
	assert_int_equal(get(world)->max_ns, 0);
	/* The bucket of the record: no longer than the record itself. */
	hit(&timing, 70000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->max_ns, 70000);
}

/* A vCPU's thread was replaced, and its counter began anew. */
TEST(a_restart_counts_on, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };

	for (int i = 0; i < 3; i++)
		hit(&timing, 2000);
	take_timed(world, &timing);
	timing = (struct timing){ 0 };
	hit(&timing, 1000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->delta_ns, 1000);
	assert_int_equal(get(world)->total_ns, 7000);
	assert_int_equal(get(world)->max_ns, 2000);
	assert_int_equal(get(world)->delta[3], 1);
	assert_int_equal(get(world)->delta[4], 0);
	assert_int_equal(get(world)->total[4], 3);
	hit(&timing, 9000);
	take_timed(world, &timing);
	assert_int_equal(get(world)->max_ns, 9000);
}

TEST(a_sample_without_the_source_rests, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };

	hit(&timing, 1000);
	take_timed(world, &timing);
	stats_update(world->stats, world->fields, &world->sample);
	assert_int_equal(get(world)->delta_ns + get(world)->delta[3], 0);
	assert_int_equal(get(world)->total_ns, 1000);
}

TEST(the_ended_keep_their_time, setup, world_teardown)
{
	struct world *world = *state;
	struct timing first = { 0 }, second = { 0 };
	const struct stats_item *ended;

	hit(&first, 1000);
	hit(&second, 5000);
	hit(&second, 1000);
	add_timed(world, (struct key){ 1, 0, VMEXIT_MSR }, &first, ROW_FROM_ZERO);
	add_timed(world, (struct key){ 1, 1, VMEXIT_MSR }, &second, ROW_FROM_ZERO);
	take(world);
	take(world);
	ended = get_key(world, (struct key){ STATS_ENDED, -1, VMEXIT_MSR });
	assert_int_equal(world->stats->nr, 1);
	assert_int_equal(ended->total, 3);
	assert_int_equal(ended->timing->total_ns, 7000);
	assert_int_equal(ended->timing->max_ns, 5000);
	assert_int_equal(ended->timing->total[3], 2);
	assert_int_equal(ended->timing->delta_ns + ended->timing->delta[3], 0);
}

/* It counts from the moment on that its vCPU does: nothing of its first interval may be lost. */
TEST(a_reason_that_comes_late_has_counted_all, setup, world_teardown)
{
	struct world *world = *state;
	struct key parent = { 1, 0, VMEXIT }, child = { 1, 0, VMEXIT_MSR };
	struct timing timing = { 0 };

	add_timed(world, parent, &timing, ROW_FROM_ZERO);
	take(world);
	hit(&timing, 1000);
	hit(&timing, 1000);
	add_timed(world, parent, &timing, ROW_NEW);
	add_timed(world, child, &timing, ROW_NEW);
	take(world);
	assert_int_equal(get_key(world, child)->total, 2);
	assert_int_equal(get_key(world, child)->delta, 2);
	assert_int_equal(get_key(world, child)->parent_before, 0);
	assert_true(get_key(world, child)->has_rate);
	assert_true(get_key(world, child)->rate_per_s > 1.99 &&
		    get_key(world, child)->rate_per_s < 2.01);
	assert_int_equal(get(world)->delta_ns, 2000);
}

/* Filtered counters are another matter: they are opened late, at an unknown time. */
TEST(a_child_that_is_opened_late_has_not, setup, world_teardown)
{
	struct world *world = *state;
	struct key parent = { 0, -1, KVM_EXIT }, child = { 0, -1, KVM_EXIT_HLT };

	sample_add(&world->sample, parent, 10, ROW_FROM_ZERO);
	take(world);
	sample_add(&world->sample, parent, 20, 0);
	sample_add(&world->sample, child, 4, ROW_FROM_ZERO);
	take(world);
	assert_int_equal(get_key(world, child)->total, 0);
	assert_int_equal(get_key(world, child)->parent_before, 20);
	assert_false(get_key(world, child)->has_rate);
}

TEST(rows_in_any_order, setup, world_teardown)
{
	struct world *world = *state;
	struct timing timing = { 0 };

	hit(&timing, 1000);
	for (int32_t sample = 0; sample < 6; sample++) {
		for (int32_t i = 0; i < 40; i++) {
			/* Forwards, backwards, every other one, and then the others again. */
			int32_t vcpu = sample % 2 ? 39 - i : i;

			if (sample == 3 && i % 2)
				continue;
			add_timed(world, (struct key){ 1, vcpu, VMEXIT_MSR }, &timing,
				  ROW_FROM_ZERO);
			add_timed(world, (struct key){ 1, vcpu, VMEXIT_HLT }, &timing,
				  ROW_FROM_ZERO);
		}
		take(world);
	}
	for (int32_t vcpu = 0; vcpu < 40; vcpu++) {
		const struct stats_item *stat = get_key(world, (struct key){ 1, vcpu, VMEXIT_MSR });

		assert_int_equal(stat->total, 1);
		assert_int_equal(stat->timing->total_ns, 1000);
	}
	assert_int_equal(get_key(world, (struct key){ STATS_ENDED, -1, VMEXIT_MSR })->total, 20);
}

TEST(sums, setup, world_teardown)
{
	struct world *world = *state;
	struct timing_sum sum = { 0 }, later = { 0 };
	struct timing first = { 0 }, second = { 0 };

	hit(&first, 1000);
	hit(&second, 5000);
	hit(&second, 1000);
	add_timed(world, (struct key){ 1, 0, VMEXIT_MSR }, &first, ROW_FROM_ZERO);
	add_timed(world, (struct key){ 1, 1, VMEXIT_MSR }, &second, ROW_FROM_ZERO);
	take(world);
	for (size_t i = 0; i < 2; i++) {
		timing_sum_add(&sum, world->stats->list[i].timing, true);
		timing_sum_add(&later, world->stats->list[i].timing, false);
	}
	assert_int_equal(sum.nr, 2);
	assert_int_equal(sum.total_ns, 7000);
	assert_int_equal(sum.delta_ns, 7000);
	assert_int_equal(sum.max_ns, 5000);
	assert_int_equal(sum.hist[3], 2);
	assert_int_equal(later.hist[3], 2);
	assert_int_equal(later.hist[6], 1);
	/* Nothing happens in the next interval. */
	take(world);
	later = (struct timing_sum){ 0 };
	sum = (struct timing_sum){ 0 };
	for (size_t i = 0; i < world->stats->nr; i++) {
		timing_sum_add(&sum, world->stats->list[i].timing, true);
		timing_sum_add(&later, world->stats->list[i].timing, false);
	}
	assert_int_equal(sum.hist[6], 1);
	assert_int_equal(later.hist[6], 0);
}

static uint64_t percentile(const uint64_t *hist, double share, uint64_t min_ns, uint64_t max_ns)
{
	return hist_percentile_ns(hist, share, (struct hist_known){ 0, min_ns, max_ns });
}

TEST(percentiles_are_interpolated, setup, world_teardown)
{
	uint64_t hist[HIST_BUCKETS] = { 0 };

	assert_int_equal(percentile(hist, 0.5, 0, 1000), 0);
	hist[3] = 4; /* 512 to 1024 ns */
	assert_int_equal(percentile(hist, 0.5, 0, 5000), 768);
	assert_int_equal(percentile(hist, 1, 0, 5000), 1024);
	hist[3] = 98;
	hist[5] = 1;
	hist[10] = 1;
	assert_int_equal(percentile(hist, 0.49, 0, SECOND), 768);
	assert_int_equal(percentile(hist, 0.98, 0, SECOND), 1024);
	assert_int_equal(percentile(hist, 0.99, 0, SECOND), 4096);
	assert_int_equal(percentile(hist, 0.995, 0, SECOND), 65536 + 32768);
	assert_int_equal(percentile(hist, 1, 0, SECOND), 131072);
	hist[0] = 900; /* less than 128 ns */
	assert_int_equal(percentile(hist, 0.45, 0, SECOND), 64);
}

/* What is known to be shorter or longer than all is no part of a bucket. */
TEST(percentiles_are_between_the_extremes, setup, world_teardown)
{
	uint64_t hist[HIST_BUCKETS] = { [3] = 4 };

	assert_int_equal(percentile(hist, 0.5, 0, 712), 612);
	assert_int_equal(percentile(hist, 1, 0, 712), 712);
	assert_int_equal(percentile(hist, 0.5, 700, 5000), 862);
	assert_int_equal(percentile(hist, 0.5, 700, 700), 700);
	/* A sample that was taken while a duration was added. */
	assert_int_equal(percentile(hist, 0.5, 0, 100), 100);
	assert_int_equal(percentile(hist, 0.5, 2000, 5000), 1024);
	/* One alone is exact where its time is known, and stays in its bucket. */
	hist[3] = 1;
	assert_int_equal(percentile(hist, 0.5, 0, 5000), 768);
	assert_int_equal(hist_percentile_ns(hist, 0.5, (struct hist_known){ 900, 0, 5000 }), 900);
	assert_int_equal(hist_percentile_ns(hist, 0.5, (struct hist_known){ 1100, 0, 5000 }), 1024);
	hist[3] = 4;
	/* The last bucket has no upper edge. */
	hist[HIST_BUCKETS - 1] = 4;
	assert_int_equal(percentile(hist, 0.75, 0, (UINT64_C(1) << 31) + 10 * SECOND),
			 (UINT64_C(1) << 31) + 5 * SECOND);
	assert_int_equal(percentile(hist, 1, 0, 9 * SECOND), 9 * SECOND);
}

/* 1000 durations from 1 to 16 us, each longer than the one before by the same factor. */
TEST(percentiles_are_right_within_6_percent, setup, world_teardown)
{
	uint64_t hist[HIST_BUCKETS] = { 0 };

	for (int i = 0; i < 1000; i++) {
		struct timing timing = { 0 };

		hit(&timing, (uint64_t)(1000 * pow(16, (i + 0.5) / 1000)));
		for (unsigned int bucket = 0; bucket < HIST_BUCKETS; bucket++)
			hist[bucket] += timing.hist[bucket];
	}
	for (int i = 1; i <= 100; i++) {
		double truth = 1000 * pow(16, i / 100.0);
		double said = (double)percentile(hist, i / 100.0, 1000, 16000);

		assert_true(fabs(said - truth) < 0.065 * truth);
	}
}

/* 1, 2 and 3 ns of one key, 11 and 13 ns of another: as five of one. */
TEST(a_spread_is_joined_exactly, setup, world_teardown)
{
	const struct spread few = { .count = 3, .total_ns = 6, .min_ns = 1, .max_ns = 3,
				    .base_ns = 2, .squares = 2 };
	const struct spread more = { .count = 2, .total_ns = 24, .min_ns = 11, .max_ns = 13,
				     .base_ns = 11, .squares = 4 };
	const struct key keys[] = { { 1, 0, VMEXIT_MSR }, { 1, 1, VMEXIT_MSR } };
	struct timing timing = { .time_ns = 6, .max_ns = 3, .hist = { 3 }, .spread = &few };
	struct world *world = *state;
	struct timing_sum sum = { 0 };

	add_timed(world, keys[0], &timing, ROW_FROM_ZERO);
	timing = (struct timing){ .time_ns = 24, .max_ns = 13, .hist = { 2 }, .spread = &more };
	add_timed(world, keys[1], &timing, ROW_FROM_ZERO);
	take(world);
	for (size_t i = 0; i < world->stats->nr; i++)
		timing_sum_add(&sum, world->stats->list[i].timing, false);
	assert_int_equal(sum.spread.count, 5);
	assert_int_equal(sum.spread.min_ns, 1);
	assert_int_equal(sum.spread.max_ns, 13);
	assert_int_equal(sum.spread.total_ns, 30);
	assert_true(fabs(spread_squares(&sum.spread) - (25 + 16 + 9 + 25 + 49)) < 1e-9);
}
