// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads what pack.c wrote. The bytes may be damaged: every number is checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "history/columns.h"
#include "history/pack.h"

/*
 * What a byte of a part claims takes many more in memory: these keep each list to PACK_MAX. A
 * million vCPUs fit into an inventory, of which there are copies; two million rows into a sample.
 */
#define GUESTS_BYTES_MAX (PACK_MAX / 8)
#define ROWS_MAX (PACK_MAX / 128)
#define COUNTS_MAX (PACK_MAX / sizeof(uint64_t))
#define SUMS_MAX (PACK_MAX / sizeof(struct sum_range))

static int damaged(struct error *error)
{
	return error_set(error, -EBADMSG, "a sample in the history is damaged");
}

static struct in begin(struct packer *packer, const struct blob *blob, size_t max)
{
	struct in in = in_uncompress(packer->unpack, &packer->plain, blob, max);

	in.sums = &packer->sums;
	return in;
}

/* ---- rows */

/* The difference that a number stands for, see COLUMN_DIFFERENCE. */
static inline uint64_t difference_of(uint64_t number)
{
	return number >> 1 ^ (0 - (number & 1));
}

/* A row's key, of the row before. Guests ascend, in a guest vCPUs, of a vCPU fields. */
static inline void read_key(struct in_column *guests, struct in_column *vcpus,
			    struct in_column *fields, bool is_first, struct key *key)
{
	uint32_t guest = (uint32_t)small_number(guests, UINT32_MAX - key->guest);
	int64_t from = guest ? -1 : key->vcpu;
	int64_t vcpu = (int64_t)small_number(vcpus, (uint64_t)(INT32_MAX - from));
	bool is_same = !is_first && !guest && !vcpu;
	uint32_t before = is_same ? key->field : 0;
	uint32_t field = (uint32_t)small_number(fields, FIELD_NONE - 1 - before);

	fields->is_bad |= is_same && !field;
	key->guest += guest;
	key->vcpu = (int32_t)(from + vcpu);
	key->field = before + field;
}

/* The first column says whether there are as many rows as there must be room for. */
static void read_keys(struct in *in, struct changes *changes, size_t nr)
{
	struct in_column guests, vcpus, fields;
	struct key key = { .guest = 0, .vcpu = -1 };

	guests = in_begin_column(in, COLUMN_GUEST, nr);
	changes_reset(changes);
	if (in->is_bad)
		return;
	array_grow(&changes->list, &changes->room, nr);
	changes->nr = nr;
	vcpus = in_begin_column(in, COLUMN_VCPU, nr);
	fields = in_begin_column(in, COLUMN_FIELD, nr);
	for (size_t i = 0; i < changes->nr; i++) {
		read_key(&guests, &vcpus, &fields, !i, &key);
		changes->list[i].key = key;
	}
	in_end_column(in, guests);
	in_end_column(in, vcpus);
	in_end_column(in, fields);
}

static bool is_stored(const struct change *change)
{
	return !(change->flags & CHANGE_IS_SUM);
}

/* How many rows have numbers of their own, and how many are timed. */
struct rows {
	size_t nr_stored, nr_timed, nr_stored_timed;
};

static void read_sums(struct in *in, struct sums *sums)
{
	struct in_column column;
	uint64_t end = 0;

	column = in_begin_column(in, COLUMN_SUMS, 0);
	sums->nr = 0;
	while (!column.is_bad && column.at < column.end) {
		struct sum_range run;

		column.is_bad = sums->nr >= SUMS_MAX;
		array_grow(&sums->ranges, &sums->room, sums->nr + 1);
		run.first = (uint32_t)(end + small_number(&column, FIELD_NONE - end));
		run.nr = (uint32_t)small_number(&column, FIELD_NONE - run.first);
		run.sum = (uint32_t)small_number(&column, FIELD_NONE);
		end = (uint64_t)run.first + run.nr;
		sums->ranges[sums->nr++] = run;
	}
	in_end_column(in, column);
}

static struct rows read_flags(struct in *in, struct changes *changes)
{
	struct in_column column;
	struct rows rows = { 0 };

