// SPDX-License-Identifier: GPL-2.0-or-later
/* Totals, deltas and rates out of hand-made samples. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "core/guests/guests.h"
#include "tests/unit/unit.h"
#include "tests/worlds/stats_world.h"

enum { EXIT, EXIT_HLT, EXIT_MSR, ENTRY, PAGES, PEAK, OTHER_SOURCE, NR_FIELDS };

static const struct field specs[] = {
	[EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE },
	[EXIT_HLT] = { .name = "kvm_exit(HLT)", .parent = EXIT },
	[EXIT_MSR] = { .name = "kvm_exit(MSR)", .parent = EXIT },
	[ENTRY] = { .name = "kvm_entry", .parent = FIELD_NONE },
	[PAGES] = { .name = "pages_4k", .parent = FIELD_NONE, .kind = FIELD_GAUGE },
	[PEAK] = { .name = "max_rmap", .parent = FIELD_NONE, .kind = FIELD_PEAK },
	[OTHER_SOURCE] = { .name = "exits", .parent = FIELD_NONE, .source = 1 },
};

static int setup(void **state)
{
	return world_setup(state, specs, NR_FIELDS);
}

static struct key key_of(uint32_t guest, uint32_t field)
{
	return (struct key){ .guest = guest, .vcpu = -1, .field = field };
}

static void add(struct world *world, uint32_t guest, uint32_t field, uint64_t count)
{
	sample_add(&world->sample, key_of(guest, field), count, 0);
}

static void add_new(struct world *world, uint32_t guest, uint32_t field, uint64_t count)
{
	struct key key = key_of(guest, field);

	sample_add(&world->sample, key, count, ROW_FROM_ZERO);
}

/* Both sources are in the sample unless a test says otherwise. */
static void take_without(struct world *world, uint64_t elapsed_ns, int source)
{
	world->now_ns += elapsed_ns;
	for (int i = 0; i < 2; i++)
		world->sample.time_ns[i] = i == source ? 0 : world->now_ns;
	stats_update(world->stats, world->fields, &world->sample);
	sample_reset(&world->sample);
}

static void take(struct world *world, uint64_t elapsed_ns)
{
	take_without(world, elapsed_ns, -1);
}

/* A sample of one row. */
static void take_one(struct world *world, uint32_t guest, uint32_t field, uint64_t count)
{
	add(world, guest, field, count);
	take(world, SECOND);
}

static const struct stats_item *find_key(const struct stats *stats, struct key key)
{
	const struct stats_item *found = NULL;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct stats_item *stat = &stats->list[i];

		if (memcmp(&stat->key, &key, sizeof(key)) != 0)
			continue;
		assert_null(found);
		found = stat;
	}
	return found;
}

static const struct stats_item *find(const struct world *world, uint32_t guest, uint32_t field)
{
	return find_key(world->stats, key_of(guest, field));
}

static const struct stats_item *get(const struct world *world, uint32_t guest, uint32_t field)
{
	const struct stats_item *stat = find(world, guest, field);

	assert_non_null(stat);
	return stat;
}

static bool is_near(double a, double b)
{
	double diff = a > b ? a - b : b - a;

	return diff <= 1e-5 * (b > 1 ? b : 1);
}

static void assert_counts(const struct stats_item *stat, uint64_t total, uint64_t delta,
			  double rate)
{
	assert_int_equal(stat->total, total);
	assert_int_equal(stat->delta, delta);
	assert_int_equal(stat->has_rate, rate >= 0);
	assert_true(is_near(stat->rate_per_s, rate >= 0 ? rate : 0));
}

/* Over all guests, the ended ones too. */
static struct sum sum_of(const struct world *world, uint32_t field)
{
	struct sum sum = { 0 };

	for (size_t i = 0; i < world->stats->nr; i++) {
		const struct stats_item *stat = &world->stats->list[i];

		if (stat->key.field == field)
			sum_add(&sum, stat, specs[field].kind, world->stats->tick);
	}
	return sum;
}

static void rates_of(const struct world *world, uint32_t field, float *ret_rates)
{
	bool is_first = true;

	for (size_t i = 0; i < world->stats->nr; i++) {
		if (world->stats->list[i].key.field != field)
			continue;
		stats_rates_add(ret_rates, is_first, &world->stats->list[i], world->stats->tick);
		is_first = false;
	}
}

