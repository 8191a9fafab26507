/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event - the fields that the programs of the provider "exits" read from events, except kvm_exit.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_EVENT_H
#define KVMTOP_PROVIDERS_EXITS_EVENT_H

#include <stdbool.h>

#include "arch/exit_kind.h"
#include "providers/bpf/bpf.h"

#define EXITS_FIELDS 3

struct exits_event {
	const char *system, *event;
	struct bpf_field fields[EXITS_FIELDS + 1]; /* the last one ends the list */
};

/* The event of a kind other than EXITS_VMEXIT; false: this kernel has none. */
bool exits_event_of(const struct env *env, enum exit_kind kind, struct exits_event *ret_event);

#endif
