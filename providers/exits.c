// SPDX-License-Identifier: GPL-2.0-or-later
/* Exits of every guest, vCPU and reason, with what they took. */
#include <errno.h>

#include "providers/provider.h"

static int exits_probe(const struct env *env, struct why *why)
{
	(void)env;
	return why_set(why, -ENOSYS, "built without BPF");
}

const struct provider exits_provider = {
	.name = "exits",
	.help = "VM exits by guest, vCPU and reason, with their time, counted by BPF",
	.is_always_by_guest = true,
	.probe = exits_probe,
};
