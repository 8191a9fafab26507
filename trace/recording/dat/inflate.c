// SPDX-License-Identifier: GPL-2.0-or-later
/* Uncompresses the blocks of a trace.dat of version 7. */
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/array.h"
#include "trace/recording/dat/dat.h"

/* For a file that says it is not compressed: a compressed block is damage. */
static int inflate_none(const void *from, size_t from_size, void *to, size_t to_size)
{
	(void)from;
	(void)from_size;
	(void)to;
	(void)to_size;
	return -EINVAL;
}

static int inflate_zlib(const void *from, size_t from_size, void *to, size_t to_size)
{
	uLongf got = to_size;
	int err = uncompress(to, &got, from, from_size);

	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	return err == Z_OK && got == to_size ? 0 : -EINVAL;
}

static int inflate_zstd(const void *from, size_t from_size, void *to, size_t to_size)
{
	size_t got = ZSTD_decompress(to, to_size, from, from_size);

	/* zstd returns an error as a number that is larger than any size. */
	return got == to_size ? 0 : -EINVAL;
}

dat_inflate *dat_inflate_by_name(const char *compression)
{
	static const struct {
		const char *name;
		dat_inflate *inflate;
	} compressions[] = {
		{ "none", inflate_none },
		{ "zlib", inflate_zlib },
		{ "zstd", inflate_zstd },
	};

	for (size_t i = 0; i < ARRAY_SIZE(compressions); i++) {
		if (strcmp(compressions[i].name, compression) == 0)
			return compressions[i].inflate;
	}
	return NULL;
}
