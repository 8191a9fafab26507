/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_fields - the fields that whatever tells of VM exits has, and the parts of a vCPU's time.
 *
 * Live, captured or recorded: the same names with the same meaning, see enum field_use.
 */
#ifndef KVMTOP_FACTS_EXIT_FIELDS_H
#define KVMTOP_FACTS_EXIT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/exit_kind.h"
#include "facts/field.h"

struct exit_fields {
	struct fields *fields;
	uint32_t source; /* the provider's number */
	uint32_t parents[EXITS_KINDS]; /* "vmexit", "userspace", "ioport" ... */
	uint32_t times[TIME_PARTS]; /* FIELD_NONE: cannot be told */
	uint32_t cpu;
};

#define EXIT_FIELDS_PARTS ((1U << TIME_PARTS) - 1)

/* Adds the parents, and the parts (bits) of vCPUs' time that can be told. 0 or -ENOMEM. */
int exit_fields_add(struct fields *dictionary, uint32_t source, unsigned int parts,
		    struct exit_fields *ret_fields);

const char *exit_fields_part(enum time_part part); /* "time(guest)" */

/* A reason (kind: EXITS_VMEXIT, EXITS_USERSPACE): "vmexit(HLT)". 0 or -ENOMEM. */
int exit_fields_reason(const struct exit_fields *fields, enum exit_kind kind,
			const char *reason, bool is_idle, uint32_t *ret_id);

/*
 * An argument: "msr(MSR_WRITE 0x6e0 write)", whose label is what comes behind the reason. reason:
 * the exit's, reason_field: its field; NULL and FIELD_NONE: not known. 0 or -ENOMEM.
 */
int exit_fields_argument(const struct exit_fields *fields, enum exit_kind kind,
			  const char *reason, uint32_t reason_field, const char *label,
			  uint32_t *ret_id);

/* Of what exits_user_code() gives: "restart", "error"; NULL: it is a reason. */
const char *exit_fields_failure(uint64_t code);

/* What a vCPU's exits took, in ns, as a whole and of that what means idle; by enum exit_kind. */
struct exits_time {
	uint64_t ns[EXITS_REASONS], idle_ns[EXITS_REASONS];
};

/*
 * Where the whole of a vCPU's time went; ret_parts[TIME_WAIT] is left alone.
 *
 * The time outside the guest is that of the exits. A halt is one as a whole, whatever user space
 * did in it; of the others, user space had its part, and the rest was KVM's. These add up to the
 * whole.
 */
void exit_fields_split(uint64_t whole_ns, const struct exits_time *time, uint64_t *ret_parts);

#endif
