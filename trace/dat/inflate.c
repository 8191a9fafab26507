// SPDX-License-Identifier: GPL-2.0-or-later
/* What zstd made smaller. */
#include <errno.h>
#include <zstd.h>

#include "trace/dat/dat.h"

int dat_inflate(const void *from, size_t from_size, void *to, size_t to_size)
{
	size_t got = ZSTD_decompress(to, to_size, from, from_size);

	/* An error is a number larger than any size. */
	return got == to_size ? 0 : -EINVAL;
}
