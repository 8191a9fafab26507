/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program - the programs of the provider "who": loaded, attached, told which threads are vCPUs, and
 * read.
 */
#ifndef KVMTOP_PROVIDERS_WHO_PROGRAM_H
#define KVMTOP_PROVIDERS_WHO_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/guests/guests.h"
#include "core/facts/field.h"
#include "core/facts/key.h"
#include "lib/error.h"
#include "providers/who/shared.h"

struct who_bpf;

/* Loads and attaches. 0, or -errno with error. */
int who_bpf_open(struct who_bpf **ret_bpf, struct error *error);
void who_bpf_close(struct who_bpf *bpf); /* NULL is fine */

/* The thread of a vCPU, which counts in this record, and begins at 0. 0 or -errno. */
int who_bpf_add_vcpu(struct who_bpf *bpf, pid_t tid, uint32_t number);
/* The process of a VMM, unless its thread of this number runs a vCPU. 0 or -errno. */
int who_bpf_add_vmm(struct who_bpf *bpf, pid_t pid);
/* Neither is measured, or known, any more. */
void who_bpf_remove(struct who_bpf *bpf, pid_t tid);

/* number < WHO_VCPUS */
const struct who_record *who_bpf_record(const struct who_bpf *bpf, uint32_t number);

/* count, ns: since the last call. field: what the caller keeps of the pair; FIELD_NONE at first. */
typedef void who_take_fn(void *arg, const struct who_time *time, uint64_t count, uint64_t ns,
			 uint32_t *field);

/* All pairs with time since the last call. Where many places are taken, others get theirs. */
void who_bpf_take(struct who_bpf *bpf, who_take_fn *take, void *arg);

/* Time that could not be charged, as there were too many pairs between two calls. */
uint64_t who_bpf_lost_ns(const struct who_bpf *bpf);

/* ---- names of what had the CPU */

/* The kind of what ran, which the programs know less finely, and its names. */
struct who_names {
	enum wait_part part;
	char thread[WHO_NAME + 16]; /* "": it has none */
	char owner[GUEST_NAME_SIZE]; /* of its guest or process; "" */
	pid_t pid; /* of the guest; 0: none */
};

/*
 * ran: the guest and vCPU of the pair's thread, if it is of a vCPU; NULL: not known. waits: the
 * guest that waits.
 */
void who_names_of(const struct guests *guests, const struct who_time *time, const struct key *ran,
		  uint32_t waits, struct who_names *names);

#endif
