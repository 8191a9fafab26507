// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes columns of CBOR of a moment, and compresses them. */
#include <cbor.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "history/columns.h"
#include "history/pack.h"

#define ITEM_MAX 9 /* bytes of a CBOR number, or of the head of another item */
#define ZSTD_LEVEL 3

struct packer *packer_new(void)
{
	struct packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->pack = ZSTD_createCCtx();
	packer->unpack = ZSTD_createDCtx();
	if (packer->pack && packer->unpack)
		return packer;
	packer_free(packer);
	return NULL;
}

void packer_free(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->pack);
	ZSTD_freeDCtx(packer->unpack);
	blob_release(&packer->plain);
	free(packer);
}

void blob_release(struct blob *blob)
{
	free(blob->bytes);
	*blob = (struct blob){ 0 };
}

void packed_release(struct packed *packed)
{
	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		blob_release(&packed->parts[i]);
	*packed = (struct packed){ 0 };
}

/* ---- CBOR. What does not fit in memory is left out, and is_full says so. */

struct out {
	struct blob *blob;
	bool is_full;
};

/* Where an item of up to size bytes may be written. */
static unsigned char *out_room(struct out *out, size_t size)
{
	struct blob *blob = out->blob;

	if (out->is_full || array_grow(&blob->bytes, &blob->room, blob->size + size) < 0) {
		out->is_full = true;
		return NULL;
	}
	return blob->bytes + blob->size;
}

typedef size_t (*encode_fn)(uint64_t value, unsigned char *bytes, size_t size);

static void put(struct out *out, encode_fn encode, uint64_t value)
{
	unsigned char *at = out_room(out, ITEM_MAX);

	if (at)
		out->blob->size += encode(value, at, ITEM_MAX);
}

static void put_uint(struct out *out, uint64_t value)
{
	put(out, cbor_encode_uint, value);
}

static void put_text(struct out *out, const char *text)
{
	size_t size = strlen(text);
	unsigned char *at;

	put(out, cbor_encode_string_start, size);
	at = out_room(out, size);
	if (!at)
		return;
	memcpy(at, text, size);
	out->blob->size += size;
}

/* The name of a column, and how many numbers follow. */
static void put_column(struct out *out, const char *name, size_t nr)
{
	put_text(out, name);
	put(out, cbor_encode_array_start, nr);
}

/* ---- changes and totals */

static void put_keys(struct out *out, const struct changes *changes)
{
	struct key before = { .guest = 0 };

	put_column(out, COLUMN_GUEST, changes->nr);
	for (size_t i = 0; i < changes->nr; i++) {
		put_uint(out, changes->list[i].key.guest - before.guest);
		before = changes->list[i].key;
	}
	put_column(out, COLUMN_VCPU, changes->nr);
	before = (struct key){ .guest = 0 };
	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;
		int64_t from = i && key->guest == before.guest ? before.vcpu : -1;

		put_uint(out, (uint64_t)(key->vcpu - from));
		before = *key;
	}
	put_column(out, COLUMN_FIELD, changes->nr);
	before = (struct key){ .guest = 0 };
	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;
		bool is_same = i && key->guest == before.guest && key->vcpu == before.vcpu;

		put_uint(out, key->field - (is_same ? before.field : 0));
		before = *key;
	}
}

static const struct change_timing *timing_at(const struct changes *changes, size_t i)
{
	uint32_t timing = changes->list[i].timing;

	return timing ? &changes->timings[timing - 1] : NULL;
}


static void put_counts(struct out *out, const struct changes *changes)
{
	put_column(out, COLUMN_FLAGS, changes->nr);
	for (size_t i = 0; i < changes->nr; i++)
		put_uint(out, changes->list[i].flags << 1 | (changes->list[i].timing != 0));
	put_column(out, COLUMN_COUNT, changes->nr);
	for (size_t i = 0; i < changes->nr; i++)
		put_uint(out, changes->list[i].count);
}

/* The first bucket that counted, and how many buckets from there to the last that did. */
static unsigned int span_of(const uint64_t *hist, unsigned int *ret_first)
{
	unsigned int first = 0, end = HIST_BUCKETS;

	while (first < HIST_BUCKETS && !hist[first])
		first++;
	while (end > first && !hist[end - 1])
		end--;
	*ret_first = end == first ? 0 : first;
	return end - first;
}

