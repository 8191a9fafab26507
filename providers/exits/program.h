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

#include "base/why.h"
#include "providers/exits/load.h"
#include "providers/exits/shared.h"

struct exits_bpf;

/* Loads the program, with room for max_threads at first. */
int exits_bpf_open(const struct exits_bpf_config *config, struct exits_bpf **ret_bpf,
		   struct why *why);

/*
 * Where the reason of an exit is found. That of config.raw, if the kernel takes such a program; for
 * long exits only if it has their program counter, too.
 */
enum exits_way exits_bpf_way(const struct exits_bpf *bpf);

/* How it is known what halts polled: EXITS_BY_RECORD by events, else from KVM's sums. */
enum exits_way exits_bpf_polls(const struct exits_bpf *bpf);

/* Whether the reports of long exits say how long their threads waited for a CPU. */
bool exits_bpf_knows_waits(const struct exits_bpf *bpf);

/* Makes room for EXITS_CHUNK more; may wait for the kernel, some 40 ms. */
int exits_bpf_add_threads(struct exits_bpf *bpf, struct why *why);
uint32_t exits_bpf_max_threads(const struct exits_bpf *bpf);

/* Begins counting. */
int exits_bpf_attach(struct exits_bpf *bpf, struct why *why);

/* Detaches it in the background, which takes the kernel a while. NULL is fine. */
void exits_bpf_close(struct exits_bpf *bpf);

/* Times of exits are measured; else there are counts only. */
bool exits_bpf_is_timed(const struct exits_bpf *bpf);

/*
 * To be called for each sample: whether any guest has run a guest of its own since the last call.
 * While one does, the time in L2 is measured, which costs something in each entry.
 */
bool exits_bpf_look_for_nested(struct exits_bpf *bpf);

/* Written by other CPUs all the time. codes: EXITS_CELLS; i < exits_bpf_max_threads(). */
const struct exits_code *exits_bpf_codes(const struct exits_bpf *bpf);
const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i);

struct exits_bpf_lost {
	uint64_t exits;	    /* of more than EXITS_LATE threads without a record */
	uint64_t arguments; /* without room in the map */
	uint64_t long_exits; /* not reported, without room in the ring */
	uint64_t missed;     /* exits or arguments for which the kernel ran no program */
};
struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf); /* since it was attached */

/*
 * How many threads found no free record since exits_bpf_take_late(), which calls take for each with
 * a record that has its counts and no times, until it fails. There must be room for their records
 * before: then each has one with its next exit, and counts there. 0 or -errno.
 */
typedef int (*exits_late_fn)(void *arg, const struct exits_thread *record);
uint32_t exits_bpf_nr_late(const struct exits_bpf *bpf);
int exits_bpf_take_late(struct exits_bpf *bpf, exits_late_fn take, void *arg);

/*
 * With has_long: reports exits that take longer than this from now on. is_left_out: for each of
 * EXITS_CELLS cells, whether its exits are not reported.
 */
void exits_bpf_set_long(struct exits_bpf *bpf, uint64_t longer_ns, const bool *is_left_out);

/* Calls take for each that was reported since the last call, until it fails. 0 or its error. */
typedef int (*exits_long_fn)(void *arg, const struct exits_long *exit);
int exits_bpf_long(struct exits_bpf *bpf, exits_long_fn take, void *arg);

/*
 * All arguments with their counts, in one or a few system calls; the arrays are valid until the
 * next call. Returns how many there are.
 */
long exits_bpf_arguments(struct exits_bpf *bpf, const struct exits_argument_key **ret_keys,
			 const struct exits_cell **ret_cells, struct why *why);

/* The argument's epoch is over: it is not counted any more; exits_bpf_end_sample() drops it. */
bool exits_bpf_is_over(const struct exits_bpf *bpf, const struct exits_argument_key *key);

/*
 * Makes the records of these threads free for others. The threads must have ended before
 * exits_bpf_arguments() was called last. A thread that has too many arguments gets a new epoch.
 */
void exits_bpf_end_sample(struct exits_bpf *bpf, const uint32_t *numbers, uint32_t nr);

#endif
