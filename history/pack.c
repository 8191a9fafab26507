// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes columns of a moment, in CBOR, and compresses them. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lib/array.h"
#include "history/columns.h"
#include "history/pack.h"

/*
 * Counts are noise: a code for each block makes them small, and there is little to find that was
 * there before. So zstd looks for long matches only, and remembers few: as small as with its level
 * 3, in half the time. A block is as large as the window: so small, long columns are blocks of
 * their own, and so are busy guests and idle ones, which have different counts.
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
		{ ZSTD_c_windowLog, 12 },
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

void packed_release(struct packed *packed)
{
	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		blob_release(&packed->parts[i]);
	*packed = (struct packed){ 0 };
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
	out_column(out, COLUMN_GUEST, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;
		int64_t from = i && key->guest == before.guest ? before.vcpu : -1;

		at = add_number(at, (uint64_t)(key->vcpu - from));
		before = *key;
	}
	out_column(out, COLUMN_VCPU, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct key *key = &changes->list[i].key;
		bool is_same = i && key->guest == before.guest && key->vcpu == before.vcpu;

		at = add_number(at, key->field - (is_same ? before.field : 0));
		before = *key;
	}
	out_column(out, COLUMN_FIELD, at);
}

static void put_sums(struct out *out, const struct sums *sums)
{
	unsigned char *at;
	uint32_t end = 0;

	out_make_columns(out, 3 * sums->nr);
	at = out->column->bytes;
	for (size_t i = 0; i < sums->nr; i++) {
		at = add_number(at, sums->ranges[i].first - end);
		at = add_number(at, sums->ranges[i].nr);
		at = add_number(at, sums->ranges[i].sum);
		end = sums->ranges[i].first + sums->ranges[i].nr;
	}
	out_column(out, COLUMN_SUMS, at);
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
	out_column(out, COLUMN_FLAGS, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		if (is_stored(&changes->list[i]))
			at = add_number(at, changes->list[i].count);
	}
	out_column(out, COLUMN_COUNT, at);
}

static void put_buckets(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (timing)
			at = add_number(at, timing->nr);
	}
	out_column(out, COLUMN_BUCKETS, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (timing)
			at = add_number(at, timing->first);
	}
	out_column(out, COLUMN_FIRST, at);
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
	out_column(out, COLUMN_DIFFERENCE, at);
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
	out_column(out, COLUMN_HIST, at);
}

static void put_times(struct out *out, const struct changes *changes)
{
	unsigned char *at = out->column->bytes;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (timing)
			at = add_number(at, timing->time_ns >> 16);
	}
	out_column(out, COLUMN_TIME, at);
	at = out->column->bytes;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change_timing *timing = stored_timing(changes, &changes->list[i]);

		if (!timing)
			continue;
		*at++ = (unsigned char)timing->time_ns;
		*at++ = (unsigned char)(timing->time_ns >> 8);
	}
	out_column(out, COLUMN_TIME_LOW, at);
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
	out_column(out, COLUMN_OPEN, at);
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
	out_column(out, COLUMN_MAX, at);
	out_begin_frame(out);
	put_buckets(out, changes);
	put_hists(out, changes);
}

static void put_changes(struct out *out, struct sums *sums, struct changes *changes)
{
	out_make_columns(out, 3 * changes->nr > changes->nr_counts ? 3 * changes->nr :
								changes->nr_counts);
	out_grow_column(out, CHANGES_SPARE(changes->nr));
	out_note_size(out->column, CHANGES_SPARE(changes->nr));
	changes_sort(changes, out->column->bytes);
	sums_find(sums, changes);
	out_number(out, COLUMN_ROWS);
	out_number(out, changes->nr);
	put_keys(out, changes);
	put_sums(out, sums);
	put_counts(out, changes);
	out_begin_frame(out);
	put_timings(out, changes);
	sums_unmark(changes);
}

/* ---- guests */

static void put_guest(struct out *out, const struct guest *guest)
{
	out_head(out, CBOR_ARRAY, GUEST_ITEMS + 2 * guest->nr_vcpus);
	out_number(out, guest->id);
	out_number(out, (uint64_t)guest->pid);
	out_number(out, guest->start_ticks);
	out_text(out, guest->name);
	out_text(out, guest->vmm);
	out_number(out, (guest->is_named ? GUEST_IS_NAMED : 0u) |
			      (guest->has_ended ? GUEST_HAS_ENDED : 0u));
	out_number(out, guest->nr_vms);
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		out_number(out, (uint64_t)guest->vcpus[i].index);
		out_number(out, (uint64_t)guest->vcpus[i].tid);
	}
}

static void put_guests(struct out *out, const struct guests *guests)
{
	const struct guest *guest;
	size_t nr = guests_count(guests);

	while (guests_ended_at(guests, nr - guests_count(guests)))
		nr++;
	out_head(out, CBOR_ARRAY, nr);
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		put_guest(out, guest);
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		put_guest(out, guest);
}

/* ---- parts */

static void put_sources(struct out *out, const struct moment *moment)
{
	unsigned char *at;

	out_make_columns(out, SAMPLE_SOURCES);
	at = out->column->bytes;
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		at = add_number(at, moment->source_ns[i]);
	out_column(out, COLUMN_SOURCES, at);
}

/* After the totals, if any reason began late. */
static void put_late(struct out *out, const struct moment *moment)
{
	if (!moment->nr_late)
		return;
	out_head(out, CBOR_ARRAY, moment->nr_late * LATE_ITEMS);
	for (size_t i = 0; i < moment->nr_late; i++) {
		const struct late_reason *late = &moment->late[i];

		out_number(out, late->key.guest);
		out_number(out, (uint64_t)late->key.vcpu + 1);
		out_number(out, late->key.field);
		out_number(out, late->parent_before);
	}
}

static void put_part(struct out *out, enum moment_part part, struct sums *sums,
		     struct moment *moment)
{
	switch (part) {
	case PART_CHANGES:
		out_head(out, CBOR_MAP, COLUMNS - !has_open(&moment->changes));
		put_sources(out, moment);
		put_changes(out, sums, &moment->changes);
		break;
	case PART_TOTALS:
		out_head(out, CBOR_MAP, COLUMNS - 1 - !has_open(&moment->totals));
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
		out_compress(&out, packer->pack, &packed->parts[part]);
		plain = packer->plain.size > plain ? packer->plain.size : plain;
		packed->work += packed->parts[part].size;
	}
	packed->work += plain + packer->column.size;
}
