// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads what pack.c wrote. The bytes may be damaged: every number is checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/utf8.h"
#include "history/cbor.h"
#include "history/columns.h"
#include "history/pack.h"

static int damaged(struct why *why)
{
	return why_set(why, -EBADMSG, "a sample in the history is damaged");
}

/* ---- CBOR */

struct in {
	const unsigned char *at, *end;
	const char *text; /* the latest text, or bytes */
	bool is_bad;
};

/* The next item's number or size, if it is of this kind; else 0, and the input is bad. */
static uint64_t next(struct in *in, enum cbor_kind kind)
{
	uint64_t number;
	size_t head;

	if (in->is_bad)
		return 0;
	head = cbor_head_read(in->at, (size_t)(in->end - in->at), kind, &number);
	in->is_bad = !head;
	if (in->is_bad)
		return 0;
	in->at += head;
	if (kind != CBOR_TEXT && kind != CBOR_BYTES)
		return number;
	in->is_bad = number > (uint64_t)(in->end - in->at);
	if (in->is_bad)
		return 0;
	in->text = (const char *)in->at;
	in->at += number;
	return number;
}

static uint64_t next_uint(struct in *in)
{
	return next(in, CBOR_NUMBER);
}

/* At most max; more is bad. */
static uint64_t next_small(struct in *in, uint64_t max)
{
	uint64_t value = next(in, CBOR_NUMBER);

	in->is_bad |= value > max;
	return in->is_bad ? 0 : value;
}

/* How many items follow; each has a byte at least. */
static size_t next_array(struct in *in)
{
	uint64_t nr = next(in, CBOR_ARRAY);

	in->is_bad |= nr > (uint64_t)(in->end - in->at);
	return in->is_bad ? 0 : (size_t)nr;
}

static void next_name(struct in *in, const char *name)
{
	uint64_t size = next(in, CBOR_TEXT);

	in->is_bad |= size != strlen(name) || memcmp(in->text, name, size) != 0;
}

/* ---- columns */

/* The numbers of a column that are left. A local variable: then it stays in registers. */
struct column {
	const unsigned char *at, *end;
	bool is_bad;
};

/* Begins a column that has nr numbers, of which each has a byte at least. */
static struct column begin_column(struct in *in, const char *name, size_t nr)
{
	struct column column = { 0 };
	uint64_t size;

	next_name(in, name);
	size = next(in, CBOR_BYTES);
	in->is_bad |= size < nr;
	column.is_bad = in->is_bad;
	if (in->is_bad)
		return column;
	column.at = (const unsigned char *)in->text;
	column.end = column.at + size;
	return column;
}

/* The column must have no more numbers. */
static void end_column(struct in *in, const struct column *column)
{
	in->is_bad |= column->is_bad || column->at != column->end;
}

static inline uint64_t number(struct column *column)
{
	uint64_t value = 0;
	unsigned char byte = 128;

	if (column->at < column->end && *column->at < 128) /* nearly always */
		return *column->at++;
	for (unsigned int shift = 0; byte & 128 && shift < 64; shift += 7) {
		if (column->at >= column->end) {
			column->is_bad = true;
			return 0;
		}
		byte = *column->at++;
		value |= (uint64_t)(byte & 127) << shift;
	}
	column->is_bad |= byte & 128;
	return value;
}

/* At most max; more is bad. */
static inline uint64_t small_number(struct column *column, uint64_t max)
{
	uint64_t value = number(column);

	column->is_bad |= value > max;
	return value > max ? 0 : value;
}

static void next_text(struct in *in, char *text, size_t size)
{
	uint64_t len = next(in, CBOR_TEXT);

	text[0] = '\0';
	if (!in->is_bad && len && !utf8_clean(in->text, (size_t)len, text, size))
		in->is_bad = true;
}

/* ---- parts */

static int uncompress(struct packer *packer, const struct blob *blob, struct in *in,
		      struct why *why)
{
	struct blob *plain = &packer->plain;
	unsigned long long size = ZSTD_getFrameContentSize(blob->bytes, blob->size);
	size_t got;

	/* Not known and damaged are numbers larger than any size. */
	if (size > PACK_MAX)
		return damaged(why);
	if (array_grow(&plain->bytes, &plain->room, (size_t)size + 1) < 0)
		return why_set(why, -ENOMEM, "out of memory");
	got = ZSTD_decompressDCtx(packer->unpack, plain->bytes, plain->room, blob->bytes,
				  blob->size);
	if (ZSTD_isError(got) || got != size)
		return damaged(why);
	*in = (struct in){ .at = plain->bytes, .end = plain->bytes + got };
	return 0;
}

static int make_rows(struct changes *changes, size_t nr)
{
	changes_reset(changes);
	if (array_grow(&changes->list, &changes->room, nr) < 0)
		return -ENOMEM;
	changes->nr = nr;
	return 0;
}

