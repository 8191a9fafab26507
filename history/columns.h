/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns - the order of what is in a packed moment, and how it is written and read: columns of
 * numbers in CBOR, compressed. kvmtop-history(5) describes it.
 */
#ifndef KVMTOP_HISTORY_COLUMNS_H
#define KVMTOP_HISTORY_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/array.h"
#include "history/moment.h"

/*
 * The columns of changes and totals, in this order; each has its number before it. A row is a key.
 *
 * The numbers of a column are a string of bytes: each number has seven bits a byte, the lowest
 * first, and the highest bit of a byte says that more follow (LEB128). That is an eighth less than
 * numbers of CBOR, and faster.
 */
enum column_id {
	COLUMN_SOURCES, /* of changes only */
	COLUMN_ROWS,	/* a number of CBOR: how many rows there are */
	COLUMN_GUEST,	/* more than the row before */
	COLUMN_VCPU,	/* more than the row before; of another guest, more than -1 */
	COLUMN_FIELD,	/* more than the row before; of another vCPU, more than 0 */
	/*
	 * Which rows add up to another one. Three numbers for each range of fields: how many
	 * fields are between it and the range before, how many it has, and the field that is
	 * their sum.
	 */
	COLUMN_SUMS,
	/*
	 * CHANGE_* << 1, and 1: it is timed. A row with CHANGE_IS_SUM has nothing in the columns
	 * after this one but the longest: the rest is what rows of the same vCPU add up to.
	 */
	COLUMN_FLAGS,
	COLUMN_COUNT,
	/* Of the rows that are timed. */
	COLUMN_TIME, /* without its lowest 16 bits */
	/* The 16 bits, two bytes, the lower one first. They are noise, and the rest is not. */
	COLUMN_TIME_LOW,
	/*
	 * Only if anything was open. Three numbers for each row in which something was: how many
	 * rows that are timed are between it and the one before, how long it is open, and how much
	 * longer than at the moment before, as COLUMN_DIFFERENCE.
	 */
	COLUMN_OPEN,
	COLUMN_MAX,
	COLUMN_BUCKETS, /* how many there are from the first that counted to the last */
	COLUMN_FIRST,	/* the first of them */
	/*
	 * Of rows with buckets: how much larger the row's count is than the sum of all buckets, as
	 * 2 * d, or as -2 * d - 1 if d is negative. It is nearly always 0.
	 */
	COLUMN_DIFFERENCE,
	COLUMN_HIST, /* the counts of the buckets but the one in the middle, the largest */
	COLUMNS
};
#define HIST_MIDDLE(span) (((span) - 1) / 2)

/*
 * After the totals, if any reason began later than its event: an array with the guest, the vCPU
 * + 1, the field and the event's total then, of each such reason.
 */
#define LATE_ITEMS 4

/*
 * A guest is an array: id, pid, start in ticks, name, VMM, GUEST_*, VMs, and for each vCPU its
 * index and its thread. Guests that have ended come first.
 */
#define GUEST_ITEMS 7
/*
 * Readers have a table by id, and a damaged id must not make it larger than the memory. A writer
 * that finds a new guest each second gets here after half a year.
 */
#define GUEST_ID_MAX (1u << 24)
#define GUEST_IS_NAMED 1u
#define GUEST_HAS_ENDED 2u

/* ---- CBOR (RFC 8949): numbers from 0, text, bytes, arrays, maps */

/*
 * An item begins with a head: its kind, and a number. Of text and bytes the number is how many
 * bytes follow, of an array how many items, of a map how many pairs of items.
 */
#define CBOR_HEAD_MAX 9 /* bytes */

/* As in the three highest bits of a head. */
enum cbor_kind {
	CBOR_NUMBER = 0,
	CBOR_BYTES = 2,
	CBOR_TEXT = 3,
	CBOR_ARRAY = 4,
	CBOR_MAP = 5,
};

