// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps of the keys + and -. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/units.h"
#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "ui/tui/session.h"

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

static void shorter_undoes_longer(void **state)
{
	(void)state;
	for (long tenths = 1; tenths <= 720000; tenths++) {
		double delay_s = (double)tenths / 10, longer = delay_longer(delay_s);

		assert_true(longer > delay_s);
		if (longer < DELAY_MAX_S)
			assert_true(is_near(delay_shorter(longer), delay_s));
	}
}

static void steps_grow_with_the_delay(void **state)
{
	unsigned int nr = 0;

	(void)state;
	assert_true(is_near(delay_longer(0.1), 0.2));
	assert_true(is_near(delay_longer(3), 3.5));
	assert_true(is_near(delay_longer(60), 120));
	assert_true(is_near(delay_longer(3600), 7200));
	for (double delay_s = DELAY_MIN_S; delay_s < DELAY_MAX_S; nr++)
		delay_s = delay_longer(delay_s);
	assert_int_in_range(nr, 50, 100);
}

static void any_delay_gets_shorter_down_to_the_least(void **state)
{
	(void)state;
	for (long tenths = 2; tenths <= (long)(DELAY_MAX_S * 10); tenths++) {
		double delay_s = (double)tenths / 10;

		assert_true(delay_shorter(delay_s) < delay_s);
		assert_true(delay_shorter(delay_s) >= DELAY_MIN_S);
	}
	assert_true(is_near(delay_shorter(12), 10)); /* + never leads to 12 s */
	assert_true(is_near(delay_shorter(DELAY_MIN_S), DELAY_MIN_S));
	assert_true(is_near(delay_longer(DELAY_MAX_S), DELAY_MAX_S));
}

UNIT(test_delay)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shorter_undoes_longer),
		cmocka_unit_test(steps_grow_with_the_delay),
		cmocka_unit_test(any_delay_gets_shorter_down_to_the_least),
	};

	return cmocka_run_group_tests_name("delay", tests, NULL, NULL);
}
