/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * times - where the time of vCPUs goes, as far as KVM and the scheduler count it without a program
 * of ours: on a CPU, waiting for one, idle, blocked.
 *
 * The parts are those of enum time_part. Idle is what KVM counts of halts when they end, and the
 * halt, or the wait for a start, that is not over. All other sleep is blocked, at least: KVM's sum
 * has the waits for a CPU after a halt, too. A thread that slept in halts alone was not blocked:
 * what the scheduler counts nowhere, interrupts of the host for example, is no sleep.
 */
#ifndef KVMTOP_PROVIDERS_ACCOUNT_TIMES_H
#define KVMTOP_PROVIDERS_ACCOUNT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/facts/field.h"
#include "providers/account/shared.h"

/* Zero-initialised is empty. */
struct account_times {
	struct vcpu_times *vcpus;
};

/* What KVM has counted of a vCPU's halts in which its thread slept: halt_wait_ns and _hist. */
struct account_halts {
	uint64_t ns, count;
};

/* The parts of a vCPU's time since its first reading; false: it is not known where it sleeps. */
bool account_times_read(struct account_times *times, const struct account_head *head,
			struct account_halts halts, uint64_t ret_parts[TIME_PARTS]);

/* Forgets vCPUs that were not read since the call before. */
void account_times_sweep(struct account_times *times);

void account_times_release(struct account_times *times);

#endif
