/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vcpus - the counts of all threads of a vCPU, also of ended ones, as rows of a sample.
 *
 * In a sample: begin, then add the counts of each thread and each argument, then emit. Counts that
 * are added as former are kept for all later samples and are not added again. A vCPU with several
 * threads has one row for each field.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_VCPUS_H
#define KVMTOP_PROVIDERS_EXITS_VCPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/facts/sample.h"
#include "core/guests/guests.h"
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

struct exits_vcpus *exits_vcpus_new(const struct exits_vcpus_config *config);
void exits_vcpus_free(struct exits_vcpus *vcpus);

void exits_vcpus_begin(struct exits_vcpus *vcpus);

/* Never NULL. A vCPU is kept while its guest exists or while it is held. */
struct exits_vcpu *exits_vcpus_get(struct exits_vcpus *vcpus, struct exits_vcpu_id id);
void exits_vcpu_hold(struct exits_vcpu *vcpu);
void exits_vcpu_drop(struct exits_vcpu *vcpu); /* NULL is fine */

struct exits_vcpu_id exits_vcpu_id(const struct exits_vcpu *vcpu);
void exits_vcpu_set_cpu(struct exits_vcpu *vcpu, uint32_t cpu); /* where its latest exit was */

void exits_vcpu_add(struct exits_vcpu *vcpu, const struct exits_record *record,
		    bool is_former);
/*
 * A vCPU has room for the arguments that are counted now and for as many former ones, and may add a
 * limited number of new names. Arguments beyond these are added to the rest.
 */
bool exits_vcpu_has_room(const struct exits_vcpu *vcpu, uint32_t field);
bool exits_vcpu_may_name(const struct exits_vcpu *vcpu);
/* open_ns: how long its exit has been open, which is not in the cell; of a former one, nothing. */
void exits_vcpu_add_argument(struct exits_vcpu *vcpu, uint32_t field, enum exit_kind kind,
			     const struct exits_cell *cell, bool is_former, uint64_t open_ns);

/*
 * Adds the rows of all vCPUs, with these flags; codes: EXITS_CELLS of them.
 */
void exits_vcpus_emit(struct exits_vcpus *vcpus, const struct exits_code *codes,
		      struct sample *sample, uint32_t flags);

/* Drops each vCPU that is not held and of a guest that has ended: stats keeps its totals. */
void exits_vcpus_sweep(struct exits_vcpus *vcpus);

#endif
