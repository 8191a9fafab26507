// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads what pack.c wrote. The bytes may be damaged: every number is checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "core/facts/stats.h"
#include "history/columns.h"
#include "history/pack.h"
#include "lib/array.h"
#include "lib/text.h"

/*
 * What a byte of a part claims takes many more in memory: these keep each list to PACK_MAX. A
 * million vCPUs fit into an inventory, of which there are copies; two million rows into a sample.
 */
#define GUESTS_BYTES_MAX (PACK_MAX / 8)
#define ROWS_MAX (PACK_MAX / 128)
#define ROW_BYTES 4 /* at least: keys and flags */
#define COUNTS_MAX (PACK_MAX / sizeof(uint64_t))

static int damaged(struct error *error)
{
	return error_set(error, -EBADMSG, "a sample in the history is damaged");
}

/* One frame, which has at most max bytes. */
static struct bytes uncompress(struct packer *packer, const struct blob *blob, size_t max)
{
	struct blob *plain = &packer->plain;
	unsigned long long size = ZSTD_getFrameContentSize(blob->bytes, blob->size);
	size_t got;

	/* Not known and damaged are numbers larger than any size. */
	if (!blob->size || size > max)
		return (struct bytes){ .is_bad = true };
	array_grow_unset(&plain->bytes, &plain->room, (size_t)size + 1);
	got = ZSTD_decompressDCtx(packer->unpack, plain->bytes, plain->room, blob->bytes,
				  blob->size);
	if (ZSTD_isError(got) || got != size)
		return (struct bytes){ .is_bad = true };
	return (struct bytes){ .at = plain->bytes, .end = plain->bytes + got };
}

/* ---- rows */

/* Keys ascend; but a key that was forgotten may have come back. */
static void check_keys(struct bytes *in, const struct changes *changes)
{
	for (size_t i = 1; i < changes->nr && !in->is_bad; i++) {
		const struct change *change = &changes->list[i];
		int order = key_compare(&change[-1].key, &change->key);

		in->is_bad = order > 0 || (!order && !(change[-1].flags & CHANGE_GONE));
	}
}

/* Room for rows and, as their flags say, timings. Returns how many timings there are. */
static size_t get_keys(struct bytes *in, struct changes *changes)
{
	size_t nr = (size_t)get_small(in, ROWS_MAX), nr_timings = 0;

	in->is_bad |= nr > (size_t)(in->end - in->at) / ROW_BYTES;
	changes_reset(changes);
	if (in->is_bad)
		return 0;
	array_grow_unset(&changes->list, &changes->room, nr);
	if (nr)
		memset(changes->list, 0, nr * sizeof(*changes->list));
	changes->nr = nr;
	columns_get(in, COLUMNS_KEYS, changes);
	check_keys(in, changes);
	for (size_t i = 0; i < nr; i++) {
		struct change *change = &changes->list[i];

		if (change->flags & CHANGE_IS_TIMED)
			change->timing = (uint32_t)++nr_timings;
		else /* nothing that is not timed is open */
			in->is_bad |= (change->flags & CHANGE_IS_OPEN) != 0;
	}
	return nr_timings;
}

static void get_rows(struct bytes *in, struct sums *sums, enum unpack_depth depth,
		     const struct sum_fields *fields, struct changes *changes)
{
	size_t nr_timings = get_keys(in, changes);

	if (in->is_bad)
		return;
	sums_link(sums, fields, changes);
	columns_get(in, COLUMNS_COUNTS, changes);
	sums_add_counts(changes);
	if (depth == UNPACK_COUNTS)
		return;
	array_grow_unset(&changes->timings, &changes->room_timings, nr_timings);
	if (nr_timings)
		memset(changes->timings, 0, nr_timings * sizeof(*changes->timings));
	changes->nr_timings = nr_timings;
	columns_get(in, COLUMNS_TIMES, changes);
	sums_add_times(changes);
	in->is_bad |= in->at != in->end;
}

/* ---- histograms */