/* The first column says whether there are as many rows as there must be room for. */
static int read_guest_ids(struct in *in, struct changes *changes, size_t nr)
{
	struct column column = begin_column(in, COLUMN_GUEST, nr);
	uint32_t guest = 0;

	if (make_rows(changes, in->is_bad ? 0 : nr) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < changes->nr; i++) {
		guest += (uint32_t)small_number(&column, UINT32_MAX - guest);
		changes->list[i].key.guest = guest;
	}
	end_column(in, &column);
	return 0;
}

static void read_vcpus(struct in *in, struct changes *changes)
{
	struct column column = begin_column(in, COLUMN_VCPU, changes->nr);
	int64_t vcpu = -1;

	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->list[i];

		if (!i || change[-1].key.guest != change->key.guest)
			vcpu = -1;
		vcpu += (int64_t)small_number(&column, (uint64_t)(INT32_MAX - vcpu));
		change->key.vcpu = (int32_t)vcpu;
	}
	end_column(in, &column);
}

static void read_fields(struct in *in, struct changes *changes)
{
	struct column column = begin_column(in, COLUMN_FIELD, changes->nr);

	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->list[i];
		bool is_same = i && change[-1].key.guest == change->key.guest &&
			       change[-1].key.vcpu == change->key.vcpu;
		uint32_t field = is_same ? change[-1].key.field : 0;
		uint32_t more = (uint32_t)small_number(&column, FIELD_NONE - 1 - field);

		column.is_bad |= is_same && !more;
		change->key.field = field + more;
	}
	end_column(in, &column);
}

/* Returns how many rows are timed. */
static size_t read_flags(struct in *in, struct changes *changes)
{
	struct column column = begin_column(in, COLUMN_FLAGS, changes->nr);
	size_t nr_timed = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		uint32_t flags = (uint32_t)small_number(&column, UINT32_MAX);

		changes->list[i].flags = flags >> 1;
		changes->list[i].timing = flags & 1 ? (uint32_t)++nr_timed : 0;
	}
	end_column(in, &column);
	return nr_timed;
}

static void read_counts(struct in *in, struct changes *changes)
{
	struct column column = begin_column(in, COLUMN_COUNT, changes->nr);

	for (size_t i = 0; i < changes->nr; i++)
		changes->list[i].count = number(&column);
	end_column(in, &column);
}

/* The count in the middle follows from the others, the row's count, and what is in its place. */
static void read_counts_of(struct column *column, const struct change *change, uint64_t *counts,
			   unsigned int nr)
{
	uint64_t difference = 0, middle = change->count;

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t value = number(column);

		if (i == HIST_MIDDLE(nr)) {
			difference = value >> 1 ^ (0 - (value & 1));
			continue;
		}
		counts[i] = value;
		middle -= value;
	}
	if (nr)
		counts[HIST_MIDDLE(nr)] = middle - difference;
}

/* Returns how many counts there are. */
static size_t read_buckets(struct in *in, struct changes *changes)
{
	struct column column = begin_column(in, COLUMN_BUCKETS, changes->nr_timings);
	size_t nr_counts = 0;

	for (size_t i = 0; i < changes->nr_timings; i++) {
		uint64_t buckets = small_number(&column, (uint64_t)HIST_BUCKETS << 5 | 31);
		struct change_timing *timing = &changes->timings[i];

		timing->first = buckets & 31;
		timing->nr = (uint8_t)(buckets >> 5);
		timing->counts = (uint32_t)nr_counts;
		column.is_bad |= timing->first + timing->nr > HIST_BUCKETS;
		nr_counts += timing->nr;
	}
	end_column(in, &column);
	return nr_counts;
}

static int read_hists(struct in *in, struct changes *changes)
{
	size_t nr_counts = read_buckets(in, changes);
	struct column column = begin_column(in, COLUMN_HIST, nr_counts);

	if (in->is_bad)
		return 0;
	if (array_grow(&changes->counts, &changes->room_counts, nr_counts) < 0)
		return -ENOMEM;
	changes->nr_counts = nr_counts;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		const struct change_timing *timing = changes_timing(changes, change);

		if (timing && timing->nr)
			read_counts_of(&column, change, &changes->counts[timing->counts],
				       timing->nr);
	}
	end_column(in, &column);
	return 0;
}

static int read_timings(struct in *in, struct changes *changes, size_t nr,
			enum unpack_depth depth)
{
	struct column column = begin_column(in, COLUMN_TIME, nr);

	if (in->is_bad)
		return 0;
	if (array_grow(&changes->timings, &changes->room_timings, nr) < 0)
		return -ENOMEM;
	changes->nr_timings = nr;
	for (size_t i = 0; i < nr; i++)
		changes->timings[i] = (struct change_timing){ .time_ns = number(&column) };
	end_column(in, &column);
	column = begin_column(in, COLUMN_MAX, nr);
	for (size_t i = 0; i < nr; i++)
		changes->timings[i].max_ns = number(&column);
	end_column(in, &column);
	return depth == UNPACK_ALL && !in->is_bad ? read_hists(in, changes) : 0;
}