#define NO_RATE (-1)

TEST(nothing_yet, setup, world_teardown)
{
	struct world *world = *state;

	assert_int_equal(world->stats->nr, 0);
	assert_int_equal(world->stats->tick, 0);
	assert_int_equal(world->stats->elapsed_ns[0], 0);
	take(world, SECOND);
	assert_int_equal(world->stats->nr, 0);
	assert_int_equal(world->stats->tick, 1);
	stats_free(NULL);
}

TEST(first_sample_counts_from_here, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 0, EXIT, 1000);
	assert_counts(get(world, 0, EXIT), 0, 0, NO_RATE);
	take_one(world, 0, EXIT, 1500);
	assert_counts(get(world, 0, EXIT), 500, 500, 500);
	take_one(world, 0, EXIT, 1500);
	assert_counts(get(world, 0, EXIT), 500, 0, 0);
}

TEST(from_zero_counts_all, setup, world_teardown)
{
	struct world *world = *state;

	add_new(world, 0, EXIT, 1000);
	take(world, SECOND);
	assert_counts(get(world, 0, EXIT), 1000, 1000, NO_RATE);
	add_new(world, 0, EXIT, 1200); /* the flag means nothing once the key is known */
	take(world, SECOND);
	assert_counts(get(world, 0, EXIT), 1200, 200, 200);
}

TEST(rates_use_the_measured_time, setup, world_teardown)
{
	struct world *world = *state;

	add(world, 0, EXIT, 0);
	take(world, SECOND);
	add(world, 0, EXIT, 300);
	take(world, 3 * SECOND);
	assert_counts(get(world, 0, EXIT), 300, 300, 100);
	assert_int_equal(world->stats->elapsed_ns[0], 3 * SECOND);
	add(world, 0, EXIT, 301);
	take(world, SECOND / 10);
	assert_counts(get(world, 0, EXIT), 301, 1, 10);
}

TEST(no_time_no_rate, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 0, EXIT, 0);
	add(world, 0, EXIT, 50);
	take(world, 0);
	assert_counts(get(world, 0, EXIT), 50, 50, NO_RATE);
	assert_int_equal(world->stats->elapsed_ns[0], 0);
	add(world, 0, EXIT, 60);
	take(world, 0 - SECOND / 2); /* a clock that goes back */
	assert_counts(get(world, 0, EXIT), 60, 10, NO_RATE);
	add(world, 0, EXIT, 70);
	take(world, SECOND);
	assert_counts(get(world, 0, EXIT), 70, 10, 10);
}

TEST(each_source_has_its_own_clock, setup, world_teardown)
{
	struct world *world = *state;

	for (int i = 0; i < 2; i++) {
		add(world, 0, EXIT, 100 * (uint64_t)i);
		add(world, 0, OTHER_SOURCE, 100 * (uint64_t)i);
		world->sample.time_ns[0] = SECOND + (uint64_t)i * SECOND;
		world->sample.time_ns[1] = SECOND + (uint64_t)i * SECOND / 2;
		stats_update(world->stats, world->fields, &world->sample);
		sample_reset(&world->sample);
	}
	assert_counts(get(world, 0, EXIT), 100, 100, 100);
	assert_counts(get(world, 0, OTHER_SOURCE), 100, 100, 200);
}

TEST(a_counter_that_goes_back_was_restarted, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 0, EXIT, 1000);
	take_one(world, 0, EXIT, 1500);
	take_one(world, 0, EXIT, 30);
	assert_counts(get(world, 0, EXIT), 530, 30, 30);
	take_one(world, 0, EXIT, 40);
	assert_counts(get(world, 0, EXIT), 540, 10, 10);
	take_one(world, 0, EXIT, 0);
	assert_counts(get(world, 0, EXIT), 540, 0, 0);
	take_one(world, 0, EXIT, UINT64_MAX);
	take_one(world, 0, EXIT, 1);
	assert_int_equal(get(world, 0, EXIT)->delta, 1);
}

