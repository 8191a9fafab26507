// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes columns of a moment, in CBOR, and compresses them. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lib/array.h"
#include "history/columns.h"
#include "history/pack.h"

#define NUMBER_MAX 10 /* bytes of a number in a column */
#define BLOCK_MIN 1024 /* bytes */
#define BLOCK_MAX 8192 /* about */
#define BLOCKS_MAX (2 * COLUMNS)
#define FRAMES_MAX 2
#define FRAME_MIN 2048 /* bytes */
#define FRAME_BYTES 32 /* at most, of a frame beside its blocks */

/*
 * Counts are noise: a code for each block makes them small, and there is little to find that was
 * there before. So zstd looks for long matches only, and remembers few: as small as with its usual
 * level 3, in half the time.
 */
static void set_up(struct ZSTD_CCtx_s *pack)
{
	static const struct {
		ZSTD_cParameter parameter;
		int value;
	} settings[] = {
		{ ZSTD_c_compressionLevel, 1 },
		{ ZSTD_c_strategy, ZSTD_fast },
		{ ZSTD_c_minMatch, 7 },
		{ ZSTD_c_hashLog, 10 },
		{ ZSTD_c_windowLog, 15 },
		{ ZSTD_c_checksumFlag, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		ZSTD_CCtx_setParameter(pack, settings[i].parameter, settings[i].value);
}

struct packer *packer_new(void)
{
	struct packer *packer = xcalloc(1, sizeof(*packer));

	packer->pack = ZSTD_createCCtx();
	packer->unpack = ZSTD_createDCtx();
	if (!packer->pack || !packer->unpack)
		out_of_memory();
	set_up(packer->pack);
	return packer;
}

void packer_free(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->pack);
	ZSTD_freeDCtx(packer->unpack);
	blob_release(&packer->plain);
	blob_release(&packer->column);
	sums_release(&packer->sums);
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

/* ---- CBOR */

struct out {
	struct blob *blob;
	struct blob *column; /* room for the numbers of a column */
	size_t blocks[BLOCKS_MAX]; /* where zstd begins another block */
	size_t nr_blocks;
	size_t frames[FRAMES_MAX]; /* where the part goes on in another frame */
	size_t nr_frames;
};

/* Where up to size bytes more may be written. */
static unsigned char *out_room(struct out *out, size_t size)
{
	struct blob *blob = out->blob;

	array_grow_unset(&blob->bytes, &blob->room, blob->size + size);
	return blob->bytes + blob->size;
}

static void put(struct out *out, enum cbor_kind kind, uint64_t number)
{
	unsigned char *at = out_room(out, CBOR_HEAD_MAX);

	out->blob->size += cbor_head_write(at, kind, number);
}

static void put_uint(struct out *out, uint64_t value)
{
	put(out, CBOR_NUMBER, value);
}

static void put_text(struct out *out, const char *text)
{
	size_t size = strlen(text);
	unsigned char *at;

	put(out, CBOR_TEXT, size);
	at = out_room(out, size);
	memcpy(at, text, size); /* NOLINT(bugprone-not-null-terminated-result) */
	out->blob->size += size;
}

/* ---- columns: a number, and a string of bytes with the numbers (LEB128) */

static void note_size(struct blob *column, size_t size)
{
	column->size = size > column->size ? size : column->size;
}

static void grow_column(struct out *out, size_t size)
{
	struct blob *column = out->column;

	array_grow_unset(&column->bytes, &column->room, size);
}

/* Room for columns of up to nr numbers. */
static void make_columns(struct out *out, size_t nr)
{
	grow_column(out, (nr + 1) * NUMBER_MAX);
}

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
static inline unsigned char *add_number(unsigned char *at, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*at++ = (unsigned char)(value | 128);
	*at++ = (unsigned char)value;
	return at;
}

/* Long columns are blocks of their own: zstd then has a code for each, 4 % less. */
static void begin_block(struct out *out)
{
	size_t before = out->nr_blocks ? out->blocks[out->nr_blocks - 1] : 0;

	if (out->blob->size - before >= BLOCK_MIN && out->nr_blocks < BLOCKS_MAX)
		out->blocks[out->nr_blocks++] = out->blob->size;
}

/* What follows is read less often: in a frame of its own, a reader need not uncompress it. */
static void begin_frame(struct out *out)
{
	size_t before = out->nr_frames ? out->frames[out->nr_frames - 1] : 0;

	if (out->blob->size - before >= FRAME_MIN)
		out->frames[out->nr_frames++] = out->blob->size;
}

/* The numbers of the column are in out->column, up to end. */
static void put_column(struct out *out, enum column_id column, const unsigned char *end)
{
	size_t size = (size_t)(end - out->column->bytes);
	unsigned char *at;

	note_size(out->column, size);
	if (size >= BLOCK_MIN)
		begin_block(out);
	put_uint(out, column);
	put(out, CBOR_BYTES, size);
	at = out_room(out, size);
	memcpy(at, out->column->bytes, size);
	out->blob->size += size;
}

/* ---- changes and totals */

static void put_keys(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;
	struct key before = { .guest = 0 };

	for (size_t i = 0; i < changes->nr; i++) {
		at = add_number(at, changes->list[i].key.guest - before.guest);
		before = changes->list[i].key;
	}
	put_column(out, COLUMN_GUEST, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;
		int64_t from = i && key->guest == before.guest ? before.vcpu : -1;

		at = add_number(at, (uint64_t)(key->vcpu - from));
		before = *key;
	}
	put_column(out, COLUMN_VCPU, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;
		bool is_same = i && key->guest == before.guest && key->vcpu == before.vcpu;

		at = add_number(at, key->field - (is_same ? before.field : 0));
		before = *key;
	}
	put_column(out, COLUMN_FIELD, at);
}

static void put_sums(struct out *out, const struct sums *sums)
{
	unsigned char *at;
	uint32_t end = 0;

	make_columns(out, 3 * sums->nr);
	at = out->column->bytes;
	for (size_t i = 0; i < sums->nr; i++) {
		at = add_number(at, sums->runs[i].first - end);
		at = add_number(at, sums->runs[i].nr);
		at = add_number(at, sums->runs[i].sum);
		end = sums->runs[i].first + sums->runs[i].nr;
	}
	put_column(out, COLUMN_SUMS, at);
}

static bool is_stored(const struct change *change)
{
	return !(change->flags & CHANGE_IS_SUM);
}

/* NULL: the row has no durations, or they are a sum. */
static const struct change_timing *stored_timing(const struct changes *changes,
						 const struct change *change)
{
	return is_stored(change) ? changes_timing(changes, change) : NULL;
}

static void put_counts(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;

	for (size_t i = 0; i < changes->nr; i++)
		at = add_number(at, changes->list[i].flags << 1 | (changes->list[i].timing != 0));
	put_column(out, COLUMN_FLAGS, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		if (is_stored(&changes->list[i]))
			at = add_number(at, changes->list[i].count);
	}
	put_column(out, COLUMN_COUNT, at);
}

static void put_buckets(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (timing)
			at = add_number(at, timing->nr);
	}
	put_column(out, COLUMN_BUCKETS, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (timing)
			at = add_number(at, timing->first);
	}
	put_column(out, COLUMN_FIRST, at);
}

/* A number that may be negative: 2 * d, or -2 * d - 1. */
static uint64_t signed_number(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t difference_of(uint64_t count, const uint64_t *counts, unsigned int nr)
{
	uint64_t difference = count;

	for (unsigned int i = 0; i < nr; i++)
		difference -= counts[i];
	return signed_number(difference);
}

static void put_hists(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		const struct change_timing *timing = stored_timing(changes, change);

		if (timing && timing->nr)
			at = add_number(at, difference_of(change->count,
							  changes_counts(changes, timing),
							  timing->nr));
	}
	put_column(out, COLUMN_DIFFERENCE, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);
		unsigned int nr = timing ? timing->nr : 0;
		const uint64_t *counts = nr ? changes_counts(changes, timing) : NULL;

		for (unsigned int k = 0; k < nr; k++) {
			if (k != HIST_MIDDLE(nr))
				at = add_number(at, counts[k]);
		}
	}
	put_column(out, COLUMN_HIST, at);
}

