/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record - what threads counted: read out of the BPF program's memory, added, subtracted.
 *
 * Pure but for the memory that is read while another CPU writes it. Times are in ns of
 * CLOCK_MONOTONIC.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_RECORD_H
#define KVMTOP_PROVIDERS_EXITS_RECORD_H

#include <stdint.h>

#include "facts/sample.h"
#include "providers/exits/shared.h"

_Static_assert(EXITS_BUCKETS == HIST_BUCKETS, "a cell's buckets are copied into struct timing");

/* What one thread, or several together, counted. Cells that are not used are undefined. */
struct exits_record {
	uint64_t used[EXITS_CELLS / 64]; /* a bit for each cell */
	uint64_t whole_ns; /* since the first exit; 0: not timed */
	struct exits_cell cells[EXITS_CELLS];
};

/* Cells as a thread's latest reading said, of the exit that was open; zero: none was. */
struct exits_held {
	uint32_t cell[EXITS_REASONS]; /* by enum exit_kind */
	uint64_t time_ns[EXITS_REASONS];
};

/* A record without the cells that are not used: with 20 reasons a sixth of one. */
struct exits_packed;

/* The first cell that is used, from i on; EXITS_CELLS: none. */
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
 * Reads a thread's record as it was at one moment; now_ns: up to when what is open counts; 0: there
 * are no times. held: the thread's, from one reading to the next: what was said of an exit while it
 * was open is not taken back.
 */
void exits_record_read(struct exits_record *record, const volatile struct exits_thread *thread,
		       uint64_t now_ns, struct exits_held *held);

void exits_record_add(struct exits_record *to, const struct exits_record *from);
void exits_record_add_packed(struct exits_record *to, const struct exits_packed *from);

/* Takes away what an earlier reading had; cells of which nothing is left are not used any more. */
void exits_record_less(struct exits_record *record, const struct exits_packed *earlier);

/* A copy, for free(); NULL: no memory. */
struct exits_packed *exits_record_pack(const struct exits_record *record);

void exits_cell_add(struct exits_cell *to, const struct exits_cell *from);

/*
 * Takes away what the cell had earlier. The longest of the rest is known when it is longer than all
 * before; else it is the upper edge of its bucket, at the most the longest before.
 */
void exits_cell_less(struct exits_cell *cell, const struct exits_cell *earlier);

#endif
