// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a build without BPF has instead of the programs of the kernel: providers and an engine that
 * say so, and can never be used.
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

static int stand_in_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	(void)args;
	(void)ret_state;
	return say_no_bpf(error);
}

const struct provider account_provider = { ABOUT_ACCOUNT, .open = stand_in_open };
const struct provider inventory_provider = { ABOUT_INVENTORY, .open = stand_in_open };
const struct provider cost_provider = { ABOUT_COST, .open = stand_in_open };
const struct provider who_provider = { ABOUT_WHO, .open = stand_in_open };
const struct provider exits_provider = { ABOUT_EXITS, .open = stand_in_open };
