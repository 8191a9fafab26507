// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes columns of a moment, in CBOR, and compresses them. */
#include <cbor.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "history/columns.h"
#include "history/pack.h"

#define ITEM_MAX 9 /* bytes of a CBOR number, or of the head of another item */
#define NUMBER_MAX 10 /* bytes of a number in a column */
#define BLOCK_MIN 1024 /* bytes */
#define BLOCKS_MAX (2 * (1 + COLUMNS))
#define ZSTD_LEVEL 3

struct packer *packer_new(void)
{
	struct packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->pack = ZSTD_createCCtx();
	packer->unpack = ZSTD_createDCtx();
	if (packer->pack && packer->unpack &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->pack, ZSTD_c_compressionLevel,
						 ZSTD_LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->pack, ZSTD_c_checksumFlag, 1)))
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
	blob_release(&packer->column);
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
	struct blob *column; /* the numbers of the column that is being made */
	size_t blocks[BLOCKS_MAX]; /* where zstd begins another block */
	size_t nr_blocks;
	bool is_full;
};

/* Where up to size bytes more may be written. */
static unsigned char *room_in(struct out *out, struct blob *blob, size_t size)
{
	if (out->is_full || array_grow(&blob->bytes, &blob->room, blob->size + size) < 0) {
		out->is_full = true;
		return NULL;
	}
	return blob->bytes + blob->size;
}

static unsigned char *out_room(struct out *out, size_t size)
{
	return room_in(out, out->blob, size);
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
	memcpy(at, text, size); /* NOLINT(bugprone-not-null-terminated-result) */
	out->blob->size += size;
}

/* ---- columns: a name, and a string of bytes with the numbers (LEB128) */

/* Room for nr numbers in the column. */
static void begin_column(struct out *out, size_t nr)
{
	out->column->size = 0;
	room_in(out, out->column, nr * NUMBER_MAX);
}

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
static void add_number(struct out *out, uint64_t value)
{
	struct blob *column = out->column;
	unsigned char *at = column->bytes + column->size;

	if (out->is_full)
		return;
	for (; value > 127; value >>= 7)
		*at++ = (unsigned char)(value | 128);
	*at++ = (unsigned char)value;
	column->size = (size_t)(at - column->bytes);
}

/* Long columns are blocks of their own: zstd then has a code for each, 4 % less. */
static void begin_block(struct out *out)
{
	size_t before = out->nr_blocks ? out->blocks[out->nr_blocks - 1] : 0;

	if (out->blob->size - before >= BLOCK_MIN && out->nr_blocks < BLOCKS_MAX)
		out->blocks[out->nr_blocks++] = out->blob->size;
}

static void end_column(struct out *out, const char *name)
{
	size_t size = out->column->size;
	unsigned char *at;

	if (size >= BLOCK_MIN)
		begin_block(out);
	put_text(out, name);
	put(out, cbor_encode_bytestring_start, size);
	at = out_room(out, size);
	if (!at || !size)
		return;
	memcpy(at, out->column->bytes, size);
	out->blob->size += size;
}

/* ---- changes and totals */

static void put_keys(struct out *out, const struct changes *changes)
{
	struct key before = { .guest = 0 };

	begin_column(out, changes->nr);
	for (size_t i = 0; i < changes->nr; i++) {
		add_number(out, changes->list[i].key.guest - before.guest);
		before = changes->list[i].key;
	}
	end_column(out, COLUMN_GUEST);
	begin_column(out, changes->nr);
	before = (struct key){ .guest = 0 };
	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;
		int64_t from = i && key->guest == before.guest ? before.vcpu : -1;

		add_number(out, (uint64_t)(key->vcpu - from));
		before = *key;
	}
	end_column(out, COLUMN_VCPU);
	begin_column(out, changes->nr);
	before = (struct key){ .guest = 0 };
	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;
		bool is_same = i && key->guest == before.guest && key->vcpu == before.vcpu;

		add_number(out, key->field - (is_same ? before.field : 0));
		before = *key;
	}
	end_column(out, COLUMN_FIELD);
}

static const struct change_timing *timing_at(const struct changes *changes, size_t i)
{
	uint32_t timing = changes->list[i].timing;

	return timing ? &changes->timings[timing - 1] : NULL;
}

