/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of this folder read: VMs in processes of their own, by the provider "account". */
#ifndef KVMTOP_TESTS_UNIT_PROVIDERS_ACCOUNT_BENCH_H
#define KVMTOP_TESTS_UNIT_PROVIDERS_ACCOUNT_BENCH_H

#include <sys/types.h>

#include "lib/error.h"
#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/guests/guests.h"
#include "host/env.h"

#define ROUNDS 7 /* of each vCPU: a port write and a halt */

extern pid_t latest_heir; /* the child of the latest guest, with the same descriptors */

/* A guest with so many VMs of two vCPUs each, which have made their rounds. 0: none can be made. */
pid_t start_guest(int vms);
void stop_guest(pid_t pid);

struct bench {
	struct env env;
	struct guests *guests;
	struct fields *fields;
	struct sample sample;
	struct error error;
	void *state;
	pid_t guest;
};

/* Starts a guest and opens the provider; skips the case where there is no KVM or BPF. */
void bench_begin(struct bench *bench, int vms);
int bench_collect(struct bench *bench);
void bench_end(struct bench *bench);

#endif