TEST(keys_match_by_value_not_by_position, setup, world_teardown)
{
	struct world *world = *state;

	add(world, 1, EXIT, 10);
	add(world, 2, EXIT, 20);
	take(world, SECOND);
	add(world, 3, EXIT, 7);
	add(world, 2, EXIT, 21);
	add(world, 1, EXIT, 12);
	take(world, SECOND);
	assert_counts(get(world, 1, EXIT), 2, 2, 2);
	assert_counts(get(world, 2, EXIT), 1, 1, 1);
	assert_counts(get(world, 3, EXIT), 0, 0, NO_RATE);
}

TEST(vcpus_are_told_apart, setup, world_teardown)
{
	struct world *world = *state;
	struct key keys[2] = { { 1, 0, EXIT }, { 1, 1, EXIT } };

	for (uint64_t round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 2; i++)
			sample_add(&world->sample, keys[i], (i + 1) * round, 0);
		take(world, SECOND);
	}
	assert_int_equal(world->stats->nr, 2);
	assert_counts(find_key(world->stats, keys[0]), 1, 1, 1);
	assert_counts(find_key(world->stats, keys[1]), 2, 2, 2);
	assert_int_equal(sum_of(world, EXIT).total, 3);
}

TEST(flaw_B4_a_guest_that_ends_takes_nothing_from_totals, setup, world_teardown)
{
	struct world *world = *state;

	for (uint64_t i = 0; i < 2; i++) {
		add(world, 1, EXIT, 100 * i);
		add(world, 2, EXIT, 10 * i);
		take(world, SECOND);
	}
	assert_int_equal(sum_of(world, EXIT).total, 110);
	add(world, 2, EXIT, 25);
	take(world, SECOND);
	assert_null(find(world, 1, EXIT));
	assert_counts(get(world, STATS_ENDED, EXIT), 100, 0, 0);
	assert_int_equal(sum_of(world, EXIT).total, 125);
	assert_int_equal(sum_of(world, EXIT).delta, 15);
	take(world, SECOND);
	assert_counts(get(world, STATS_ENDED, EXIT), 125, 0, 0);
	take(world, SECOND);
	assert_counts(get(world, STATS_ENDED, EXIT), 125, 0, 0);
	assert_int_equal(world->stats->nr, 1);
}

TEST(flaw_B3_a_guest_that_ends_has_no_rate_any_more, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 1, EXIT, 0);
	take_one(world, 1, EXIT, 500);
	take(world, SECOND);

	struct sum sum = sum_of(world, EXIT);

	assert_int_equal(sum.nr_rates, 1);
	assert_true(is_near(sum.rate_per_s, 0));
	assert_int_equal(sum.delta, 0);
}

TEST(the_past_keeps_the_rates_of_the_ended, setup, world_teardown)
{
	struct world *world = *state;

	for (uint64_t i = 0; i < 4; i++) {
		add(world, 1, EXIT, 100 * i);
		add(world, 2, EXIT, 10 * i);
		take(world, SECOND);
	}
	add(world, 2, EXIT, 40);
	take(world, SECOND);
	take(world, SECOND);

	float rates[STATS_HISTORY];

	static const float expected[] = { -1, 110, 110, 110, 10, 0 };

	rates_of(world, EXIT, rates);
	for (int i = 0; i < 6; i++)
		assert_true(is_near(rates[STATS_HISTORY - 6 + i] + 1, expected[i] + 1));
	for (int i = 0; i < 2 * STATS_HISTORY; i++)
		take(world, SECOND);
	rates_of(world, EXIT, rates);
	for (int i = 0; i < STATS_HISTORY; i++)
		assert_true(is_near(rates[i], 0));
}

TEST(a_vcpu_that_leaves_takes_nothing_from_totals, setup, world_teardown)
{
	struct world *world = *state;
	struct key keys[2] = { { 1, 0, EXIT }, { 1, 1, EXIT } };

	for (uint64_t round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 2; i++)
			sample_add(&world->sample, keys[i], 10 * round, 0);
		take(world, SECOND);
	}
	sample_add(&world->sample, keys[0], 15, 0);
	take(world, SECOND);
	assert_int_equal(sum_of(world, EXIT).total, 25);
}