/* Where the counts of each timing are. A sum has all buckets, with 0 before others are added. */
static void place_counts(struct bytes *in, struct changes *changes)
{
	size_t nr = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		struct change_timing *timing;

		if (!change->timing)
			continue;
		timing = &changes->timings[change->timing - 1];
		if (change->flags & CHANGE_IS_SUM)
			timing->nr = HIST_BUCKETS;
		in->is_bad |= timing->first + timing->nr > HIST_BUCKETS;
		timing->counts = (uint32_t)nr;
		nr += timing->nr;
	}
	in->is_bad |= nr > COUNTS_MAX;
	if (in->is_bad)
		return;
	array_grow_unset(&changes->counts, &changes->room_counts, nr);
	if (nr)
		memset(changes->counts, 0, nr * sizeof(*changes->counts));
	changes->nr_counts = nr;
}

/* The counts of a row that are stored; NULL: there are none. */
static uint64_t *stored_counts(const struct changes *changes, size_t i, unsigned int *ret_nr)
{
	const struct change *change = &changes->list[i];
	const struct change_timing *timing = changes_timing(changes, change);

	if (!timing || !timing->nr || change->flags & CHANGE_IS_SUM)
		return NULL;
	*ret_nr = timing->nr;
	return &changes->counts[timing->counts];
}

static void get_counts(struct bytes *in, struct changes *changes)
{
	struct bytes left = *in; /* in registers */
	unsigned int nr = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		uint64_t *counts = stored_counts(changes, i, &nr);

		if (counts)
			counts[HIST_MIDDLE(nr)] =
				changes->list[i].count - to_signed(get_number(&left));
	}
	for (size_t i = 0; i < changes->nr; i++) {
		uint64_t *counts = stored_counts(changes, i, &nr);

		for (unsigned int k = 0; counts && k < nr; k++) {
			if (k == HIST_MIDDLE(nr))
				continue;
			counts[k] = get_number(&left);
			counts[HIST_MIDDLE(nr)] -= counts[k];
		}
	}
	*in = left;
}

/* From the first bucket that counted to the last. */
static void trim_sums(struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		struct change_timing *timing;

		if (!change->timing || !(change->flags & CHANGE_IS_SUM))
			continue;
		timing = &changes->timings[change->timing - 1];
		while (timing->nr && !changes->counts[timing->counts + timing->nr - 1])
			timing->nr--;
		while (timing->nr && !changes->counts[timing->counts]) {
			timing->first++;
			timing->counts++;
			timing->nr--;
		}
	}
}

static void get_hists(struct bytes *in, struct changes *changes)
{
	columns_get(in, COLUMNS_HISTS, changes);
	if (!in->is_bad)
		place_counts(in, changes);
	if (in->is_bad)
		return;
	get_counts(in, changes);
	sums_add_hists(changes);
	trim_sums(changes);
	in->is_bad |= in->at != in->end;
}

/* ---- changes and totals */

int unpack_rows(struct packer *packer, enum moment_part part, const struct blob blobs[2],
		enum unpack_depth depth, const struct sum_fields *fields, struct moment *moment,
		struct error *error)
{
	struct changes *changes = part == PART_CHANGES ? &moment->changes : &moment->totals;
	struct bytes in = uncompress(packer, &blobs[0], PACK_MAX);

	for (unsigned int i = 0; part == PART_CHANGES && i < SAMPLE_SOURCES; i++)
		moment->source_ns[i] = get_number(&in);
	get_rows(&in, &packer->sums, depth, fields, changes);
	if (!in.is_bad && depth == UNPACK_ALL) {
		in = uncompress(packer, &blobs[1], PACK_MAX);
		get_hists(&in, changes);
	}
	if (in.is_bad) {
		changes_reset(changes);
		return damaged(error);
	}
	for (size_t i = 0; i < changes->nr; i++)
		changes->list[i].flags &= ~(uint32_t)CHANGE_PACKED;
	return 0;
}

/* ---- guests */

static void get_text(struct bytes *in, char *text, size_t size)
{
	size_t len = (size_t)get_small(in, PACK_MAX);

	text[0] = '\0';
	in->is_bad |= len > (size_t)(in->end - in->at);
	if (in->is_bad)
		return;
	in->is_bad = len && !utf8_clean((const char *)in->at, len, text, size);
	in->at += len;
}

/*
 * A byte or two of the part claim a vCPU, which takes many more here and in each copy of the
 * inventory: *room is what is left for all of them.
 */
