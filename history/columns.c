// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of changes and totals: which rows have a number in each, and what it is. */
#include <stddef.h>
#include <string.h>

#include "history/columns.h"
#include "lib/array.h"

enum rule {
	IS_VALUE,
	IS_MORE, /* than in the row before, or than `first` where what is left of it is another */
	IS_HIGH, /* without its lowest 16 bits */
	IS_LOW,	 /* these bits, which are noise, as two bytes, the lower one first */
	IS_LESS, /* than the member `than`, as from_signed() */
};

struct column {
	enum column_set set;
	uint32_t all_of, none_of; /* flags of the rows that have a number */
	bool is_of_timing;	  /* the member is the timing's, not the row's */
	size_t offset, size;
	enum rule rule;
	uint64_t max;
	uint32_t first;
	size_t than; /* an offset */
};

#define SIZE_OF(type, member) sizeof(((type *)NULL)->member)
#define OF_ROW(member) .offset = offsetof(struct change, member), \
	.size = SIZE_OF(struct change, member)
#define OF_TIMING(member) .is_of_timing = true, \
	.offset = offsetof(struct change_timing, member), \
	.size = SIZE_OF(struct change_timing, member)

/* In the order in which they are stored. What a row that is a sum lacks is made from others. */
static const struct column columns[] = {
	{ COLUMNS_KEYS, OF_ROW(key.guest), .rule = IS_MORE, .max = UINT32_MAX },
	{ COLUMNS_KEYS, OF_ROW(key.vcpu), .rule = IS_MORE, .max = INT32_MAX, .first = UINT32_MAX },
	{ COLUMNS_KEYS, OF_ROW(key.field), .rule = IS_MORE, .max = FIELD_NONE - 1 },
	{ COLUMNS_KEYS, OF_ROW(flags), .max = UINT32_MAX },
	{ COLUMNS_COUNTS, .none_of = CHANGE_IS_SUM, OF_ROW(count), .max = UINT64_MAX },
	{ COLUMNS_COUNTS, .all_of = CHANGE_IS_LATE, OF_ROW(parent_before), .max = UINT64_MAX },
	{ COLUMNS_TIMES, .all_of = CHANGE_IS_TIMED, .none_of = CHANGE_IS_SUM, OF_TIMING(time_ns),
	  .rule = IS_HIGH, .max = UINT64_MAX >> 16 },
	{ COLUMNS_TIMES, .all_of = CHANGE_IS_TIMED, .none_of = CHANGE_IS_SUM, OF_TIMING(time_ns),
	  .rule = IS_LOW },
	{ COLUMNS_TIMES, .all_of = CHANGE_IS_OPEN, .none_of = CHANGE_IS_SUM, OF_TIMING(open_ns),
	  .max = UINT64_MAX },
	{ COLUMNS_TIMES, .all_of = CHANGE_IS_OPEN, .none_of = CHANGE_IS_SUM,
	  OF_TIMING(open_before_ns), .rule = IS_LESS, .max = UINT64_MAX,
	  .than = offsetof(struct change_timing, open_ns) },
	{ COLUMNS_TIMES, .all_of = CHANGE_IS_TIMED, OF_TIMING(max_ns), .max = UINT64_MAX },
	{ COLUMNS_HISTS, .all_of = CHANGE_IS_TIMED, .none_of = CHANGE_IS_SUM, OF_TIMING(nr),
	  .max = HIST_BUCKETS },
	{ COLUMNS_HISTS, .all_of = CHANGE_IS_TIMED, .none_of = CHANGE_IS_SUM, OF_TIMING(first),
	  .max = HIST_BUCKETS },
};

static inline uint64_t get_member(const void *of, size_t offset, size_t size)
{
	const void *from = (const char *)of + offset;
	uint64_t value;
	uint32_t half;

	if (size == 1)
		return *(const uint8_t *)from;
	memcpy(&half, from, sizeof(half));
	if (size == sizeof(half))
		return half;
	memcpy(&value, from, sizeof(value));
	return value;
}