TEST(levels_end_with_their_guest, setup, world_teardown)
{
	struct world *world = *state;

	add(world, 1, PAGES, 300);
	add(world, 1, PEAK, 9);
	take(world, SECOND);
	take(world, SECOND);
	assert_int_equal(world->stats->nr, 0);
}

/* What no guest owns has nowhere to go. */
TEST(host_keys_that_go_are_forgotten, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, GUEST_NONE, EXIT, 0);
	take_one(world, GUEST_NONE, EXIT, 100);
	take(world, SECOND);
	assert_int_equal(world->stats->nr, 0);
	take_one(world, GUEST_NONE, EXIT, 200);
	assert_counts(get(world, GUEST_NONE, EXIT), 0, 0, NO_RATE);
}

TEST(a_source_that_is_not_in_loses_nothing_but_its_rates, setup, world_teardown)
{
	struct world *world = *state;

	for (uint64_t i = 0; i < 2; i++) {
		add(world, 1, EXIT, 100 * i);
		add(world, 1, PAGES, 7);
		add(world, 1, OTHER_SOURCE, 10 * i);
		take(world, SECOND);
	}
	add(world, 1, OTHER_SOURCE, 20);
	take_without(world, SECOND, 0);
	assert_counts(get(world, 1, EXIT), 100, 0, NO_RATE);
	assert_int_equal(get(world, 1, PAGES)->total, 7);
	assert_counts(get(world, 1, OTHER_SOURCE), 20, 10, 10);
	assert_null(find(world, STATS_ENDED, EXIT));

	/* It is back: the delta and the time are since it was seen last. */
	add(world, 1, EXIT, 300);
	add(world, 1, OTHER_SOURCE, 30);
	take(world, SECOND);
	assert_counts(get(world, 1, EXIT), 300, 200, 100);
	assert_int_equal(world->stats->elapsed_ns[0], 2 * SECOND);
}

/* A guest's counter is not in a sample while the guest goes on. */
TEST(a_counter_that_is_found_again_has_no_delta, setup, world_teardown)
{
	struct world *world = *state;
	struct guests *guests = guests_new(NULL);
	uint32_t guest = guests_add(guests, &(struct guest){ .pid = 100, .name = "web" });

	world->stats->guests = guests;
	take_one(world, guest, EXIT, 1000);
	take_one(world, guest, EXIT, 1100);
	take(world, SECOND);
	assert_counts(get(world, guest, EXIT), 100, 0, 0);
	take_one(world, guest, EXIT, 1700);
	assert_counts(get(world, guest, EXIT), 100, 0, NO_RATE);
	take_one(world, guest, EXIT, 1750);
	assert_counts(get(world, guest, EXIT), 150, 50, 50);

	/* But one that says that it began at 0 has. */
	take(world, SECOND);
	add_new(world, guest, EXIT, 30);
	take(world, SECOND);
	assert_counts(get(world, guest, EXIT), 180, 30, 30);
	guests_free(guests);
}

TEST(flaw_B3_history_has_holes_where_a_source_was_off, setup, world_teardown)
{
	struct world *world = *state;
	uint64_t count = 0;

	for (int i = 0; i <= STATS_HISTORY; i++)
		take_one(world, 1, EXIT, count += 5);
	for (int i = 0; i < 3; i++)
		take_without(world, SECOND, 0);

	float rates[STATS_HISTORY];

	rates_of(world, EXIT, rates);
	for (int i = 0; i < STATS_HISTORY; i++)
		assert_true(is_near(rates[i], i < STATS_HISTORY - 3 ? 5 : -1));
}

TEST(flaw_B11_levels_have_no_rate, setup, world_teardown)
{
	struct world *world = *state;
	float rates[STATS_HISTORY];

	take_one(world, 1, PAGES, 300);
	assert_counts(get(world, 1, PAGES), 300, 0, NO_RATE);
	take_one(world, 1, PAGES, 100);
	assert_counts(get(world, 1, PAGES), 100, 0, NO_RATE);
	stats_rates(get(world, 1, PAGES), world->stats->tick, rates);
	assert_true(rates[STATS_HISTORY - 1] < 0);
}

