/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_guest - guests made up by a test.
 */
#ifndef KVMTOP_TESTS_WORLDS_FAKE_GUEST_H
#define KVMTOP_TESTS_WORLDS_FAKE_GUEST_H

#include <stdio.h>
#include <stdlib.h>

#include "core/guests/guests.h"

/* As if discovered; the vCPUs' threads follow the process's number. Returns its id. */
static inline uint32_t guests_add_fake(struct guests *guests, pid_t pid, const char *name,
				       size_t nr_vcpus)
{
	struct vcpu *vcpus = calloc(nr_vcpus + 1, sizeof(*vcpus));
	struct guest guest = { .pid = pid, .vmm = "qemu", .is_named = true, .nr_vms = 1,
			       .vcpus = vcpus, .nr_vcpus = nr_vcpus };
	uint32_t id;

	if (!vcpus)
		abort();
	for (size_t i = 0; i < nr_vcpus; i++)
		vcpus[i] = (struct vcpu){ .index = (int)i, .tid = pid + 1 + (pid_t)i };
	snprintf(guest.name, sizeof(guest.name), "%s", name);
	id = guests_add(guests, &guest);
	free(vcpus);
	return id;
}

#endif