/* Writes the shortest head at bytes, which have room for CBOR_HEAD_MAX; returns its size. */
size_t cbor_head_write(unsigned char *bytes, enum cbor_kind kind, uint64_t number);

/* Reads a head of this kind; returns its size, or 0: another kind, or damaged. */
size_t cbor_head_read(const unsigned char *bytes, size_t size, enum cbor_kind kind,
		      uint64_t *ret_number);

/* ---- writing */

#define COLUMN_FRAMES_MAX 2
#define COLUMN_NUMBER_MAX 10 /* bytes of a number */

struct ZSTD_CCtx_s;

/* A part while it is made, uncompressed. */
struct out {
	struct blob *blob;
	struct blob *column; /* room for the numbers of a column */
	size_t frames[COLUMN_FRAMES_MAX]; /* where the part goes on in another frame */
	size_t nr_frames;
};

void out_head(struct out *out, enum cbor_kind kind, uint64_t number);

static inline void out_number(struct out *out, uint64_t value)
{
	out_head(out, CBOR_NUMBER, value);
}

void out_text(struct out *out, const char *text);

static inline void out_note_size(struct blob *column, size_t size)
{
	column->size = size > column->size ? size : column->size;
}

static inline void out_grow_column(struct out *out, size_t size)
{
	struct blob *column = out->column;

	array_grow_unset(&column->bytes, &column->room, size);
}

/* Room for columns of up to nr numbers. */
static inline void out_make_columns(struct out *out, size_t nr)
{
	out_grow_column(out, (nr + 1) * COLUMN_NUMBER_MAX);
}

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
static inline unsigned char *add_number(unsigned char *at, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*at++ = (unsigned char)(value | 128);
	*at++ = (unsigned char)value;
	return at;
}

/* The numbers of the column are in out->column, up to end. */
void out_column(struct out *out, enum column_id column, const unsigned char *end);

/* What follows is read less often: in a frame of its own, a reader need not uncompress it. */
void out_begin_frame(struct out *out);

/* Compresses the part. */
void out_compress(const struct out *made, struct ZSTD_CCtx_s *zstd, struct blob *blob);

/* ---- reading: of damaged bytes is_bad is set, and every number is 0 */

struct in {
	struct ZSTD_DCtx_s *zstd;
	struct blob *plain; /* for a frame, uncompressed */
	struct sums *sums; /* of the part's rows */
	const unsigned char *rest, *rest_end; /* frames that are not uncompressed yet */
	size_t frame_max; /* bytes of one, uncompressed */
	const unsigned char *at, *end;
	const char *text; /* the latest text, or bytes */
	bool is_bad;
	bool has_open; /* it has COLUMN_OPEN */
};

/* The part, of which a frame has at most max bytes, uncompressed. */
struct in in_uncompress(struct ZSTD_DCtx_s *zstd, struct blob *plain, const struct blob *blob,
			size_t max);

/* Where another frame may begin. The columns before are no longer valid. */
void in_go_on(struct in *in);

/* The next item's number or size, if it is of this kind. */
uint64_t in_head(struct in *in, enum cbor_kind kind);

static inline uint64_t in_number(struct in *in)
{
	return in_head(in, CBOR_NUMBER);
}

/* At most max; more is bad. */
uint64_t in_small(struct in *in, uint64_t max);

/* How many items follow; each has a byte at least. */
size_t in_array(struct in *in);

void in_text(struct in *in, char *text, size_t size);

/* The numbers of a column that are left. A local variable: then it stays in registers. */
struct in_column {
	const unsigned char *at, *end;
	bool is_bad;
};

/* Begins a column that has nr numbers, of which each has a byte at least. */
struct in_column in_begin_column(struct in *in, enum column_id name, size_t nr);

/* The column must have no more numbers. */
void in_end_column(struct in *in, struct in_column column);

static inline uint64_t number(struct in_column *column)
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
static inline uint64_t small_number(struct in_column *column, uint64_t max)
{
	uint64_t value = number(column);

	column->is_bad |= value > max;
	return value > max ? 0 : value;
}

#endif
