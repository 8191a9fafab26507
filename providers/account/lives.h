/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lives - which VMs have begun and ended since the reading before, in the kernel's order: what a
 * guest that is not there at any reading is called and has counted, and the last counts of others.
 *
 * Source: programs on KVM's kvm_arch_init_vm(), kvm_arch_destroy_vm() and kvm_arch_vcpu_destroy(),
 * which no exit runs.
 */
#ifndef KVMTOP_PROVIDERS_ACCOUNT_LIVES_H
#define KVMTOP_PROVIDERS_ACCOUNT_LIVES_H

#include <stdbool.h>

#include "providers/account/shared.h"

struct account_lives;

/* Valid until they return. */
struct account_lives_config {
	void (*begun)(void *arg, const struct account_begun *begun);
	void (*ended)(void *arg, const struct account_head *head, const char *bytes);
	void *arg;
};

/* NULL: the kernel attaches no such programs. Without `ended` only begins are noted. */
struct account_lives *account_lives_new(const struct account_lives_config *config);
void account_lives_free(struct account_lives *lives);

/* Gives all since the call before. NULL is fine. */
void account_lives_read(struct account_lives *lives);

#endif
