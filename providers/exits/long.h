/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * long - makes long exits of a sample from the BPF program's reports.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_LONG_H
#define KVMTOP_PROVIDERS_EXITS_LONG_H

#include "providers/exits/threads.h"

/* About each cell; zero-initialised: nothing is known. */
struct exits_long_cells {
	bool is_left_out[EXITS_CELLS]; /* a halt, which is not listed */
	uint64_t are_protected[EXITS_CELLS / 64]; /* bits: reasons of protected guests only */
};

/* Fills it in for all cells. has_halts: halts are listed, too. */
void exits_long_look(struct exits_long_cells *cells, const struct exits_names *names,
		     const struct exits_code *codes, bool has_halts);

/* Whether the thread has had an exit that only protected guests have. */
bool exits_long_is_protected(const struct exits_long_cells *cells,
			     const volatile struct exits_thread *record);

/* What a report needs to become a long exit. */
struct exits_long_output {
	const struct exits_long_cells *cells;
	struct exits_threads *threads;
	struct exits_names *names;
	const struct exits_code *codes;
	bool knows_waits; /* the reports have waited_ns */
	uint64_t epoch_ns; /* the time of day when CLOCK_MONOTONIC was 0 */
	struct long_exits *long_exits;
};

/* record: the thread's. hides_pc: the guest is protected. */
void exits_long_add(const struct exits_long_output *output, const struct exits_long *exit,
		    const volatile struct exits_thread *record, bool hides_pc);

#endif
