// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes bytes of the parts of a moment, and compresses them. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "history/columns.h"
#include "history/pack.h"
#include "lib/array.h"

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
	sums_release(&packer->sums);
	free(packer);
}

void packed_release(struct packed *packed)
{
	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		blob_release(&packed->parts[i]);
	*packed = (struct packed){ 0 };
}

/* Room for so many bytes more, up to the end that grow() returns after they were written. */
static unsigned char *room(struct blob *blob, size_t size)
{
	array_grow_unset(&blob->bytes, &blob->room, blob->size + size);
	return blob->bytes + blob->size;
}

static void end_blob(struct blob *blob, const unsigned char *at)
{
	blob->size = (size_t)(at - blob->bytes);
}

/* ---- changes and totals */

static void mark(struct packer *packer, struct changes *changes)
{
	changes_sort(changes);
	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->list[i];
		const struct change_timing *timing = changes_timing(changes, change);

		change->flags |= timing ? CHANGE_IS_TIMED : 0;
		if (timing && (timing->open_ns || timing->open_before_ns))
			change->flags |= CHANGE_IS_OPEN;
		change->flags |= change->parent_before ? CHANGE_IS_LATE : 0;
	}
	sums_mark(&packer->sums, changes);
}

static void unmark(struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++)
		changes->list[i].flags &= ~(uint32_t)CHANGE_PACKED;
}

static void put_rows(struct blob *blob, const struct changes *changes)
{
	unsigned char *at = room(blob, NUMBER_BYTES + changes->nr * COLUMNS_ROW_BYTES);

	at = put_number(at, changes->nr);
	at = columns_put(at, COLUMNS_KEYS, changes);
	at = columns_put(at, COLUMNS_COUNTS, changes);
	end_blob(blob, columns_put(at, COLUMNS_TIMES, changes));
}

/* The timing of a row that has buckets of its own. */
static const struct change_timing *timing_with_hist(const struct changes *changes, size_t i)
{
	const struct change *change = &changes->list[i];
	const struct change_timing *timing = changes_timing(changes, change);

	return timing && timing->nr && !(change->flags & CHANGE_IS_SUM) ? timing : NULL;
}

/* The largest count, in the middle, follows from the others and from the difference. */
static void put_hists(struct blob *blob, const struct changes *changes)
{
	size_t most = changes->nr * COLUMNS_ROW_BYTES + changes->nr_counts * NUMBER_BYTES;
	unsigned char *at = columns_put(room(blob, most), COLUMNS_HISTS, changes);
	const struct change_timing *timing;

	for (size_t i = 0; i < changes->nr; i++) {
		uint64_t difference = changes->list[i].count;

		timing = timing_with_hist(changes, i);
		if (!timing)
			continue;
		for (unsigned int k = 0; k < timing->nr; k++)
			difference -= changes_counts(changes, timing)[k];
		at = put_number(at, from_signed(difference));
	}
	for (size_t i = 0; i < changes->nr; i++) {
		timing = timing_with_hist(changes, i);
		for (unsigned int k = 0; timing && k < timing->nr; k++) {
			if (k != HIST_MIDDLE(timing->nr))
				at = put_number(at, changes_counts(changes, timing)[k]);
		}
	}
	end_blob(blob, at);
}

/* ---- guests */

static unsigned char *put_text(unsigned char *at, const char *text)
{
	size_t size = strlen(text);

	at = put_number(at, size);
	memcpy(at, text, size); /* NOLINT(bugprone-not-null-terminated-result) */
	return at + size;
}

static void put_guest(struct blob *blob, const struct guest *guest)
{
	size_t most = (8 + GUEST_WORDS + 2 * guest->nr_vcpus) * NUMBER_BYTES +
		      strlen(guest->name) + strlen(guest->vmm) + sizeof(guest->words);
	unsigned char *at = room(blob, most);

	at = put_number(at, guest->id);
	at = put_number(at, (uint64_t)guest->pid);
	at = put_number(at, guest->start_ticks);
	at = put_text(at, guest->name);
	at = put_text(at, guest->vmm);
	for (unsigned int i = 0; i < GUEST_WORDS; i++)
		at = put_text(at, guest->words.text[i]);
	at = put_number(at, (guest->is_named ? GUEST_IS_NAMED : 0u) |
				    (guest->has_ended ? GUEST_HAS_ENDED : 0u));
	at = put_number(at, guest->nr_vms);
	at = put_number(at, guest->nr_vcpus);
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		at = put_number(at, (uint64_t)guest->vcpus[i].index);
		at = put_number(at, (uint64_t)guest->vcpus[i].tid);
	}
	end_blob(blob, at);
}

