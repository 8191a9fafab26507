/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_pack - any bytes as a part of a sample in a history file: no crash, and keys in order. The
 * first byte chooses the part and the depth; the others are compressed first, as zstd's checksum
 * would refuse nearly all that is made up.
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

		if (i && key_compare(&change[-1].key, &change->key) >= 0)
			abort();
		if (change->timing > changes->nr_timings && changes->nr_timings)
			abort();
	}
}

static void unpack(struct packer *packer, const struct blob *blob, unsigned int choice)
{
	enum unpack_depth depth = choice / MOMENT_PARTS % 3;
	struct moment moment = { 0 };
	struct error error = { "" };
	int err;

	switch (choice % MOMENT_PARTS) {
	case PART_CHANGES:
		err = unpack_changes(packer, blob, depth, &moment, &error);
		check(&moment.changes);
		break;
	case PART_TOTALS:
		err = unpack_totals(packer, blob, depth, &moment, &error);
		check(&moment.totals);
		break;
	default:
		err = unpack_guests(packer, blob, &moment, &error);
	}
	if (err && !error.text[0])
		abort();
	moment_release(&moment);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct packer *packer;
	struct blob blob = { 0 };

	if (!packer)
		packer = packer_new();
	if (!size || !packer)
		return 0;
	blob.room = ZSTD_compressBound(size);
	blob.bytes = malloc(blob.room);
	if (!blob.bytes)
		return 0;
	blob.size = ZSTD_compress(blob.bytes, blob.room, data + 1, size - 1, 1);
	unpack(packer, &blob, data[0]);
	free(blob.bytes);
	return 0;
}
