/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads - the records of vCPU threads, as rows of their guests' vCPUs.
 *
 * Records are read while other CPUs write them: an exit that ends meanwhile may be missing in one
 * sample and is in the next. The vCPU of a thread may become known late, or change: the counts up
 * to then stay with the old vCPU, as do the counts of a thread that has ended. So nothing is
 * counted twice, and no vCPU's values go back while its guest exists; after a guest has ended, one
 * more sample has its rows.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_THREADS_H
#define KVMTOP_PROVIDERS_EXITS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/facts/sample.h"
#include "core/guests/guests.h"
#include "providers/exits/names.h"
#include "providers/exits/shared.h"
#include "providers/exits/vcpus.h"

struct exits_threads;

struct exits_threads_config {
	const struct env *env;
	struct guests *guests;
	struct exits_names *names;
	const struct fields *fields;
	const struct exits_code *codes; /* EXITS_CELLS of them */
	uint32_t max_threads;
	bool is_timed;
	uint64_t (*clock)(void); /* CLOCK_MONOTONIC; read beside each record that is timed */
};

struct exits_threads *exits_threads_new(const struct exits_threads_config *config);
void exits_threads_free(struct exits_threads *threads);

/*
 * A sample: begin, then take each record in use, then each argument, then end; then release the
 * records of threads that have ended.
 */
void exits_threads_begin(struct exits_threads *threads);

/* Whether the thread has ended, and its counts were kept. */
bool exits_threads_take(struct exits_threads *threads, const volatile struct exits_thread *record);

/* Adds the counts of a thread from before it had a record. */
void exits_threads_take_late(struct exits_threads *threads, const struct exits_thread *record);

/*
 * Returns the vCPU that a record's thread runs, and whether the vCPU may have more names of
 * arguments. Call it between begin and end.
 */
void exits_threads_owner(struct exits_threads *threads,
			 const volatile struct exits_thread *record,
			 struct exits_vcpu_id *ret_owner, bool *ret_may_name);

/*
 * The cell was read after all records were taken. is_over: the argument is not counted any more.
 */
void exits_threads_argument(struct exits_threads *threads, const struct exits_argument_key *key,
			    const struct exits_cell *cell, bool is_over);

/* Adds the rows of all vCPUs, with these flags. */
void exits_threads_end(struct exits_threads *threads, struct sample *sample, uint32_t flags);

void exits_threads_release(struct exits_threads *threads, uint32_t number);

/* Makes room for this many records. */
void exits_threads_grow(struct exits_threads *threads, uint32_t max_threads);

#endif