	column = in_begin_column(in, COLUMN_FLAGS, changes->nr);
	for (size_t i = 0; i < changes->nr; i++) {
		uint32_t flags = (uint32_t)small_number(&column, UINT32_MAX);

		changes->list[i].flags = flags >> 1;
		changes->list[i].timing = flags & 1 ? (uint32_t)++rows.nr_timed : 0;
		rows.nr_stored += is_stored(&changes->list[i]);
		rows.nr_stored_timed += flags & 1 && is_stored(&changes->list[i]);
	}
	in_end_column(in, column);
	return rows;
}

static void read_counts(struct in *in, struct changes *changes, const struct rows *rows)
{
	struct in_column column;

	column = in_begin_column(in, COLUMN_COUNT, rows->nr_stored);
	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->list[i];

		if (!is_stored(change)) {
			change->count = 0;
			continue;
		}
		change->count = number(&column);
		if (change->sum)
			changes->list[change->sum - 1].count += change->count;
	}
	in_end_column(in, column);
}

/* How many rows have buckets, and how many counts they have together. */
struct hists {
	size_t nr, nr_counts;
};

static struct hists read_buckets(struct in *in, struct changes *changes, const struct rows *rows)
{
	struct in_column column, firsts;
	struct hists hists = { 0 };

	column = in_begin_column(in, COLUMN_BUCKETS, rows->nr_stored_timed);
	firsts = in_begin_column(in, COLUMN_FIRST, rows->nr_stored_timed);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		struct change_timing *timing;

		if (!change->timing || !is_stored(change))
			continue;
		timing = &changes->timings[change->timing - 1];
		timing->first = (uint8_t)small_number(&firsts, HIST_BUCKETS);
		timing->nr = (uint8_t)small_number(&column, HIST_BUCKETS);
		timing->counts = (uint32_t)hists.nr_counts;
		column.is_bad |= timing->first + timing->nr > HIST_BUCKETS;
		hists.nr_counts += timing->nr;
		hists.nr += timing->nr != 0;
	}
	in_end_column(in, column);
	in_end_column(in, firsts);
	return hists;
}

/* The buckets of a row; NULL: it has none, or they are a sum. */
static uint64_t *counts_of(struct changes *changes, const struct change *change,
			   unsigned int *ret_nr)
{
	const struct change_timing *timing = changes_timing(changes, change);

	*ret_nr = timing ? timing->nr : 0;
	return *ret_nr ? &changes->counts[timing->counts] : NULL;
}

/* To where the counts in the middle will be. */
static void read_differences(struct in *in, struct in_column column, struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		unsigned int nr;
		uint64_t *counts = counts_of(changes, &changes->list[i], &nr);

		if (counts)
			counts[HIST_MIDDLE(nr)] = number(&column);
	}
	in_end_column(in, column);
}

/* The count in the middle follows from the others, the row's count, and the difference. */
static inline void read_counts_of(struct in_column *column, const struct change *change,
				  uint64_t *counts, unsigned int nr)
{
	unsigned int at_middle = HIST_MIDDLE(nr);
	uint64_t middle = change->count - difference_of(counts[at_middle]);

	for (unsigned int i = 0; i < nr; i++) {
		if (i == at_middle)
			continue;
		counts[i] = number(column);
		middle -= counts[i];
	}
	counts[at_middle] = middle;
}

static void read_hists(struct in *in, struct changes *changes, const struct rows *rows)
{
	struct in_column column, differences;
	struct hists hists;

	in_go_on(in);
	hists = read_buckets(in, changes, rows);
	differences = in_begin_column(in, COLUMN_DIFFERENCE, hists.nr);
	column = in_begin_column(in, COLUMN_HIST, hists.nr_counts - hists.nr);
	in->is_bad |= hists.nr_counts > COUNTS_MAX;
	if (in->is_bad)
		return;
	array_grow(&changes->counts, &changes->room_counts, hists.nr_counts);
	changes->nr_counts = hists.nr_counts;
	read_differences(in, differences, changes);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		unsigned int nr;
		uint64_t *counts = counts_of(changes, change, &nr);

		if (counts)
			read_counts_of(&column, change, counts, nr);
	}
	in_end_column(in, column);
	if (!in->is_bad && in->sums->nr)
		sums_add_hists(changes);
}

