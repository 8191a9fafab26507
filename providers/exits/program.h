/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program - the BPF program of the provider "exits", and the memory that it shares with us.
 *
 * Functions that can fail return 0 or more, or -errno with why.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_PROGRAM_H
#define KVMTOP_PROVIDERS_EXITS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/why.h"
#include "host/env.h"
#include "providers/exits/shared.h"

struct exits_bpf;

struct exits_bpf_config {
	const struct env *env;
	const struct split *exit; /* NULL: only exits to user space */
	/* Those that have places already, by the time it is attached; NULL: none. */
	const struct exits_code *codes;
	uint32_t max_threads;
	bool has_arguments;
};

/* Loads the program, with room for that many threads. */
int exits_bpf_open(const struct exits_bpf_config *config, struct exits_bpf **ret_bpf,
		   struct why *why);

/* Exits count from now on. */
int exits_bpf_attach(struct exits_bpf *bpf, struct why *why);

/* Detaches it in the background: the kernel takes its time. NULL is fine. */
void exits_bpf_close(struct exits_bpf *bpf);

/* Times of exits are measured; else there are counts only. */
bool exits_bpf_is_timed(const struct exits_bpf *bpf);

/* Written by other CPUs all the time. codes: EXITS_CELLS; i < max_threads. */
const struct exits_code *exits_bpf_codes(const struct exits_bpf *bpf);
const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i);

struct exits_bpf_lost {
	uint64_t exits;	    /* of threads for which there was no record */
	uint64_t arguments; /* for which there was no room */
};
struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf); /* since it was attached */

/*
 * All arguments with what they counted, in one or a few system calls; the arrays are the reader's
 * until the next call. Returns how many.
 */
long exits_bpf_arguments(struct exits_bpf *bpf, const struct exits_argument_key **ret_keys,
			 const struct exits_cell **ret_cells, struct why *why);

/*
 * These threads had ended when exits_bpf_arguments() was called last: their records are for other
 * threads from now on.
 */
void exits_bpf_free_threads(struct exits_bpf *bpf, const uint32_t *numbers, uint32_t nr);

#endif
