/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns - the names and the order of what is in a packed moment; kvmtop-history(5) describes it.
 */
#ifndef KVMTOP_HISTORY_COLUMNS_H
#define KVMTOP_HISTORY_COLUMNS_H

/*
 * The columns of changes and totals, in this order. A row is a key. The numbers of a column are a
 * string of bytes: each number has seven bits a byte, the lowest first, and the highest bit of a
 * byte says that more follow (LEB128). That is an eighth less than numbers of CBOR, and faster.
 */
#define COLUMN_SOURCES "source_ns" /* of changes only, and before all others */
#define COLUMN_ROWS "rows"	   /* a number of CBOR: how many rows there are */
#define COLUMN_GUEST "guest"	   /* more than the row before */
#define COLUMN_VCPU "vcpu"	   /* more than the row before; of another guest, more than -1 */
#define COLUMN_FIELD "field"	   /* more than the row before; of another vCPU, more than 0 */
#define COLUMN_FLAGS "flags"	   /* CHANGE_* << 1, and 1: it is timed */
#define COLUMN_COUNT "count"
/* Of the rows that are timed. */
#define COLUMN_TIME "time_ns"
#define COLUMN_MAX "max_ns"
#define COLUMN_BUCKETS "buckets" /* the first bucket that counted | buckets up to the last << 5 */
/*
 * The counts of these buckets. In place of the one in the middle: how much larger the row's count
 * is than the sum of all buckets, as 2 * d, or as -2 * d - 1 if d is negative.
 */
#define COLUMN_HIST "hist"
#define HIST_MIDDLE(span) (((span) - 1) / 2)
#define COLUMNS 10 /* without COLUMN_SOURCES */

/*
 * Behind the totals, if any reason began later than its event: an array with the guest, the vCPU
 * + 1, the field and the event's total then, of each such reason.
 */
#define LATE_ITEMS 4

/*
 * A guest is an array: id, pid, start in ticks, name, VMM, GUEST_*, VMs, and for each vCPU its
 * index and its thread. Guests that have ended come first.
 */
#define GUEST_ITEMS 7
#define GUEST_IS_NAMED 1u
#define GUEST_HAS_ENDED 2u

#endif