static void put_times(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (timing)
			at = add_number(at, timing->time_ns >> 16);
	}
	put_column(out, COLUMN_TIME, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (!timing)
			continue;
		*at++ = (unsigned char)timing->time_ns;
		*at++ = (unsigned char)(timing->time_ns >> 8);
	}
	put_column(out, COLUMN_TIME_LOW, at);
}

static bool is_open(const struct change_timing *timing)
{
	return timing->open_ns || timing->open_before_ns;
}

static bool has_open(const struct changes *changes)
{
	size_t i = 0;

	while (i < changes->nr_timings && !is_open(&changes->timings[i]))
		i++;
	return i < changes->nr_timings;
}

static void put_open(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;
	uint64_t between = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (timing && is_open(timing)) {
			at = add_number(at, between);
			at = add_number(at, timing->open_ns);
			at = add_number(at, signed_number(timing->open_ns -
							  timing->open_before_ns));
			between = 0;
		} else if (timing) {
			between++;
		}
	}
	put_column(out, COLUMN_OPEN, at);
}

static void put_timings(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;

	put_times(out, changes);
	if (has_open(changes))
		put_open(out, changes);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = changes_timing(changes, &changes->list[i]);

		if (timing)
			at = add_number(at, timing->max_ns);
	}
	put_column(out, COLUMN_MAX, at);
	begin_frame(out);
	put_buckets(out, changes);
	put_hists(out, changes);
}

static void put_changes(struct out *out, struct sums *sums, struct changes *changes)
{
	make_columns(out, 3 * changes->nr > changes->nr_counts ? 3 * changes->nr :
								changes->nr_counts);
	grow_column(out, CHANGES_SPARE(changes->nr));
	note_size(out->column, CHANGES_SPARE(changes->nr));
	changes_sort(changes, out->column->bytes);
	sums_find(sums, changes);
	put_uint(out, COLUMN_ROWS);
	put_uint(out, changes->nr);
	put_keys(out, changes);
	put_sums(out, sums);
	put_counts(out, changes);
	begin_frame(out);
	put_timings(out, changes);
	sums_unmark(changes);
}