static void get_guest(struct bytes *in, size_t *room, struct guests *guests)
{
	struct guest guest = { .id = (uint32_t)get_small(in, STATS_ENDED - 1) };
	uint64_t flags;
	size_t size;

	guest.pid = (pid_t)get_small(in, INT32_MAX);
	guest.start_ticks = get_number(in);
	get_text(in, guest.name, sizeof(guest.name));
	get_text(in, guest.vmm, sizeof(guest.vmm));
	for (unsigned int i = 0; i < GUEST_WORDS; i++)
		get_text(in, guest.words.text[i], sizeof(guest.words.text[i]));
	flags = get_number(in);
	guest.is_named = flags & GUEST_IS_NAMED;
	guest.has_ended = flags & GUEST_HAS_ENDED;
	guest.nr_vms = (unsigned int)get_small(in, UINT32_MAX);
	guest.nr_vcpus = (size_t)get_small(in, PACK_MAX);
	size = sizeof(guest) + guest.nr_vcpus * sizeof(*guest.vcpus);
	in->is_bad |= guest.nr_vcpus > (size_t)(in->end - in->at) / 2 || size > *room;
	if (in->is_bad)
		return;
	*room -= size;
	guest.vcpus = xcalloc(guest.nr_vcpus + 1, sizeof(*guest.vcpus));
	for (size_t i = 0; i < guest.nr_vcpus; i++) {
		guest.vcpus[i].index = (int)get_small(in, INT32_MAX);
		guest.vcpus[i].tid = (pid_t)get_small(in, INT32_MAX);
	}
	if (!in->is_bad)
		guests_put(guests, &guest);
	free(guest.vcpus);
}

int unpack_guests(struct packer *packer, const struct blob *blob, struct moment *moment,
		  struct error *error)
{
	struct bytes in = uncompress(packer, blob, GUESTS_BYTES_MAX);
	size_t nr = (size_t)get_small(&in, GUESTS_BYTES_MAX), room = GUESTS_BYTES_MAX;

	guests_free(moment->guests);
	moment->guests = guests_new(NULL);
	for (size_t i = 0; i < nr && !in.is_bad; i++)
		get_guest(&in, &room, moment->guests);
	return in.is_bad ? damaged(error) : 0;
}

/* ---- long exits */

static struct long_exit get_long_exit(struct bytes *in, uint64_t time_ns)
{
	struct long_exit exit = { .guest = (uint32_t)get_small(in, STATS_ENDED - 1) };
	uint64_t wait;

	exit.vcpu = (int32_t)(get_small(in, INT32_MAX + UINT64_C(1)) - 1);
	exit.reason = (uint32_t)get_small(in, FIELD_NONE - 1);
	exit.argument = (uint32_t)get_small(in, FIELD_NONE) - 1;
	exit.end_ns = time_ns - to_signed(get_number(in));
	exit.took_ns = get_number(in);
	exit.user_ns = get_number(in);
	exit.polled_ns = get_number(in);
	wait = get_number(in);
	exit.knows_wait = wait;
	exit.waited_ns = wait ? wait - 1 : 0;
	exit.cpu = (uint32_t)get_small(in, LONG_EXITS_NO_CPU) - 1;
	exit.pc = get_number(in);
	get_text(in, exit.symbol, sizeof(exit.symbol));
	return exit;
}

int unpack_long_exits(struct packer *packer, const struct blob *blob, uint64_t time_ns,
		      struct long_exits *exits, struct error *error)
{
	struct bytes in;
	size_t nr;

	long_exits_reset(exits);
	if (!blob->size)
		return 0;
	in = uncompress(packer, blob, PACK_MAX);
	exits->longer_ns = get_number(&in);
	exits->lost = get_number(&in);
	nr = (size_t)get_small(&in, LONG_EXITS_KEPT);
	for (size_t i = 0; i < nr && !in.is_bad; i++) {
		const struct long_exit exit = get_long_exit(&in, time_ns);

		if (!in.is_bad)
			long_exits_add(exits, &exit);
	}
	if (!in.is_bad && in.at == in.end && exits->longer_ns)
		return 0;
	long_exits_reset(exits);
	return damaged(error);
}
