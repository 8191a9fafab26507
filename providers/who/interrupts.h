/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interrupts - how long interrupts are pending for vCPUs before these enter the guest: a part of
 * the provider "who", which has the threads of vCPUs.
 */
#ifndef KVMTOP_PROVIDERS_WHO_INTERRUPTS_H
#define KVMTOP_PROVIDERS_WHO_INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/facts/key.h"
#include "core/facts/sample.h"
#include "core/provider.h"
#include "lib/error.h"

struct who_interrupts;

/* Adds the fields. Nothing is measured yet. */
struct who_interrupts *who_interrupts_new(const struct provider_args *args);
/* Adds its programs, which run in exits. */
void who_interrupts_programs(const struct who_interrupts *interrupts, struct programs *programs);

void who_interrupts_free(struct who_interrupts *interrupts); /* NULL is fine */

/* Begins or ends to measure, as the fields are wanted. A notice in error: it cannot. */
void who_interrupts_want(struct who_interrupts *interrupts, const struct field_set *wanted,
			struct error *error);

bool who_interrupts_are_measured(const struct who_interrupts *interrupts);

/* The guest and vCPU of a thread. False: it runs no vCPU that is wanted. */
typedef bool who_vcpu_fn(void *arg, pid_t tid, struct key *ret_key);

/* Forgets the threads that have ended: others may get their numbers. */
typedef bool who_ended_fn(void *arg, pid_t tid);
void who_interrupts_forget(struct who_interrupts *interrupts, who_ended_fn *has_ended, void *arg);

/*
 * After the rows: a row of 0 for a vCPU that got none, if its interrupts would have been seen.
 * "None" is then known.
 */
void who_interrupts_add_none(const struct who_interrupts *interrupts, struct key key,
			     struct sample *sample);

/* Adds rows. 0, also with a notice added to error, or -errno with error. */
int who_interrupts_collect(struct who_interrupts *interrupts, who_vcpu_fn *vcpu_of, void *arg,
			   struct sample *sample, struct error *error);

#endif