/* lows: the lowest 16 bits. */
static inline uint64_t read_time(struct in_column *column, struct in_column *lows)
{
	uint64_t time_ns = small_number(column, UINT64_MAX >> 16) << 16;

	if (lows->end - lows->at < 2)
		lows->is_bad = true;
	else
		time_ns |= lows->at[0] | (uint64_t)lows->at[1] << 8;
	lows->at += lows->is_bad ? 0 : 2;
	return time_ns;
}

/* A sum comes before the rows that it is the sum of. */
static void read_times(struct in *in, struct changes *changes, const struct rows *rows)
{
	struct in_column column, lows;

	column = in_begin_column(in, COLUMN_TIME, rows->nr_stored_timed);
	lows = in_begin_column(in, COLUMN_TIME_LOW, 2 * rows->nr_stored_timed);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		uint32_t sum = change->sum ? changes->list[change->sum - 1].timing : 0;
		uint64_t time_ns;

		if (!change->timing)
			continue;
		time_ns = is_stored(change) ? read_time(&column, &lows) : 0;
		changes->timings[change->timing - 1] = (struct change_timing){ .time_ns = time_ns };
		if (sum)
			changes->timings[sum - 1].time_ns += time_ns;
	}
	in_end_column(in, column);
	in_end_column(in, lows);
}

/* The next row that is timed and no sum, after `skip` of such rows; NULL: there is none. */
static const struct change *skip_timed(const struct changes *changes, size_t *i, uint64_t skip)
{
	for (; *i < changes->nr; ++*i) {
		const struct change *change = &changes->list[*i];

		if (change->timing && is_stored(change) && !skip--) {
			++*i;
			return change;
		}
	}
	return NULL;
}

/* What is open in a row is open in the row that is its sum. */
static void read_open(struct in *in, struct changes *changes)
{
	struct in_column column = in_begin_column(in, COLUMN_OPEN, 0);
	size_t i = 0;

	while (!column.is_bad && column.at < column.end) {
		const struct change *change = skip_timed(changes, &i, number(&column));
		uint64_t open_ns = number(&column);
		uint64_t before_ns = open_ns - difference_of(number(&column));
		uint32_t sum;

		column.is_bad |= !change;
		if (column.is_bad)
			break;
		sum = change->sum ? changes->list[change->sum - 1].timing : 0;
		changes->timings[change->timing - 1].open_ns = open_ns;
		changes->timings[change->timing - 1].open_before_ns = before_ns;
		if (sum) {
			changes->timings[sum - 1].open_ns += open_ns;
			changes->timings[sum - 1].open_before_ns += before_ns;
		}
	}
	in_end_column(in, column);
}

static void read_timings(struct in *in, struct changes *changes, const struct rows *rows,
			 enum unpack_depth depth)
{
	struct in_column column;

	in_go_on(in);
	if (in->is_bad)
		return;
	array_grow(&changes->timings, &changes->room_timings, rows->nr_timed);
	changes->nr_timings = rows->nr_timed;
	read_times(in, changes, rows);
	if (in->has_open)
		read_open(in, changes);
	column = in_begin_column(in, COLUMN_MAX, rows->nr_timed);
	for (size_t i = 0; i < rows->nr_timed; i++)
		changes->timings[i].max_ns = number(&column);
	in_end_column(in, column);
	if (depth == UNPACK_ALL && !in->is_bad)
		read_hists(in, changes, rows);
}

/* Numbers and durations, of rows with keys. */
static void read_rows(struct in *in, struct changes *changes, enum unpack_depth depth)
{
	struct sums *sums = in->sums;
	struct rows rows;

	read_sums(in, sums);
	rows = read_flags(in, changes);
	if (in->is_bad)
		return;
	sums_link(sums, changes);
	read_counts(in, changes, &rows);
	if (depth > UNPACK_COUNTS)
		read_timings(in, changes, &rows, depth);
	sums_unmark(changes);
}

static int read_changes(struct in *in, struct changes *changes, enum unpack_depth depth,
			struct error *error)
{
	in->is_bad |= in_number(in) != COLUMN_ROWS;
	read_keys(in, changes, (size_t)in_small(in, ROWS_MAX));
	if (!in->is_bad)
		read_rows(in, changes, depth);
	if (!in->is_bad)
		return 0;
	changes_reset(changes);
	return damaged(error);
}