TEST(flaw_B11_levels_add_up_and_peaks_do_not, setup, world_teardown)
{
	struct world *world = *state;

	for (uint32_t guest = 1; guest <= 3; guest++) {
		add(world, guest, PAGES, 100 * guest);
		add(world, guest, PEAK, guest == 2 ? 9 : 4);
	}
	take(world, SECOND);
	assert_int_equal(sum_of(world, PAGES).total, 600);
	assert_int_equal(sum_of(world, PEAK).total, 9);
}

/* A sum of sums is the sum of all keys: of peaks the highest, and as new as the keys are. */
TEST(a_sum_of_sums_forgets_nothing, setup, world_teardown)
{
	struct world *world = *state;
	struct sum all[2] = { { 0 } };
	static const uint32_t fields[] = { PEAK, EXIT_HLT };

	take_one(world, 1, EXIT, 1000);
	add(world, 1, EXIT, 1600);
	add_new(world, 1, EXIT_HLT, 400);
	for (uint32_t guest = 1; guest <= 3; guest++)
		add(world, guest, PEAK, guest == 2 ? 9 : 4);
	take(world, SECOND);
	for (size_t i = 0; i < 2; i++) {
		for (uint32_t guest = 1; guest <= 3; guest++) {
			const struct stats_item *stat = find(world, guest, fields[i]);
			struct sum one = { 0 };

			if (stat)
				sum_add(&one, stat, specs[fields[i]].kind, world->stats->tick);
			sum_join(&all[i], &one);
		}
	}
	assert_int_equal(all[0].total, 9);
	assert_int_equal(all[0].nr, 3);
	assert_true(all[0].is_now);
	assert_int_equal(all[1].parent_before, 600);
	assert_int_equal(all[1].nr, 1);
}

TEST(flaw_B13_a_late_child_starts_at_zero, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 0, EXIT, 0);
	take_one(world, 0, EXIT, 1000);
	add(world, 0, EXIT, 1600);
	add_new(world, 0, EXIT_HLT, 400);
	take(world, SECOND);
	assert_counts(get(world, 0, EXIT_HLT), 0, 0, NO_RATE);
	assert_int_equal(get(world, 0, EXIT_HLT)->parent_before, 1600);
	add(world, 0, EXIT, 1700);
	add(world, 0, EXIT_HLT, 450);
	take(world, SECOND);
	assert_counts(get(world, 0, EXIT_HLT), 50, 50, 50);
	assert_int_equal(get(world, 0, EXIT_HLT)->parent_before, 1600);
}

/* In the interval in which a guest begins, too: the sum of all guests has one. */
TEST(a_rate_is_the_delta_by_the_interval, setup, world_teardown)
{
	struct world *world = *state;
	struct sum sum;

	take_one(world, 1, EXIT, 5);
	add(world, 1, EXIT, 25);
	add_new(world, 2, EXIT, 1000);
	take(world, 2 * SECOND);
	assert_counts(get(world, 2, EXIT), 1000, 1000, 500);
	sum = sum_of(world, EXIT);
	assert_int_equal(sum.delta, 1020);
	assert_true(sum.nr_rates && is_near(sum.rate_per_s, 510));
}

TEST(a_child_as_new_as_its_parent_counts_in_full, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 1, EXIT, 5); /* another guest's parent does not matter */
	add(world, 1, EXIT, 6);
	add_new(world, 2, EXIT, 1000);
	add_new(world, 2, EXIT_HLT, 400);
	take(world, SECOND);
	assert_counts(get(world, 2, EXIT), 1000, 1000, 1000);
	assert_counts(get(world, 2, EXIT_HLT), 400, 400, 400);
	assert_int_equal(get(world, 2, EXIT_HLT)->parent_before, 0);
}

TEST(children_of_the_ended_keep_their_share, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 1, EXIT, 0);
	take_one(world, 1, EXIT, 900);
	for (uint64_t i = 0; i < 2; i++) {
		add(world, 1, EXIT, 900 + 100 * i);
		add(world, 1, EXIT_HLT, 100 * i);
		add(world, 1, EXIT_MSR, 0);
		take(world, SECOND);
	}
	take(world, SECOND);

	struct sum parent = sum_of(world, EXIT), child = sum_of(world, EXIT_HLT);
	struct sum silent = sum_of(world, EXIT_MSR);

	assert_int_equal(parent.total, 1000);
	assert_int_equal(child.total, 100);
	assert_int_equal(child.parent_before, 900);
	/* The one that never fired was counted all the same. */
	assert_int_equal(silent.nr, 1);
	assert_int_equal(silent.parent_before, 900);
}

