/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_pack - any bytes as parts of a sample in a history file: no crash, and keys in order. The
 * first byte chooses the part and the depth, the two after it how many bytes are the rows'; the
 * rest is their histograms'. Both are compressed first, as zstd's checksum would refuse nearly all
 * that is made up.
 */
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "history/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];

		int order = i ? key_compare(&change[-1].key, &change->key) : -1;

		if (order > 0 || (!order && !(change[-1].flags & CHANGE_GONE)))
			abort();
		if (change->timing > changes->nr_timings && changes->nr_timings)
			abort();
	}
}

static void unpack(struct packer *packer, const struct blob blobs[2], unsigned int choice)
{
	/* As exits and their reasons, times and their parts are. */
	static const uint32_t sum_of[16] = { [1] = 1, [2] = 1, [3] = 1, [6] = 5, [7] = 5, [9] = 2 };
	static const struct sum_fields fields = { sum_of, 16 };
	enum unpack_depth depth = choice / 4 % 3;
	struct moment moment = { 0 };
	struct error error = { "" };
	int err;

	switch (choice % 4) {
	case 0:
		err = unpack_rows(packer, PART_CHANGES, blobs, depth, &fields, &moment,
				  &error);
		check(&moment.changes);
		break;
	case 1:
		err = unpack_rows(packer, PART_TOTALS, blobs, depth, &fields, &moment,
				  &error);
		check(&moment.totals);
		break;
	case 2:
		err = unpack_long_exits(packer, &blobs[0], 1, &moment.long_exits, &error);
		break;
	default:
		err = unpack_guests(packer, &blobs[0], &moment, &error);
	}
	if (err && !error.text[0])
		abort();
	moment_release(&moment);
}

static struct blob compressed(const uint8_t *data, size_t size)
{
	struct blob blob = { .room = ZSTD_compressBound(size) };

	blob.bytes = malloc(blob.room);
	if (!blob.bytes)
		abort();
	blob.size = ZSTD_compress(blob.bytes, blob.room, data, size, 1);
	return blob;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct packer *packer;
	struct blob blobs[2];
	size_t nr;

	if (!packer)
		packer = packer_new();
	if (size < 3)
		return 0;
	nr = data[1] | (size_t)data[2] << 8;
	nr = nr < size - 3 ? nr : size - 3;
	blobs[0] = compressed(data + 3, nr);
	blobs[1] = compressed(data + 3 + nr, size - 3 - nr);
	unpack(packer, blobs, data[0]);
	free(blobs[0].bytes);
	free(blobs[1].bytes);
	return 0;
}
