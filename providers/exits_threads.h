/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exits_threads - the records of vCPU threads, as rows of their guests' vCPUs.
 *
 * Records are read while other CPUs write them: an exit that ends meanwhile may be missing in one
 * sample and is in the next; nothing is ever counted twice, and no value goes back. What threads
 * that ended had counted stays with their vCPU as long as the guest lives.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_THREADS_H
#define KVMTOP_PROVIDERS_EXITS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest.h"
#include "providers/exits_names.h"
#include "providers/exits_shared.h"
#include "sample.h"

struct exits_threads;

struct exits_threads_config {
	const struct env *env;
	const struct guests *guests;
	struct exits_names *names;
	const struct fields *fields;
	const struct exits_code *codes; /* EXITS_CELLS of them */
	uint32_t max_threads;
	bool is_timed;
};

/* NULL: no memory. */
struct exits_threads *exits_threads_new(const struct exits_threads_config *config);
void exits_threads_free(struct exits_threads *threads);

/*
 * A sample: begin, then take each record that is in use, then each argument, then end; then release
 * the records of threads that ended. has_wait: also how long they waited for a CPU.
 */
void exits_threads_begin(struct exits_threads *threads, uint64_t now_ns, bool has_wait);

/* False: the thread ended, and what it had counted was taken over. */
bool exits_threads_take(struct exits_threads *threads, const volatile struct exits_thread *record);

/* 0 or -ENOMEM. flags: of the rows. */
int exits_threads_argument(struct exits_threads *threads, const struct exits_argument_key *key,
			   const struct exits_cell *cell, struct sample *sample, uint32_t flags);

/* Adds the rows of all vCPUs. 0 or -ENOMEM. */
int exits_threads_end(struct exits_threads *threads, struct sample *sample, uint32_t flags);

void exits_threads_release(struct exits_threads *threads, uint32_t number);

#endif
