/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads - the records of vCPU threads, as rows of their guests' vCPUs.
 *
 * Records are read while other CPUs write them: an exit that ends meanwhile may be missing in one
 * sample and is in the next. Whose a thread is may become known late, or change: what it had
 * counted until that was seen stays with the vCPU that had it so far, and so does what threads that
 * ended had counted. So nothing is counted twice, and no vCPU's value goes back as long as its
 * guest lives; when the guest has ended, its rows are in one sample more.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_THREADS_H
#define KVMTOP_PROVIDERS_EXITS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/sample.h"
#include "host/guest.h"
#include "providers/exits/names.h"
#include "providers/exits/shared.h"

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
 * the records of threads that ended. now_ns: CLOCK_MONOTONIC; has_wait: also how long they waited
 * for a CPU, as far as there are descriptors to see it.
 */
void exits_threads_begin(struct exits_threads *threads, uint64_t now_ns, bool has_wait);

/* 1: the thread ended, and what it had counted was taken over; 0: it lives; -ENOMEM. */
int exits_threads_take(struct exits_threads *threads, const volatile struct exits_thread *record);

/* 0 or -ENOMEM. */
int exits_threads_argument(struct exits_threads *threads, const struct exits_argument_key *key,
			   const struct exits_cell *cell);

/* Adds the rows of all vCPUs. 0 or -ENOMEM. flags: of the rows. */
int exits_threads_end(struct exits_threads *threads, struct sample *sample, uint32_t flags);

void exits_threads_release(struct exits_threads *threads, uint32_t number);

/*
 * After a sample: from now on there are other records, max_threads of them, which begin at 0. What
 * was counted is added to what they will count, so codes must have those there were, in their
 * places. 0; -ENOMEM: it can only be freed.
 */
int exits_threads_restart(struct exits_threads *threads, const struct exits_code *codes,
			  uint32_t max_threads);

#endif