static void put_timings(struct out *out, const struct changes *changes)
{
	const struct change_timing *timing;
	unsigned int first, span;
	size_t nr_counts = 0;

	put_column(out, COLUMN_TIME, changes->nr_timings);
	for (size_t i = 0; i < changes->nr; i++) {
		timing = timing_at(changes, i);
		if (timing)
			put_uint(out, timing->time_ns);
	}
	put_column(out, COLUMN_MAX, changes->nr_timings);
	for (size_t i = 0; i < changes->nr; i++) {
		timing = timing_at(changes, i);
		if (timing)
			put_uint(out, timing->max_ns);
	}
	put_column(out, COLUMN_BUCKETS, changes->nr_timings);
	for (size_t i = 0; i < changes->nr; i++) {
		timing = timing_at(changes, i);
		if (!timing)
			continue;
		span = span_of(timing->hist, &first);
		put_uint(out, span << 5 | first);
		nr_counts += span;
	}
	put_column(out, COLUMN_HIST, nr_counts);
	for (size_t i = 0; i < changes->nr; i++) {
		timing = timing_at(changes, i);
		span = timing ? span_of(timing->hist, &first) : 0;
		for (unsigned int k = 0; k < span; k++)
			put_uint(out, timing->hist[first + k]);
	}
}

static void put_changes(struct out *out, struct changes *changes)
{
	changes_sort(changes);
	put_keys(out, changes);
	put_counts(out, changes);
	put_timings(out, changes);
}

/* ---- guests */

static void put_guest(struct out *out, const struct guest *guest)
{
	put(out, cbor_encode_array_start, GUEST_ITEMS + 2 * guest->nr_vcpus);
	put_uint(out, guest->id);
	put_uint(out, (uint64_t)guest->pid);
	put_uint(out, guest->start_ticks);
	put_text(out, guest->name);
	put_text(out, guest->vmm);
	put_uint(out, (guest->is_named ? GUEST_IS_NAMED : 0u) |
			      (guest->has_ended ? GUEST_HAS_ENDED : 0u));
	put_uint(out, guest->nr_vms);
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		put_uint(out, (uint64_t)guest->vcpus[i].index);
		put_uint(out, (uint64_t)guest->vcpus[i].tid);
	}
}

static void put_guests(struct out *out, const struct guests *guests)
{
	const struct guest *guest;
	size_t nr = guests_count(guests);

	while (guests_ended_at(guests, nr - guests_count(guests)))
		nr++;
	put(out, cbor_encode_array_start, nr);
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		put_guest(out, guest);
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		put_guest(out, guest);
}

/* ---- parts */

/* Compresses packer->plain. */
static int compress_part(struct packer *packer, struct blob *blob)
{
	size_t bound = ZSTD_compressBound(packer->plain.size), size;

	if (array_grow(&blob->bytes, &blob->room, bound) < 0)
		return -ENOMEM;
	size = ZSTD_compressCCtx(packer->pack, blob->bytes, bound, packer->plain.bytes,
				 packer->plain.size, ZSTD_LEVEL);
	if (ZSTD_isError(size))
		return -ENOMEM;
	blob->size = size;
	return 0;
}

static void put_part(struct out *out, enum moment_part part, struct moment *moment)
{
	switch (part) {
	case PART_CHANGES:
		put(out, cbor_encode_map_start, 1 + COLUMNS);
		put_column(out, COLUMN_SOURCES, SAMPLE_SOURCES);
		for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
			put_uint(out, moment->source_ns[i]);
		put_changes(out, &moment->changes);
		break;
	case PART_TOTALS:
		put(out, cbor_encode_map_start, COLUMNS);
		put_changes(out, &moment->totals);
		break;
	default:
		put_guests(out, moment->guests);
	}
}

static bool has_part(const struct moment *moment, enum moment_part part)
{
	return part == PART_CHANGES ||
	       moment->flags & (part == PART_TOTALS ? MOMENT_HAS_TOTALS : MOMENT_HAS_GUESTS);
}

int pack_moment(struct packer *packer, struct moment *moment, struct packed *packed)
{
	int err = 0;

	packed->time_ns = moment->time_ns;
	packed->elapsed_ns = moment->elapsed_ns;
	packed->flags = moment->flags;
	for (enum moment_part part = 0; part < MOMENT_PARTS && !err; part++) {
		struct out out = { .blob = &packer->plain };

		packed->parts[part].size = 0;
		if (!has_part(moment, part))
			continue;
		packer->plain.size = 0;
		put_part(&out, part, moment);
		err = out.is_full ? -ENOMEM : compress_part(packer, &packed->parts[part]);
	}
	return err;
}