TEST(reset_counts_from_now_on, setup, world_teardown)
{
	struct world *world = *state;

	for (uint64_t i = 0; i < 2; i++) {
		add(world, 1, EXIT, 100 * i);
		add(world, 1, EXIT_HLT, 10 * i);
		add(world, 1, PAGES, 300);
		add(world, 2, EXIT, 7 * i);
		take(world, SECOND);
	}
	add(world, 1, EXIT, 200);
	add(world, 1, EXIT_HLT, 20);
	add(world, 1, PAGES, 300);
	take(world, SECOND);
	stats_reset(world->stats, world->fields);
	assert_int_equal(get(world, 1, EXIT)->total, 0);
	assert_int_equal(get(world, 1, PAGES)->total, 300);
	assert_int_equal(sum_of(world, EXIT).total, 0);
	add(world, 1, EXIT, 250);
	add(world, 1, EXIT_HLT, 25);
	take(world, SECOND);
	assert_counts(get(world, 1, EXIT), 50, 50, 50);
	assert_counts(get(world, 1, EXIT_HLT), 5, 5, 5);
}

TEST(flaw_B6_reset_changes_no_rate, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 0, EXIT, 0);
	take_one(world, 0, EXIT, 800);
	stats_reset(world->stats, world->fields);
	assert_counts(get(world, 0, EXIT), 0, 800, 800);
	take_one(world, 0, EXIT, 1600);
	assert_counts(get(world, 0, EXIT), 800, 800, 800);
}

TEST(reset_makes_a_late_child_even_with_its_parent, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 0, EXIT, 0);
	add(world, 0, EXIT, 100);
	add(world, 0, EXIT_HLT, 1);
	take(world, SECOND);
	assert_int_equal(get(world, 0, EXIT_HLT)->parent_before, 100);
	stats_reset(world->stats, world->fields);
	assert_int_equal(get(world, 0, EXIT_HLT)->parent_before, 0);
}

TEST(a_counter_may_go_back_after_a_reset, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 0, EXIT, 1000);
	take_one(world, 0, EXIT, 1100);
	stats_reset(world->stats, world->fields);
	take_one(world, 0, EXIT, 20);
	assert_counts(get(world, 0, EXIT), 20, 20, 20);
}

TEST(keep_only_forgets_the_rest, setup, world_teardown)
{
	struct world *world = *state;
	struct field_set set = { 0 };

	for (uint32_t i = 0; i < NR_FIELDS; i++) {
		add(world, 1, i, 5);
		add(world, 2, i, 5);
	}
	take(world, SECOND);
	field_set_add(&set, ENTRY);
	field_set_add(&set, PAGES);
	stats_keep_only(world->stats, &set);
	assert_int_equal(world->stats->nr, 4);
	assert_non_null(find(world, 1, ENTRY));
	assert_non_null(find(world, 2, PAGES));
	field_set_clear(&set);
	stats_keep_only(world->stats, &set);
	assert_int_equal(world->stats->nr, 0);
	field_set_release(&set);
}

TEST(clear_makes_it_as_new, setup, world_teardown)
{
	struct world *world = *state;

	take_one(world, 0, EXIT, 0);
	take_one(world, 0, EXIT, 100);
	stats_clear(world->stats);
	assert_int_equal(world->stats->nr, 0);
	assert_int_equal(world->stats->tick, 0);
	assert_int_equal(world->stats->elapsed_ns[0], 0);
	take_one(world, 0, EXIT, 150);
	assert_counts(get(world, 0, EXIT), 0, 0, NO_RATE);
	assert_int_equal(world->stats->elapsed_ns[0], 0);
}

TEST(history_is_in_order_across_its_end, setup, world_teardown)
{
	struct world *world = *state;
	uint64_t count = 0;

	for (uint64_t tick = 1; tick <= 3 * STATS_HISTORY + 5; tick++) {
		take_one(world, 0, EXIT, count += tick);

		float rates[STATS_HISTORY];

		rates_of(world, EXIT, rates);
		for (uint64_t i = 0; i < STATS_HISTORY; i++) {
			uint64_t ago = STATS_HISTORY - 1 - i;

			/* The first sample has no rate. */
			if (ago + 1 >= tick)
				assert_true(rates[i] < 0);
			else
				assert_true(is_near(rates[i], (double)(tick - ago)));
		}
	}
}

