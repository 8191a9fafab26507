/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns - numbers as bytes, and rows of changes as columns of numbers: one table, in columns.c,
 * for both directions. kvmtop-history(5) describes it.
 */
#ifndef KVMTOP_HISTORY_COLUMNS_H
#define KVMTOP_HISTORY_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/moment.h"

#define NUMBER_BYTES 10 /* at most, of one number */

/* Seven bits a byte, the lowest first; the highest bit says that more follow (LEB128). */
static inline unsigned char *put_number(unsigned char *at, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*at++ = (unsigned char)(value | 128);
	*at++ = (unsigned char)value;
	return at;
}

/* Bytes to be read. Damaged ones set is_bad, and their numbers mean nothing. */
struct bytes {
	const unsigned char *at, *end;
	bool is_bad;
};

static inline uint64_t get_number(struct bytes *in)
{
	uint64_t value = 0;
	unsigned char byte = 128;

	if (in->at < in->end && *in->at < 128) /* nearly always */
		return *in->at++;
	for (unsigned int shift = 0; byte & 128 && shift < 64; shift += 7) {
		if (in->at >= in->end) {
			in->is_bad = true;
			return 0;
		}
		byte = *in->at++;
		value |= (uint64_t)(byte & 127) << shift;
	}
	in->is_bad |= byte & 128;
	return value;
}

/* At most max; more is bad. */
static inline uint64_t get_small(struct bytes *in, uint64_t max)
{
	uint64_t value = get_number(in);

	in->is_bad |= value > max;
	return value > max ? 0 : value;
}

/* A difference that may be negative: 2 * d, or -2 * d - 1. */
static inline uint64_t from_signed(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t to_signed(uint64_t number)
{
	return number >> 1 ^ (0 - (number & 1));
}

/* Columns that belong together. */
enum column_set {
	COLUMNS_KEYS,  /* and the flags, which say which rows have a number in the others */
	COLUMNS_COUNTS,
	COLUMNS_TIMES, /* of a row's timing */
	COLUMNS_HISTS, /* which buckets a timing has */
};

/* At most so many bytes of a row in all of its columns. */
#define COLUMNS_ROW_BYTES (14 * NUMBER_BYTES)

/* Appends the numbers of all rows, which have room; returns their end. */
unsigned char *columns_put(unsigned char *at, enum column_set set, const struct changes *changes);

/* Sets the numbers of all rows. Members that a row has no number for stay as they are. */
void columns_get(struct bytes *in, enum column_set set, struct changes *changes);

/* Which count of a histogram of nr buckets is not stored: it follows from the others. */
#define HIST_MIDDLE(nr) (((nr) - 1U) / 2)

/* Guests, one after the other; the ones that have ended come first. */
#define GUEST_IS_NAMED 1u
#define GUEST_HAS_ENDED 2u

/* Of a long exit, and the length of its text. */
#define LONG_EXIT_NUMBERS 12

#endif