static inline void set_member(void *of, size_t offset, size_t size, uint64_t value)
{
	void *to = (char *)of + offset;
	uint32_t half = (uint32_t)value;

	if (size == 1)
		*(uint8_t *)to = (uint8_t)value;
	else if (size == sizeof(half))
		memcpy(to, &half, sizeof(half));
	else
		memcpy(to, &value, sizeof(value));
}

/* What has the column's member; NULL: the row has no number. */
static inline void *member_of(const struct column *column, const struct changes *changes, size_t i)
{
	struct change *change = &changes->list[i];

	if ((change->flags & column->all_of) != column->all_of || change->flags & column->none_of)
		return NULL;
	return column->is_of_timing ? (void *)&changes->timings[change->timing - 1] : change;
}

/* What IS_MORE counts from, modulo 2^32. */
static inline uint32_t base_of(const struct column *column, const struct changes *changes, size_t i)
{
	const struct key *key = &changes->list[i].key;
	const struct key *before = i ? &changes->list[i - 1].key : NULL;

	if (!before ||
	    (column->offset > offsetof(struct change, key.guest) && key->guest != before->guest) ||
	    (column->offset > offsetof(struct change, key.vcpu) && key->vcpu != before->vcpu))
		return column->first;
	return (uint32_t)get_member(&changes->list[i - 1], column->offset, sizeof(uint32_t));
}

/* ---- writing */

static unsigned char *put_rows(unsigned char *at, const struct column *column,
			       const struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const void *of = member_of(column, changes, i);
		uint64_t value = of ? get_member(of, column->offset, column->size) : 0;

		if (!of)
			continue;
		switch (column->rule) {
		case IS_VALUE:
			at = put_number(at, value);
			break;
		case IS_MORE:
			at = put_number(at, (uint32_t)value - base_of(column, changes, i));
			break;
		case IS_HIGH:
			at = put_number(at, value >> 16);
			break;
		case IS_LOW:
			*at++ = (unsigned char)value;
			*at++ = (unsigned char)(value >> 8);
			break;
		case IS_LESS:
			value = get_member(of, column->than, column->size) - value;
			at = put_number(at, from_signed(value));
			break;
		}
	}
	return at;
}

unsigned char *columns_put(unsigned char *at, enum column_set set, const struct changes *changes)
{
	for (const struct column *column = columns; column < columns + ARRAY_SIZE(columns);
	     column++) {
		if (column->set == set)
			at = put_rows(at, column, changes);
	}
	return at;
}

/* ---- reading */

static inline uint64_t get_low(struct bytes *in)
{
	uint64_t low;

	in->is_bad |= in->end - in->at < 2;
	if (in->is_bad)
		return 0;
	low = in->at[0] | (uint64_t)in->at[1] << 8;
	in->at += 2;
	return low;
}

static void get_rows(struct bytes *in, const struct column *column, struct changes *changes)
{
	struct bytes left = *in; /* in registers */

	for (size_t i = 0; i < changes->nr; i++) {
		void *of = member_of(column, changes, i);
		uint64_t value = 0;
		uint32_t base;

		if (!of)
			continue;
		switch (column->rule) {
		case IS_VALUE:
			value = get_small(&left, column->max);
			break;
		case IS_MORE:
			base = base_of(column, changes, i);
			value = base + get_small(&left, (uint32_t)column->max - base);
			break;
		case IS_HIGH:
			value = get_small(&left, column->max) << 16;
			break;
		case IS_LOW:
			value = get_member(of, column->offset, column->size) | get_low(&left);
			break;
		case IS_LESS:
			value = get_member(of, column->than, column->size) -
				to_signed(get_number(&left));
			break;
		}
		set_member(of, column->offset, column->size, value);
	}
	*in = left;
}

void columns_get(struct bytes *in, enum column_set set, struct changes *changes)
{
	for (const struct column *column = columns; column < columns + ARRAY_SIZE(columns);
	     column++) {
		if (column->set == set)
			get_rows(in, column, changes);
	}
}
