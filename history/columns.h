/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns - the order of what is in a packed moment; kvmtop-history(5) describes it.
 */
#ifndef KVMTOP_HISTORY_COLUMNS_H
#define KVMTOP_HISTORY_COLUMNS_H

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

#endif
