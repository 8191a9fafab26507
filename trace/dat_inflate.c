// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What zstd made smaller.
 *
 * libzstd is there where libtracecmd was built with it. Weak, so that it need not be.
 */
#include <errno.h>

#include "trace/dat.h"

/* Source: zstd.h. */
extern size_t ZSTD_decompress(void *to, size_t to_size, const void *from, size_t from_size)
	__attribute__((weak));

bool dat_can_inflate(void)
{
	return ZSTD_decompress != NULL;
}

int dat_inflate(const void *from, size_t from_size, void *to, size_t to_size)
{
	size_t got = ZSTD_decompress ? ZSTD_decompress(to, to_size, from, from_size) : 0;

	/* An error is a number larger than any size. */
	return got == to_size ? 0 : -EINVAL;
}
