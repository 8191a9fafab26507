// SPDX-License-Identifier: GPL-2.0-or-later
/* A growing array of rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

void sample_reset(struct sample *sample)
{
	sample->nr_rows = 0;
	memset(sample->time_ns, 0, sizeof(sample->time_ns));
}

int sample_add(struct sample *sample, struct key key, uint64_t count, uint32_t flags)
{
	if (sample->nr_rows == sample->cap_rows) {
		size_t cap = sample->cap_rows ? 2 * sample->cap_rows : 256;
		struct row *rows = reallocarray(sample->rows, cap, sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		sample->rows = rows;
		sample->cap_rows = cap;
	}
	sample->rows[sample->nr_rows++] = (struct row){ key, flags, count };
	return 0;
}

void sample_release(struct sample *sample)
{
	free(sample->rows);
	*sample = (struct sample){ 0 };
}
