// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a build without BPF has instead of providers/exits, providers/bpf and bpf_engine.c: a
 * provider and an engine that say so, and can never be used.
 */
#include <errno.h>

#include "providers/providers.h"
#include "providers/tracepoint/engine.h"

static int say_no_bpf(struct error *error)
{
	return error_set(error, -ENOSYS, "built without BPF: ask for a build with it, or build it "
				     "after `make deps`");
}

static int engine_probe(const struct env *env, struct error *error)
{
	(void)env;
	return say_no_bpf(error);
}

const struct engine bpf_engine = {
	.name = "bpf",
	.probe = engine_probe,
};

static int exits_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	(void)args;
	(void)ret_state;
	return say_no_bpf(error);
}

const struct provider account_provider = {
	.name = "account",
	.help = "KVM's own counters by vCPU, read by BPF; of every VMM, under lockdown, too",
	.is_always_by_guest = true,
	.instead_of = &debugfs_provider,
	.open = exits_open,
};

const struct provider cost_provider = {
	.name = "cost",
	.help = "what kvmtop's own BPF programs take of an exit, by the kernel's run counts",
	.is_always_by_guest = true,
	.open = exits_open,
};

const struct provider exits_provider = {
	.name = "exits",
	.help = "VM exits by guest, vCPU and reason, with their time, counted by BPF",
	.is_always_by_guest = true,
	.is_of_exits = true,
	.open = exits_open,
};
