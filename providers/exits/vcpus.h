/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vcpus - what all threads of a vCPU counted, those that ended too, as rows of a sample.
 *
 * In a sample: begin, then add what each thread and each argument has counted, then emit. What is
 * added as former stays for good and is not added again. Several threads may be one vCPU's, and it
 * has one row for each field all the same.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_VCPUS_H
#define KVMTOP_PROVIDERS_EXITS_VCPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/sample.h"
#include "host/guest.h"
#include "providers/exits/names.h"
#include "providers/exits/record.h"

struct exits_vcpus;
struct exits_vcpu;

struct exits_vcpus_config {
	const struct guests *guests;
	struct exits_names *names;
	const struct fields *fields;
	bool is_timed;
};

struct exits_vcpu_id {
	uint32_t guest; /* GUEST_ANY: not known */
	int32_t index;	/* -1: not known */
};

/* NULL: no memory. */
struct exits_vcpus *exits_vcpus_new(const struct exits_vcpus_config *config);
void exits_vcpus_free(struct exits_vcpus *vcpus);

void exits_vcpus_begin(struct exits_vcpus *vcpus);

/* NULL: no memory. It stays as long as its guest does, or as somebody holds it. */
struct exits_vcpu *exits_vcpus_get(struct exits_vcpus *vcpus, struct exits_vcpu_id id);
void exits_vcpu_hold(struct exits_vcpu *vcpu);
void exits_vcpu_drop(struct exits_vcpu *vcpu); /* NULL is fine */

struct exits_vcpu_id exits_vcpu_id(const struct exits_vcpu *vcpu);
void exits_vcpu_set_cpu(struct exits_vcpu *vcpu, uint32_t cpu); /* of its latest exit */

/* wait_ns: how long the thread waited for a CPU meanwhile. 0 or -ENOMEM. */
int exits_vcpu_add(struct exits_vcpu *vcpu, const struct exits_record *record, uint64_t wait_ns,
		   bool is_former);
int exits_vcpu_add_argument(struct exits_vcpu *vcpu, uint32_t field, enum exit_kind kind,
			    const struct exits_cell *cell, bool is_former);

/*
 * Adds the rows of all vCPUs; flags: theirs; codes: EXITS_CELLS of them; has_wait: also how long
 * they waited. 0 or -ENOMEM.
 */
int exits_vcpus_emit(struct exits_vcpus *vcpus, const struct exits_code *codes,
		     struct sample *sample, uint32_t flags, bool has_wait);

/* Forgets vCPUs whose guest ended and that nobody holds: stats keeps their totals. */
void exits_vcpus_sweep(struct exits_vcpus *vcpus);

/* All that was emitted last is of former threads from now on. 0; -ENOMEM: it is so of some only. */
int exits_vcpus_retire(struct exits_vcpus *vcpus);

#endif
