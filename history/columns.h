/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns - the order of what is in a packed moment; kvmtop-history(5) describes it.
 */
#ifndef KVMTOP_HISTORY_COLUMNS_H
#define KVMTOP_HISTORY_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

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
	 * Which rows add up to another one. Three numbers for each run of fields: how many fields
	 * are between it and the run before, how many it has, and the field that is their sum.
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

/* A head's low five bits: the number itself, or from 24 to 27 that 1, 2, 4 or 8 bytes have it. */
#define CBOR_FIRST_SIZE 24
#define CBOR_SIZES 4

/* Writes a head at bytes, which have room for CBOR_HEAD_MAX, the shortest; returns its size. */
static inline size_t cbor_head_write(unsigned char *bytes, enum cbor_kind kind, uint64_t number)
{
	unsigned int log = 0;
	size_t size;

	if (number < CBOR_FIRST_SIZE) {
		bytes[0] = (unsigned char)((unsigned int)kind << 5 | number);
		return 1;
	}
	while (log < CBOR_SIZES - 1 && number >> (8U << log))
		log++;
	size = (size_t)1 << log;
	bytes[0] = (unsigned char)((unsigned int)kind << 5 | (CBOR_FIRST_SIZE + log));
	for (size_t i = size; i > 0; i--, number >>= 8)
		bytes[i] = (unsigned char)number;
	return 1 + size;
}

/* Reads a head of this kind; returns its size, or 0: another kind, or damaged. */
static inline size_t cbor_head_read(const unsigned char *bytes, size_t size, enum cbor_kind kind,
				    uint64_t *ret_number)
{
	uint64_t number = 0;
	unsigned int low;
	size_t follow;

	if (!size || bytes[0] >> 5 != (unsigned char)kind)
		return 0;
	low = bytes[0] & 31;
	if (low < CBOR_FIRST_SIZE) {
		*ret_number = low;
		return 1;
	}
	if (low >= CBOR_FIRST_SIZE + CBOR_SIZES)
		return 0;
	follow = (size_t)1 << (low - CBOR_FIRST_SIZE);
	if (size < 1 + follow)
		return 0;
	for (size_t i = 1; i <= follow; i++)
		number = number << 8 | bytes[i];
	*ret_number = number;
	return 1 + follow;
}

#endif
