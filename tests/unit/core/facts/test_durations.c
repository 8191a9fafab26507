/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_buckets - fine histograms beside sorted lists of the same numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/facts/durations.h"
#include "tests/unit/unit.h"

static void every_number_has_its_bucket(void **state)
{
	unsigned int last = 0;

	(void)state;
	for (uint64_t value = 0; value < 100000; value++) {
		unsigned int number = buckets_number(value);

		assert_true(number == last || number == last + 1);
		assert_true(buckets_begin(number) <= value && value < buckets_begin(number + 1));
		last = number;
	}
	assert_int_equal(buckets_number(UINT64_MAX), 61 * BUCKETS_PARTS - 1);
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

	if (fabs((double)got - (double)exact) > 0.032 * (double)exact)
		fail_msg("%g of %zu: %lu, exact %lu", share, nr, got, exact);
}

/* Of two halves, joined. */
static void percentiles_are_those_of_the_list(void **state)
{
	static uint64_t (*const kinds[])(void) = { narrow, of_two_kinds, with_a_tail, few };
	static const size_t numbers[] = { 1, 2, 3, 10, 1000, 20000 };
	static uint64_t list[20000];

	(void)state;
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

static void the_ends_of_all_numbers(void **state)
{
	struct buckets buckets = { .nr = 0 }, empty = { .nr = 0 };

	(void)state;
	assert_int_equal(buckets_percentile(&empty, 0.5), 0);
	buckets_join(&buckets, &empty);
	assert_null(buckets.counts);
	buckets_add(&buckets, UINT64_MAX);
	assert_true(buckets_percentile(&buckets, 0.5) > UINT64_MAX / 100 * 97);
	buckets_add(&buckets, 0);
	assert_int_equal(buckets_percentile(&buckets, 0.5), 0);
	assert_true(buckets_percentile(&buckets, 0.99) > UINT64_MAX / 100 * 97);
	buckets_release(&buckets);
}

UNIT(test_durations)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_has_its_bucket),
		cmocka_unit_test(percentiles_are_those_of_the_list),
		cmocka_unit_test(the_ends_of_all_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