static int read_changes(struct in *in, struct changes *changes, enum unpack_depth depth,
			struct why *why)
{
	size_t nr_rows, nr_timed;
	int err;

	next_name(in, COLUMN_ROWS);
	nr_rows = (size_t)next_small(in, PACK_MAX);
	err = read_guest_ids(in, changes, nr_rows);
	if (!err && !in->is_bad) {
		read_vcpus(in, changes);
		read_fields(in, changes);
		nr_timed = read_flags(in, changes);
		read_counts(in, changes);
		if (depth > UNPACK_COUNTS && !in->is_bad)
			err = read_timings(in, changes, nr_timed, depth);
	}
	if (err)
		return why_set(why, err, "out of memory");
	if (!in->is_bad)
		return 0;
	changes_reset(changes);
	return damaged(why);
}

int unpack_changes(struct packer *packer, const struct blob *blob, enum unpack_depth depth,
		   struct moment *moment, struct why *why)
{
	struct column column;
	struct in in;
	int err = uncompress(packer, blob, &in, why);

	if (err)
		return err;
	in.is_bad |= next(&in, CBOR_MAP) != 1 + COLUMNS;
	column = begin_column(&in, COLUMN_SOURCES, SAMPLE_SOURCES);
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		moment->source_ns[i] = number(&column);
	end_column(&in, &column);
	return read_changes(&in, &moment->changes, depth, why);
}

/* Nothing, or one array. */
static int read_late(struct in *in, struct moment *moment, struct why *why)
{
	size_t nr = in->at == in->end ? 0 : next_array(in) / LATE_ITEMS;

	if (array_grow(&moment->late, &moment->room_late, nr) < 0)
		return why_set(why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr; i++) {
		struct late_reason *late = &moment->late[i];

		late->key.guest = (uint32_t)next_small(in, UINT32_MAX);
		late->key.vcpu = (int32_t)next_small(in, INT32_MAX) - 1;
		late->key.field = (uint32_t)next_small(in, FIELD_NONE - 1);
		late->parent_before = next_uint(in);
	}
	if (in->is_bad)
		return damaged(why);
	moment->nr_late = nr;
	return 0;
}

int unpack_totals(struct packer *packer, const struct blob *blob, enum unpack_depth depth,
		  struct moment *moment, struct why *why)
{
	struct in in;
	int err = uncompress(packer, blob, &in, why);

	if (err)
		return err;
	in.is_bad |= next(&in, CBOR_MAP) != COLUMNS;
	moment->nr_late = 0;
	err = read_changes(&in, &moment->totals, depth, why);
	return err || depth != UNPACK_ALL ? err : read_late(&in, moment, why);
}

/* ---- guests */

static int read_guest(struct in *in, struct guests *guests)
{
	struct guest guest = { 0 };
	size_t nr = next_array(in);
	uint64_t flags;
	int err = -ENOMEM;

	in->is_bad |= nr < GUEST_ITEMS || nr % 2 != GUEST_ITEMS % 2;
	guest.id = (uint32_t)next_small(in, STATS_ENDED - 1);
	guest.pid = (pid_t)next_small(in, INT32_MAX);
	guest.start_ticks = next_uint(in);
	next_text(in, guest.name, sizeof(guest.name));
	next_text(in, guest.vmm, sizeof(guest.vmm));
	flags = next_uint(in);
	guest.is_named = flags & GUEST_IS_NAMED;
	guest.has_ended = flags & GUEST_HAS_ENDED;
	guest.nr_vms = (unsigned int)next_small(in, UINT32_MAX);
	if (in->is_bad)
		return 0;
	guest.nr_vcpus = (nr - GUEST_ITEMS) / 2;
	guest.vcpus = calloc(guest.nr_vcpus + 1, sizeof(*guest.vcpus));
	for (size_t i = 0; guest.vcpus && i < guest.nr_vcpus; i++) {
		guest.vcpus[i].index = (int)next_small(in, INT32_MAX);
		guest.vcpus[i].tid = (pid_t)next_small(in, INT32_MAX);
	}
	if (guest.vcpus && !in->is_bad)
		err = guests_put(guests, &guest);
	free(guest.vcpus);
	return in->is_bad ? 0 : err;
}

int unpack_guests(struct packer *packer, const struct blob *blob, struct moment *moment,
		  struct why *why)
{
	struct in in;
	size_t nr;
	int err = uncompress(packer, blob, &in, why);

	if (err)
		return err;
	guests_free(moment->guests);
	moment->guests = guests_new(NULL);
	if (!moment->guests)
		return why_set(why, -ENOMEM, "out of memory");
	nr = next_array(&in);
	for (size_t i = 0; i < nr && !in.is_bad && !err; i++)
		err = read_guest(&in, moment->guests);
	if (err)
		return why_set(why, err, "out of memory");
	return in.is_bad ? damaged(why) : 0;
}
