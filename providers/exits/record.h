/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record - the counts of threads: read from the BPF program's memory, added, subtracted.
 *
 * Pure, except that another CPU may write the memory meanwhile, and that the reader may wait for
 * it. Times are in ns of CLOCK_MONOTONIC.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_RECORD_H
#define KVMTOP_PROVIDERS_EXITS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/facts/sample.h"
#include "providers/exits/shared.h"

_Static_assert(EXITS_BUCKETS == HIST_BUCKETS, "a cell's buckets are copied into struct timing");

/*
 * The program publishes by plain stores: what it wrote before tid or open_since is to be seen with
 * these, and no time in a cell before open_since is cleared. x86 shows stores to other CPUs in
 * their order. Other processors may show them in another order, and a barrier in the program would
 * cost in each exit; but a store is not held back for longer than some 100 ns. So on these the
 * reader waits for a microsecond where an order matters, and then looks whether anything changed.
 */
void exits_record_settle(void);

/* An exit that has not ended: its cell has counted it, without its time. */
struct exits_open {
	uint32_t cell;
	bool is_halt; /* see EXITS_HALT */
	uint64_t since_ns; /* 0: no exit is open */
	uint64_t time_ns;  /* until now */
	uint64_t sum_ns;   /* the same and the time of its cell */
};

/* The counts of one thread, or the sum of several. Cells that are not used are undefined. */
struct exits_record {
	uint64_t used[EXITS_CELLS / 64]; /* a bit for each cell */
	uint64_t whole_ns; /* time since the first exit; 0: not timed */
	uint64_t polled_ns; /* in halts that ended, see TIME_POLL */
	uint64_t nested_ns; /* in L2, see TIME_L2 */
	uint64_t halt_user_ns; /* see struct exits_time */
	bool has_nested;    /* an exit was of L2 */
	bool is_held_back;  /* see exits_record_read() */
	uint64_t open_ns[EXITS_CELLS]; /* by cell: how long exits that have not ended last */
	/* Of one thread: its open exits by enum exit_kind, and the argument of the VM exit. */
	struct exits_open open[EXITS_REASONS];
	bool has_argument;
	struct exits_argument_key argument;
	struct exits_cell cells[EXITS_CELLS]; /* without the time of open exits */
};

/* A record without unused cells: with 20 reasons a sixth of the size. */
struct exits_packed;

/* The first used cell, from i on; EXITS_CELLS: none. */
static inline unsigned int exits_record_next(const struct exits_record *record, unsigned int i)
{
	for (; i < EXITS_CELLS; i = (i / 64 + 1) * 64) {
		uint64_t bits = record->used[i / 64] >> i % 64;

		if (bits)
			return i + (unsigned int)__builtin_ctzll(bits);
	}
	return EXITS_CELLS;
}

/*
 * Reads a thread's record as it was at one moment. It has no times before exits_record_time().
 *
 * If the vCPU nests, the event after kvm_exit tells whether the exit was of L2. So an exit without
 * such an event yet is held back: it is counted when it has ended.
 */
void exits_record_read(struct exits_record *record, const volatile struct exits_thread *thread);

/* What is remembered of a thread from sample to sample. Zero-initialised before the first. */
struct exits_before {
	struct exits_open open[EXITS_REASONS];
	uint64_t from_ns; /* the time before is another vCPU's; 0: none is */
};

/* The times up to now. Take the clock after exits_record_read(): no exit in it ended later. */
void exits_record_time(struct exits_record *record, const volatile struct exits_thread *thread,
		       struct exits_before *before, uint64_t now_ns);

/*
 * Adds the time of open exits to their cells. For a thread that goes on with another vCPU: this
 * record is then subtracted from the next vCPU's.
 */
void exits_record_fold(struct exits_record *record);

/*
 * For a thread that ended. It ended inside its last exit: the exit has no time, and the thread's
 * time ends where it began. What stats have of it stays there.
 */
void exits_record_end(struct exits_record *record, const volatile struct exits_thread *thread);

void exits_record_add(struct exits_record *to, const struct exits_record *from);
void exits_record_add_packed(struct exits_record *to, const struct exits_packed *from);

/* Subtracts an earlier reading; a cell that becomes 0 is unused. */
void exits_record_less(struct exits_record *record, const struct exits_packed *earlier);

/* A copy, for free(); */
struct exits_packed *exits_record_pack(const struct exits_record *record);

void exits_cell_add(struct exits_cell *to, const struct exits_cell *from);

/*
 * Subtracts an earlier reading of the cell. The longest duration of the rest: the longest of all if
 * it is new, else the upper edge of the highest bucket, at most the earlier longest.
 */
void exits_cell_less(struct exits_cell *cell, const struct exits_cell *earlier);

#endif
