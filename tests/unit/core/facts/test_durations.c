/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_buckets - fine histograms beside sorted lists of the same numbers.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/facts/durations.h"
#include "tests/unit/unit.h"

TEST(every_number_has_its_bucket)
{
	unsigned int last = 0;

	for (uint64_t value = 0; value < 100000; value++) {
		unsigned int number = buckets_number(value);

		assert_true(number == last || number == last + 1 || value < 16);
		assert_true(buckets_begin(number) <= value && value < buckets_begin(number + 1));
		last = number;
	}
	assert_int_equal(buckets_number(UINT64_MAX), 64 * BUCKETS_PARTS - 1);
	assert_int_equal(buckets_begin(64 * BUCKETS_PARTS), 0);
}

/* ---- percentiles */

static uint64_t seed = 1;

static double random_share(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

static uint64_t narrow(void) /* halts that a timer of 2.66 ms ends */
{
	return 2620000 + (uint64_t)(80000 * random_share());
}

static uint64_t of_two_kinds(void)
{
	return random_share() < 0.7 ? 900 + (uint64_t)(100 * random_share()) :
				      40000000 + (uint64_t)(5000000 * random_share());
}

static uint64_t with_a_tail(void)
{
	return (uint64_t)(1000 * pow(random_share() + 1e-9, -1.5));
}

static uint64_t few(void)
{
	return (uint64_t)(20 * random_share());
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static void check(const struct buckets *buckets, const uint64_t *sorted, size_t nr, double share)
{
	uint64_t exact = sorted[(size_t)ceil(share * (double)nr) - 1];
	uint64_t got = buckets_percentile(buckets, share);

	/* A bucket of two numbers has one of them for both. */
	if (fabs((double)got - (double)exact) > fmax(0.05 * (double)exact, 1))
		fail_msg("%g of %zu: %lu, exact %lu", share, nr, got, exact);
}

/* Of two halves, joined. */
TEST(percentiles_are_those_of_the_list)
{
	static uint64_t (*const kinds[])(void) = { narrow, of_two_kinds, with_a_tail, few };
	static const size_t numbers[] = { 1, 2, 3, 10, 1000, 20000 };
	static uint64_t list[20000];

	for (size_t i = 0; i < ARRAY_SIZE(kinds) * ARRAY_SIZE(numbers); i++) {
		struct buckets sum = { .nr = 0 }, half = { .nr = 0 };
		size_t nr = numbers[i / ARRAY_SIZE(kinds)];

		for (size_t k = 0; k < nr; k++) {
			list[k] = kinds[i % ARRAY_SIZE(kinds)]();
			buckets_add(k % 2 ? &half : &sum, list[k]);
		}
		buckets_join(&sum, &half);
		qsort(list, nr, sizeof(list[0]), compare);
		check(&sum, list, nr, 0.01);
		check(&sum, list, nr, 0.5);
		check(&sum, list, nr, 0.99);
		check(&sum, list, nr, 1);
		buckets_release(&sum);
		buckets_release(&half);
	}
}

TEST(the_ends_of_all_numbers)
{
	struct buckets buckets = { .nr = 0 }, empty = { .nr = 0 };

	assert_int_equal(buckets_percentile(&empty, 0.5), 0);
	buckets_join(&buckets, &empty);
	assert_null(buckets.counts);
	buckets_add(&buckets, UINT64_MAX);
	assert_true(buckets_percentile(&buckets, 0.5) > UINT64_MAX / 100 * 95);
	buckets_add(&buckets, 0);
	assert_int_equal(buckets_percentile(&buckets, 0.5), 0);
	assert_true(buckets_percentile(&buckets, 0.99) > UINT64_MAX / 100 * 95);
	buckets_release(&buckets);
}

/* ---- spreads */

TEST(spreads_are_of_the_list)
{
	enum { NR = 1000 };
	struct spread all = { .count = 0 }, halves[2] = { { .count = 0 } }, joined = { .count = 0 };
	double mean = 0, squares = 0;
	uint64_t list[NR];

	for (unsigned int i = 0; i < NR; i++) {
		list[i] = UINT64_C(5000000000000) + (uint64_t)(16777216 * random_share() * i);
		spread_add(&all, list[i]);
		spread_add(&halves[i % 2], list[i]);
		mean += (double)list[i] / NR;
	}
	for (int i = 0; i < NR; i++)
		squares += ((double)list[i] - mean) * ((double)list[i] - mean);
	spread_join(&joined, &halves[1]);
	spread_join(&joined, &halves[0]);
	qsort(list, NR, sizeof(list[0]), compare);
	for (int i = 0; i < 2; i++) {
		const struct spread *spread = i ? &joined : &all;

		assert_int_equal(spread->count, NR);
		assert_int_equal(spread->min_ns, list[0]);
		assert_int_equal(spread->max_ns, list[NR - 1]);
		assert_true(fabs((double)spread->total_ns / NR - mean) < 1);
		assert_true(fabs(spread_squares(spread) / squares - 1) < 1e-6);
		buckets_release(&halves[i].buckets);
	}
	buckets_release(&all.buckets);
}

TEST(spreads_of_few)
{
	struct spread one = { .count = 0 };

	assert_true(spread_squares(&one) == 0);
	spread_add(&one, UINT64_MAX);
	assert_int_equal(one.min_ns, UINT64_MAX);
	assert_true(spread_squares(&one) == 0);
	buckets_release(&one.buckets);
}

/* A live histogram's bucket has the durations of its power of two. */
TEST(timings_are_of_the_spread)
{
	static const uint64_t list[] = { 0, 127, 128, 255, 256, UINT64_C(1) << 31, UINT64_MAX / 4 };
	struct spread spread = { .count = 0 };
	struct timing timing;

	timing_of_spread(&spread, &timing);
	assert_null(timing.spread);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		spread_add(&spread, list[i]);
	timing_of_spread(&spread, &timing);
	assert_ptr_equal(timing.spread, &spread);
	assert_int_equal(timing.time_ns, spread.total_ns);
	assert_int_equal(timing.max_ns, UINT64_MAX / 4);
	assert_int_equal(timing.hist[0], 2);
	assert_int_equal(timing.hist[1], 2);
	assert_int_equal(timing.hist[2], 1);
	assert_int_equal(timing.hist[HIST_BUCKETS - 1], 2);
	buckets_release(&spread.buckets);
}
