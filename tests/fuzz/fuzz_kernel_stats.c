/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_kernel_stats - any bytes as a statistics descriptor's: no crash, no byte read beyond them,
 * and names that a screen and a filter can take.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/stats/held.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct stats_layout *layout, const char *bytes, size_t size)
{
	if (!stats_layout_fits(layout, bytes, 0, size) ||
	    !stats_layout_fits(layout, bytes, layout->tail_at, size))
		abort();
	for (size_t i = 0; i < layout->nr_counters; i++) {
		const struct stats_counter *counter = &layout->counters[i];
		uint64_t value = stats_counter_value(counter, bytes);

		if (!counter->name[0] || strpbrk(counter->name, " ,\n\"(") || !counter->nr)
			abort();
		if (counter->kind != FIELD_COUNTER && counter->nr == 1 && value > INT64_MAX)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size + !size); /* so that a byte too far is seen */
	struct stats_layout *layout = NULL;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	if (stats_layout_parse(bytes, size, &layout) == 0)
		check(layout, bytes, size);
	stats_layout_free(layout);
	free(bytes);
	return 0;
}
