// SPDX-License-Identifier: GPL-2.0-or-later
/* Stands in for attach.c in a build without BPF. */
#include <errno.h>

#include "providers/bpf/attach.h"

int bpf_probe(const struct env *env, struct why *why)
{
	(void)env;
	return why_set(why, -ENOSYS, "built without BPF: ask for a build with it, or build it "
				     "after `make deps`");
}
