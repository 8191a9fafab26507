/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm_counter - KVM's own counters: the meaning of their names, from debugfs and from statistics.
 *
 * Source: virt/kvm/kvm_main.c and the tables of each architecture. debugfs has a file and the
 * binary statistics have a descriptor for each counter, with the same names.
 */
#ifndef KVMTOP_PROVIDERS_KVM_COUNTER_H
#define KVMTOP_PROVIDERS_KVM_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/facts/field.h"
#include "core/provider.h"

/* Whether the counter is a part of another one, which is added first. */
bool kvm_counter_is_child(const struct env *env, const char *name);

/*
 * Adds the field of a counter. kind: the kernel's, for counters with a name that does not tell;
 * part: EVENT_BY_VCPU or 0. *ret_field is FIELD_NONE if the counter is not
 * shown, or its name belongs to another provider. Times are not shown: in ns they would be much
 * larger than the counts beside them.
 */
void kvm_counter_add(const struct provider_args *args, const char *name, enum field_kind kind,
		     unsigned int part, uint32_t *ret_field);

/* A level or peak that is printed as unsigned: 0 if it is negative. */
uint64_t kvm_counter_level(uint64_t value);

#endif
