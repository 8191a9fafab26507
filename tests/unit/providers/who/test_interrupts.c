// SPDX-License-Identifier: GPL-2.0-or-later
/* vCPUs without an interrupt have a row, as far as interrupts can be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/unit.h"
#include "providers/who/interrupts.c" /* NOLINT(bugprone-suspicious-include): its insides */

static void vcpus_without_an_interrupt(void **state)
{
	struct interrupts_program__bss bss = { .nr_came = 0 };
	struct interrupts_program program = { .bss = &bss };
	struct who_interrupts interrupts = { .program = &program, .waking = 1, .waiting = 2 };
	const struct interrupt_time time = { .count = 1, .ns = 10 };
	const struct key quiet = { 1, 0, 0 }, busy = { 1, 1, 0 };
	struct sample sample = { .nr_rows = 0 };

	(void)state;
	/* No vCPU has had any yet. */
	who_interrupts_add_none(&interrupts, quiet, &sample);
	assert_int_equal(sample.nr_rows, 3);

	/* The row of a vCPU that has had some is there already. */
	add_sum(&interrupts, busy, &time);
	who_interrupts_add_none(&interrupts, busy, &sample);
	assert_int_equal(sample.nr_rows, 3);
	who_interrupts_add_none(&interrupts, quiet, &sample);
	assert_int_equal(sample.nr_rows, 6);

	/* Interrupts come, and none is seen to end: that there were none is not known. */
	bss.nr_came = 1;
	who_interrupts_add_none(&interrupts, quiet, &sample);
	assert_int_equal(sample.nr_rows, 6);

	key_index_release(&interrupts.index);
	free(interrupts.sums);
	sample_release(&sample);
}

UNIT(test_interrupts)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcpus_without_an_interrupt),
	};

	return cmocka_run_group_tests_name("who_interrupts", tests, NULL, NULL);
}