static void put_guests(struct blob *blob, const struct guests *guests)
{
	const struct guest *guest;
	size_t nr = guests_count(guests);

	while (guests_ended_at(guests, nr - guests_count(guests)))
		nr++;
	end_blob(blob, put_number(room(blob, NUMBER_BYTES), nr));
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		put_guest(blob, guest);
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		put_guest(blob, guest);
}

/* ---- long exits, one after the other */

static void put_long_exit(struct blob *blob, const struct long_exit *exit, uint64_t time_ns)
{
	unsigned char *at = room(blob, LONG_EXIT_NUMBERS * NUMBER_BYTES + sizeof(exit->symbol));

	at = put_number(at, exit->guest);
	at = put_number(at, (uint64_t)(exit->vcpu + INT64_C(1)));
	at = put_number(at, exit->reason);
	at = put_number(at, (uint32_t)(exit->argument + 1)); /* FIELD_NONE is 0 */
	at = put_number(at, from_signed(time_ns - exit->end_ns));
	at = put_number(at, exit->took_ns);
	at = put_number(at, exit->user_ns);
	at = put_number(at, exit->polled_ns);
	at = put_number(at, exit->knows_wait ? exit->waited_ns + 1 : 0);
	at = put_number(at, (uint32_t)(exit->cpu + 1)); /* LONG_EXITS_NO_CPU is 0 */
	at = put_number(at, exit->pc);
	end_blob(blob, put_text(at, exit->symbol));
}

static void put_long_exits(struct blob *blob, const struct moment *moment)
{
	const struct long_exits *exits = &moment->long_exits;
	unsigned char *at = room(blob, 3 * NUMBER_BYTES);

	at = put_number(at, exits->longer_ns);
	at = put_number(at, exits->lost);
	end_blob(blob, put_number(at, exits->nr));
	for (size_t i = 0; i < exits->nr; i++)
		put_long_exit(blob, long_exits_at(exits, i), moment->time_ns);
}

/* ---- parts */

static void put_sources(struct blob *blob, const struct moment *moment)
{
	unsigned char *at = room(blob, SAMPLE_SOURCES * NUMBER_BYTES);

	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		at = put_number(at, moment->source_ns[i]);
	end_blob(blob, at);
}

static void put_part(struct blob *blob, enum moment_part part, const struct moment *moment)
{
	switch (part) {
	case PART_CHANGES:
		put_sources(blob, moment);
		put_rows(blob, &moment->changes);
		break;
	case PART_HISTS:
		put_hists(blob, &moment->changes);
		break;
	case PART_TOTALS:
		put_rows(blob, &moment->totals);
		break;
	case PART_TOTAL_HISTS:
		put_hists(blob, &moment->totals);
		break;
	case PART_LONG_EXITS:
		put_long_exits(blob, moment);
		break;
	default:
		put_guests(blob, moment->guests);
	}
}

static bool has_part(const struct moment *moment, enum moment_part part)
{
	static const uint32_t flags[MOMENT_PARTS] = {
		[PART_TOTALS] = MOMENT_HAS_TOTALS,
		[PART_TOTAL_HISTS] = MOMENT_HAS_TOTALS,
		[PART_GUESTS] = MOMENT_HAS_GUESTS,
	};

	return part == PART_LONG_EXITS ? moment->long_exits.longer_ns > 0 :
					 (moment->flags & flags[part]) == flags[part];
}

static void compress(struct packer *packer, struct blob *blob)
{
	size_t size = ZSTD_compressBound(packer->plain.size);

	array_grow_unset(&blob->bytes, &blob->room, size);
	blob->size = ZSTD_compress2(packer->pack, blob->bytes, blob->room, packer->plain.bytes,
				    packer->plain.size);
	if (ZSTD_isError(blob->size)) /* there is room for the largest result */
		out_of_memory();
}

void pack_moment(struct packer *packer, struct moment *moment, struct packed *packed)
{
	size_t plain = 0;

	packed->work = changes_memory(&moment->changes) + changes_memory(&moment->totals) +
		       ZSTD_sizeof_CCtx(packer->pack) + ZSTD_sizeof_DCtx(packer->unpack);
	mark(packer, &moment->changes);
	mark(packer, &moment->totals);
	for (enum moment_part part = 0; part < MOMENT_PARTS; part++) {
		packed->parts[part].size = 0;
		if (!has_part(moment, part))
			continue;
		packer->plain.size = 0;
		put_part(&packer->plain, part, moment);
		compress(packer, &packed->parts[part]);
		plain = packer->plain.size > plain ? packer->plain.size : plain;
		packed->work += packed->parts[part].size;
	}
	unmark(&moment->changes);
	unmark(&moment->totals);
	packed->work += plain;
}
