/* SPDX-License-Identifier: GPL-2.0-or-later */
/* whole_kernel - for programs as plain C: a kernel that has all members, and no cast. */
#ifndef KVMTOP_TESTS_UNIT_PROVIDERS_WHO_WHOLE_KERNEL_H
#define KVMTOP_TESTS_UNIT_PROVIDERS_WHO_WHOLE_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>

#include "tests/unit/providers/bpf_as_c.h"
#include "tests/unit/unit.h"

static inline bool has_field(const char *field)
{
	return field;
}

/* Without a cast all is copied. */
static inline bool has_value(const char *name)
{
	return !name;
}

static inline long bpf_probe_read_kernel(void *to, uint32_t size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

#include "providers/bpf/kernel.bpf.h"

/* kernel.bpf.h declares it, and calls none of it where has_value() says no. */
void *bpf_rdonly_cast(const void *address, __u32 type)
{
	(void)address;
	fail_msg("type %u", type);
	return NULL;
}

#endif