/* The map of so many columns; where nothing was open, there is one less. */
static void next_columns(struct in *in, unsigned int nr)
{
	uint64_t missing = nr - in_head(in, CBOR_MAP);

	in->has_open = !missing;
	in->is_bad |= missing > 1;
}

int unpack_changes(struct packer *packer, const struct blob *blob, enum unpack_depth depth,
		   struct moment *moment, struct error *error)
{
	struct in in = begin(packer, blob, PACK_MAX);
	struct in_column column;

	next_columns(&in, COLUMNS);
	column = in_begin_column(&in, COLUMN_SOURCES, SAMPLE_SOURCES);
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		moment->source_ns[i] = number(&column);
	in_end_column(&in, column);
	return read_changes(&in, &moment->changes, depth, error);
}

/* Nothing, or one array. */
static int read_late(struct in *in, struct moment *moment, struct error *error)
{
	size_t nr = in->at == in->end ? 0 : in_array(in) / LATE_ITEMS;

	in->is_bad |= nr > ROWS_MAX;
	if (in->is_bad)
		return damaged(error);
	array_grow(&moment->late, &moment->room_late, nr);
	for (size_t i = 0; i < nr; i++) {
		struct late_reason *late = &moment->late[i];

		late->key.guest = (uint32_t)in_small(in, UINT32_MAX);
		late->key.vcpu = (int32_t)in_small(in, INT32_MAX) - 1;
		late->key.field = (uint32_t)in_small(in, FIELD_NONE - 1);
		late->parent_before = in_number(in);
	}
	if (in->is_bad)
		return damaged(error);
	moment->nr_late = nr;
	return 0;
}

int unpack_totals(struct packer *packer, const struct blob *blob, enum unpack_depth depth,
		  struct moment *moment, struct error *error)
{
	struct in in = begin(packer, blob, PACK_MAX);
	int err;

	next_columns(&in, COLUMNS - 1);
	moment->nr_late = 0;
	err = read_changes(&in, &moment->totals, depth, error);
	return err || depth != UNPACK_ALL ? err : read_late(&in, moment, error);
}

/* ---- guests */

/*
 * A byte or two of the part claim a vCPU, which takes many more here and in each copy of the
 * inventory: *room is what is left for all of them.
 */
static void read_guest(struct in *in, size_t *room, struct guests *guests)
{
	struct guest guest = { 0 };
	size_t nr = in_array(in), size;
	uint64_t flags;

	in->is_bad |= nr < GUEST_ITEMS || nr % 2 != GUEST_ITEMS % 2;
	guest.id = (uint32_t)in_small(in, GUEST_ID_MAX);
	guest.pid = (pid_t)in_small(in, INT32_MAX);
	guest.start_ticks = in_number(in);
	in_text(in, guest.name, sizeof(guest.name));
	in_text(in, guest.vmm, sizeof(guest.vmm));
	flags = in_number(in);
	guest.is_named = flags & GUEST_IS_NAMED;
	guest.has_ended = flags & GUEST_HAS_ENDED;
	guest.nr_vms = (unsigned int)in_small(in, UINT32_MAX);
	if (in->is_bad)
		return;
	guest.nr_vcpus = (nr - GUEST_ITEMS) / 2;
	size = sizeof(guest) + guest.nr_vcpus * sizeof(*guest.vcpus);
	in->is_bad = size > *room;
	if (in->is_bad)
		return;
	*room -= size;
	guest.vcpus = xcalloc(guest.nr_vcpus + 1, sizeof(*guest.vcpus));
	for (size_t i = 0; i < guest.nr_vcpus; i++) {
		guest.vcpus[i].index = (int)in_small(in, INT32_MAX);
		guest.vcpus[i].tid = (pid_t)in_small(in, INT32_MAX);
	}
	if (!in->is_bad)
		guests_put(guests, &guest);
	free(guest.vcpus);
}

int unpack_guests(struct packer *packer, const struct blob *blob, struct moment *moment,
		  struct error *error)
{
	struct in in = begin(packer, blob, GUESTS_BYTES_MAX);
	size_t nr = in_array(&in), room = GUESTS_BYTES_MAX;

	guests_free(moment->guests);
	moment->guests = guests_new(NULL);
	for (size_t i = 0; i < nr && !in.is_bad; i++)
		read_guest(&in, &room, moment->guests);
	return in.is_bad ? damaged(error) : 0;
}