/* ---- guests */

static void put_guest(struct out *out, const struct guest *guest)
{
	put(out, CBOR_ARRAY, GUEST_ITEMS + 2 * guest->nr_vcpus);
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
	put(out, CBOR_ARRAY, nr);
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		put_guest(out, guest);
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		put_guest(out, guest);
}

/* ---- parts */

/*
 * in->size: the end of the block before. The output has room for what is the largest, so that only
 * memory can lack.
 */
static void compress_block(struct packer *packer, size_t end, bool ends_frame, ZSTD_inBuffer *in,
			   ZSTD_outBuffer *out)
{
	in->size = end;
	if (ZSTD_compressStream2(packer->pack, out, in, ends_frame ? ZSTD_e_end : ZSTD_e_flush))
		out_of_memory();
}

/* Busy guests and idle ones have different counts, so long columns are several blocks. */
static void compress_until(struct packer *packer, size_t end, bool ends_frame, ZSTD_inBuffer *in,
			   ZSTD_outBuffer *out)
{
	while (end - in->size > BLOCK_MAX * 3 / 2)
		compress_block(packer, in->size + BLOCK_MAX, false, in, out);
	compress_block(packer, end, ends_frame, in, out);
}

/* Compresses what comes before the end of a frame, from in->size on. */
static void compress_frame(struct packer *packer, const struct out *made, size_t end,
			   ZSTD_inBuffer *in, ZSTD_outBuffer *out)
{
	size_t begin = in->size;

	ZSTD_CCtx_reset(packer->pack, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(packer->pack, end - begin);
	for (size_t i = 0; i < made->nr_blocks; i++) {
		if (made->blocks[i] > begin && made->blocks[i] < end)
			compress_until(packer, made->blocks[i], false, in, out);
	}
	compress_until(packer, end, true, in, out);
}

/* Compresses packer->plain. */
static void compress_part(struct packer *packer, const struct out *made, struct blob *blob)
{
	size_t size = packer->plain.size;
	size_t bound = ZSTD_compressBound(size) + 8 * (BLOCKS_MAX + size / BLOCK_MAX) +
		       FRAMES_MAX * FRAME_BYTES;
	ZSTD_inBuffer in = { .src = packer->plain.bytes };
	ZSTD_outBuffer out = { .size = bound };

	array_grow_unset(&blob->bytes, &blob->room, bound);
	out.dst = blob->bytes;
	for (size_t i = 0; i < made->nr_frames; i++)
		compress_frame(packer, made, made->frames[i], &in, &out);
	compress_frame(packer, made, size, &in, &out);
	blob->size = out.pos;
}

static void put_sources(struct out *out, const struct moment *moment)
{
	unsigned char *at;

	make_columns(out, SAMPLE_SOURCES);
	at = out->column->bytes;
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		at = add_number(at, moment->source_ns[i]);
	put_column(out, COLUMN_SOURCES, at);
}

/* After the totals, if any reason began late. */
static void put_late(struct out *out, const struct moment *moment)
{
	if (!moment->nr_late)
		return;
	put(out, CBOR_ARRAY, moment->nr_late * LATE_ITEMS);
	for (size_t i = 0; i < moment->nr_late; i++) {
		const struct late_reason *late = &moment->late[i];

		put_uint(out, late->key.guest);
		put_uint(out, (uint64_t)late->key.vcpu + 1);
		put_uint(out, late->key.field);
		put_uint(out, late->parent_before);
	}
}

static void put_part(struct out *out, enum moment_part part, struct sums *sums,
		     struct moment *moment)
{
	switch (part) {
	case PART_CHANGES:
		put(out, CBOR_MAP, COLUMNS - !has_open(&moment->changes));
		put_sources(out, moment);
		put_changes(out, sums, &moment->changes);
		break;
	case PART_TOTALS:
		put(out, CBOR_MAP, COLUMNS - 1 - !has_open(&moment->totals));
		put_changes(out, sums, &moment->totals);
		put_late(out, moment);
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

void pack_moment(struct packer *packer, struct moment *moment, struct packed *packed)
{
	size_t plain = 0;

	packed->time_ns = moment->time_ns;
	packed->elapsed_ns = moment->elapsed_ns;
	packed->flags = moment->flags;
	packed->work = changes_memory(&moment->changes) + changes_memory(&moment->totals) +
		       ZSTD_sizeof_CCtx(packer->pack) + ZSTD_sizeof_DCtx(packer->unpack);
	for (enum moment_part part = 0; part < MOMENT_PARTS; part++) {
		struct out out = { .blob = &packer->plain, .column = &packer->column };

		packed->parts[part].size = 0;
		if (!has_part(moment, part))
			continue;
		packer->plain.size = 0;
		put_part(&out, part, &packer->sums, moment);
		compress_part(packer, &out, &packed->parts[part]);
		plain = packer->plain.size > plain ? packer->plain.size : plain;
		packed->work += packed->parts[part].size;
	}
	packed->work += plain + packer->column.size;
}
