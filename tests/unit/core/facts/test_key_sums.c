// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums by key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/facts/key_sums.h"

static struct key key_of(uint32_t i)
{
	return (struct key){ i % 20, (int32_t)(i / 20 % 5) - 1, i / 100 };
}

static void many_keys(void **state)
{
	struct key_sums sums = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		struct key key = key_of(i);
		struct key_sum *sum = key_sums_get(&sums, &key);

		assert_non_null(sum);
		assert_ptr_equal(sum, &sums.list[i]);
		assert_int_equal(sum->count, 0);
		sum->count = i + 1;
	}
	assert_int_equal(sums.nr, 20000);
	for (uint32_t i = 0; i < 20000; i++) {
		struct key key = key_of(i);

		assert_int_equal(key_sums_get(&sums, &key)->count, i + 1);
	}
	assert_int_equal(sums.nr, 20000);
	key_sums_release(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_keys),
	};

	return cmocka_run_group_tests_name("key_sums", tests, NULL, NULL);
}
