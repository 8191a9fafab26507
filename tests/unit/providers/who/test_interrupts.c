// SPDX-License-Identifier: GPL-2.0-or-later
/* vCPUs without an interrupt have a row, as far as interrupts can be seen. */
#include <stdlib.h>

#include "tests/unit/unit.h"
#include "providers/who/interrupts.c" /* NOLINT(bugprone-suspicious-include): no kernel */

TEST(vcpus_without_an_interrupt)
{
	struct interrupts_program__bss bss = { .nr_came = 0 };
	struct interrupts_program program = { .bss = &bss };
	struct who_interrupts interrupts = { .program = &program, .waking = 1, .waiting = 2 };
	const struct interrupt_time time = { .count = 1, .ns = 10 };
	const struct key quiet = { 1, 0, 0 }, busy = { 1, 1, 0 };
	struct sample sample = { .nr_rows = 0 };

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

/* A vector has the name that the guest's own lists have. */
TEST(names_of_vectors)
{
	struct fields *fields = fields_new();
	struct who_interrupts *interrupts =
		who_interrupts_new(&(struct provider_args){ .fields = fields });
	static const char *const names[] = { IS_ARM64 ? "interrupts(LPI 8236)" :
							"interrupts(vector 0x202c)",
					     "interrupts(timer)", "interrupts(timer waking)",
					     "interrupts(timer waiting)" };
	const uint32_t ids[] = { field_of(interrupts, 8236, INTERRUPT_VECTOR, FIELD_NONE),
				 field_of(interrupts, INTERRUPT_TIMER, INTERRUPT_LATE, FIELD_NONE),
				 field_of(interrupts, INTERRUPT_TIMER, INTERRUPT_WAKING, 0),
				 field_of(interrupts, INTERRUPT_TIMER, INTERRUPT_WAITING, 0) };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		assert_string_equal(fields_get(fields, ids[i])->name, names[i]);
	assert_string_equal(gic_kind(15), "SGI");
	assert_string_equal(gic_kind(31), "PPI");
	assert_string_equal(gic_kind(32), "SPI");
	assert_string_equal(gic_kind(8191), "SPI");
	who_interrupts_free(interrupts);
	fields_free(fields);
}