TEST(sums_of_histories_skip_what_is_absent, setup, world_teardown)
{
	struct world *world = *state;

	for (uint64_t i = 0; i < 4; i++) {
		add(world, 1, EXIT, 10 * i);
		if (i >= 2)
			add(world, 2, EXIT, 100 * i);
		take(world, SECOND);
	}

	float rates[STATS_HISTORY];

	rates_of(world, EXIT, rates);
	assert_true(rates[STATS_HISTORY - 4] < 0);
	assert_true(is_near(rates[STATS_HISTORY - 3], 10));
	assert_true(is_near(rates[STATS_HISTORY - 2], 10));
	assert_true(is_near(rates[STATS_HISTORY - 1], 110));
}

/* What is given is no counter: a smaller total is no restart, and what is not in it stays. */
TEST(given_rows_are_taken_as_they_are, setup, world_teardown)
{
	struct world *world = *state;
	struct row_given given = { .delta = 30, .parent_before = 7, .has_rate = true };
	float rates[STATS_HISTORY];

	world->sample.is_given = true;
	world->sample.elapsed_ns[0] = 2 * SECOND;
	sample_add_given(&world->sample, key_of(1, EXIT), 100, &given);
	*sample_add_past(&world->sample) =
		(struct rates_before){ .per_s = { [STATS_HISTORY - 1] = 5 } };
	take(world, SECOND);
	assert_counts(get(world, 1, EXIT), 100, 30, 15);
	assert_int_equal(get(world, 1, EXIT)->parent_before, 7);
	rates_of(world, EXIT, rates);
	assert_true(is_near(rates[STATS_HISTORY - 1], 15));
	assert_true(is_near(rates[STATS_HISTORY - 2], 5));

	world->sample.is_given = true;
	take(world, SECOND);
	assert_int_equal(get(world, 1, EXIT)->total, 100);

	world->sample.is_given = true;
	given = (struct row_given){ .delta = 4, .has_rate = true };
	sample_add_given(&world->sample, key_of(1, EXIT), 4, &given);
	take(world, SECOND);
	assert_counts(get(world, 1, EXIT), 4, 4, 4);

	world->sample.is_given = true;
	sample_add_given(&world->sample, key_of(1, EXIT), 0,
			 &(struct row_given){ .is_gone = true });
	take(world, SECOND);
	assert_null(find(world, 1, EXIT));
	assert_int_equal(world->stats->nr, 0);
}

TEST(sums_join)
{
	struct sum sum = { 0 };
	const struct sum part = { .nr = 2, .total = 10, .delta = 3, .rate_per_s = 1.5,
				  .nr_rates = 1 };
	const struct sum mute = { .nr = 1, .total = 5 };

	sum_join(&sum, &mute);
	assert_int_equal(sum.nr_rates, 0);
	sum_join(&sum, &part);
	sum_join(&sum, &part);
	assert_int_equal(sum.nr, 5);
	assert_int_equal(sum.total, 25);
	assert_int_equal(sum.delta, 6);
	assert_int_equal(sum.nr_rates, 2);
	assert_true(is_near(sum.rate_per_s, 3));
}

static size_t bytes_in_use(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

TEST(memory_does_not_grow_with_guests_that_end, setup, world_teardown)
{
	struct world *world = *state;
	size_t early = 0;

	for (uint32_t guest = 1; guest <= 1000; guest++) {
		for (uint64_t round = 0; round < 3; round++) {
			for (uint32_t field = 0; field < NR_FIELDS; field++)
				add(world, guest, field, 10 * round);
			take(world, SECOND);
		}
		assert_true(world->stats->nr <= (size_t)2 * NR_FIELDS);
		if (guest == 10)
			early = bytes_in_use();
	}
	take(world, SECOND);
	assert_int_equal(get(world, STATS_ENDED, EXIT)->total, 20 * 1000);
	assert_true(bytes_in_use() <= early);
}