static void put_counts(struct out *out, const struct changes *changes)
{
	begin_column(out, changes->nr);
	for (size_t i = 0; i < changes->nr; i++)
		add_number(out, changes->list[i].flags << 1 | (changes->list[i].timing != 0));
	end_column(out, COLUMN_FLAGS);
	begin_column(out, changes->nr);
	for (size_t i = 0; i < changes->nr; i++)
		add_number(out, changes->list[i].count);
	end_column(out, COLUMN_COUNT);
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

/* In place of the count in the middle, see COLUMN_HIST: it is large, and what is stored small. */
static uint64_t difference_of(const struct change *change, const uint64_t *hist)
{
	uint64_t difference = change->count;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		difference -= hist[i];
	return difference << 1 ^ (0 - (difference >> 63));
}

static void put_hists(struct out *out, const struct changes *changes)
{
	unsigned int first = 0, span;

	begin_column(out, changes->nr_timings);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = timing_at(changes, i);

		if (!timing)
			continue;
		span = span_of(timing->hist, &first);
		add_number(out, span << 5 | first);
	}
	end_column(out, COLUMN_BUCKETS);
	begin_column(out, changes->nr_timings * HIST_BUCKETS);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = timing_at(changes, i);

		span = timing ? span_of(timing->hist, &first) : 0;
		for (unsigned int k = 0; k < span; k++)
			add_number(out, k == HIST_MIDDLE(span) ?
						difference_of(&changes->list[i], timing->hist) :
						timing->hist[first + k]);
	}
	end_column(out, COLUMN_HIST);
}

static void put_timings(struct out *out, const struct changes *changes)
{
	const struct change_timing *timing;

	begin_column(out, changes->nr_timings);
	for (size_t i = 0; i < changes->nr; i++) {
		timing = timing_at(changes, i);
		if (timing)
			add_number(out, timing->time_ns);
	}
	end_column(out, COLUMN_TIME);
	begin_column(out, changes->nr_timings);
	for (size_t i = 0; i < changes->nr; i++) {
		timing = timing_at(changes, i);
		if (timing)
			add_number(out, timing->max_ns);
	}
	end_column(out, COLUMN_MAX);
	put_hists(out, changes);
}

static void put_changes(struct out *out, struct changes *changes)
{
	changes_sort(changes);
	put_text(out, COLUMN_ROWS);
	put_uint(out, changes->nr);
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

static bool compress_until(struct packer *packer, size_t end, ZSTD_inBuffer *in,
			   ZSTD_outBuffer *out)
{
	bool is_last = end == packer->plain.size;

	in->size = end;
	return ZSTD_compressStream2(packer->pack, out, in, is_last ? ZSTD_e_end : ZSTD_e_flush) ==
	       0;
}

/* Compresses packer->plain. */
static int compress_part(struct packer *packer, const struct out *made, struct blob *blob)
{
	size_t size = packer->plain.size, bound = ZSTD_compressBound(size) + 8 * BLOCKS_MAX;
	ZSTD_inBuffer in = { .src = packer->plain.bytes };
	ZSTD_outBuffer out = { .size = bound };
	bool is_good = true;

	if (array_grow(&blob->bytes, &blob->room, bound) < 0)
		return -ENOMEM;
	out.dst = blob->bytes;
	ZSTD_CCtx_reset(packer->pack, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(packer->pack, size);
	for (size_t i = 0; i < made->nr_blocks && is_good; i++)
		is_good = compress_until(packer, made->blocks[i], &in, &out);
	if (!is_good || !compress_until(packer, size, &in, &out))
		return -ENOMEM;
	blob->size = out.pos;
	return 0;
}

static void put_part(struct out *out, enum moment_part part, struct moment *moment)
{
	switch (part) {
	case PART_CHANGES:
		put(out, cbor_encode_map_start, 1 + COLUMNS);
		begin_column(out, SAMPLE_SOURCES);
		for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
			add_number(out, moment->source_ns[i]);
		end_column(out, COLUMN_SOURCES);
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
		struct out out = { .blob = &packer->plain, .column = &packer->column };

		packed->parts[part].size = 0;
		if (!has_part(moment, part))
			continue;
		packer->plain.size = 0;
		put_part(&out, part, moment);
		err = out.is_full ? -ENOMEM : compress_part(packer, &out, &packed->parts[part]);
	}
	return err;
}
