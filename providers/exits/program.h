/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program - the BPF program of the provider "exits", and the memory it shares with the provider.
 *
 * Functions that can fail return 0 or more, or -errno with why.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_PROGRAM_H
#define KVMTOP_PROVIDERS_EXITS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "providers/exits/load.h"
#include "providers/exits/shared.h"

struct exits_bpf;

/* Loads the program, with room for max_threads at first. */
int exits_bpf_open(const struct exits_bpf_config *config, struct exits_bpf **ret_bpf,
		   struct error *why);

/*
 * Where the reason of an exit is found: as in config.raw if the kernel accepts such a program, and,
 * with long exits, if their program counter is found there, too.
 */
enum exits_way exits_bpf_way(const struct exits_bpf *bpf);

/* Where the time that halts polled is found: EXITS_BY_RECORD: in events; else in KVM's sums. */
enum exits_way exits_bpf_polls(const struct exits_bpf *bpf);

/* Whether the reports of long exits say how long their threads waited for a CPU. */
bool exits_bpf_knows_waits(const struct exits_bpf *bpf);

/* Makes room for EXITS_CHUNK more threads; may wait for the kernel, some 40 ms. */
int exits_bpf_add_threads(struct exits_bpf *bpf, struct error *why);
uint32_t exits_bpf_max_threads(const struct exits_bpf *bpf);

/* Begins counting. */
int exits_bpf_attach(struct exits_bpf *bpf, struct error *why);

/* Detaches the programs in the background, which takes the kernel a while. NULL is fine. */
void exits_bpf_close(struct exits_bpf *bpf);

/* Times of exits are measured; else there are counts only. */
bool exits_bpf_is_timed(const struct exits_bpf *bpf);

/*
 * To be called for each sample. Returns whether any guest has run a guest of its own (L2) since the
 * last call. While one does, the time in L2 is measured, at a cost in each entry.
 */
bool exits_bpf_look_for_nested(struct exits_bpf *bpf);

/*
 * The same for halts in which KVM_RUN failed: while there are any, it is measured how long user
 * space has the vCPU in them, at a cost in each KVM_RUN. The first of them are halts to their end.
 */
void exits_bpf_look_for_interrupts(struct exits_bpf *bpf);

/* Other CPUs write these all the time. codes: EXITS_CELLS; i < exits_bpf_max_threads(). */
const struct exits_code *exits_bpf_codes(const struct exits_bpf *bpf);
const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i);

struct exits_bpf_lost {
	uint64_t exits;	    /* by threads without a record, beyond EXITS_LATE of these */
	uint64_t arguments; /* the map had no room */
	uint64_t long_exits; /* the ring had no room */
	uint64_t missed;     /* exits or arguments for which the kernel ran no program */
};
struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf); /* since it was attached */

/* How many threads have found no free record since the latest exits_bpf_take_late(). */
uint32_t exits_bpf_nr_late(const struct exits_bpf *bpf);

/*
 * Calls take for each of these threads, with a record that has its counts and no times, until take
 * fails. Make room for the threads before: each gets a record of its own with its next exit. 0 or
 * -errno.
 */
typedef int (*exits_late_fn)(void *arg, const struct exits_thread *record);
int exits_bpf_take_late(struct exits_bpf *bpf, exits_late_fn take, void *arg);

/*
 * With has_long: reports exits that take longer than this from now on. is_left_out: for each of
 * EXITS_CELLS cells, whether its exits are not reported.
 */
void exits_bpf_set_long(struct exits_bpf *bpf, uint64_t longer_ns, const bool *is_left_out);

/* Calls take for each report since the last call, until take fails. 0 or take's error. */
typedef int (*exits_long_fn)(void *arg, const struct exits_long *exit);
int exits_bpf_long(struct exits_bpf *bpf, exits_long_fn take, void *arg);

/*
 * All arguments with their counts, in one or a few system calls; the arrays are valid until the
 * next call. Returns how many there are.
 */
long exits_bpf_arguments(struct exits_bpf *bpf, const struct exits_argument_key **ret_keys,
			 const struct exits_cell **ret_cells, struct error *why);

/* Whether the argument's epoch is over: exits_bpf_end_sample() drops the argument. */
bool exits_bpf_is_over(const struct exits_bpf *bpf, const struct exits_argument_key *key);

/*
 * Frees the records of these threads, which must have ended before the last call of
 * exits_bpf_arguments(). A thread that has too many arguments gets a new epoch.
 */
void exits_bpf_end_sample(struct exits_bpf *bpf, const uint32_t *numbers, uint32_t nr);

#endif
