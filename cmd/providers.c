// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of providers. */
#include "cmd/providers.h"
#include "providers/providers.h"

#define LIVE(number, live, captured) [PROVIDER_##number] = &live##_provider,
#define CAPTURED(number, live, captured) [PROVIDER_##number] = &captured##_provider,

const struct provider *const live_providers[] = { PROVIDER_LIST(LIVE) NULL };
static const struct provider *const captured_providers[] = { PROVIDER_LIST(CAPTURED) NULL };

const struct provider *const *providers_of(const struct env *env)
{
	return env_is_captured(env) ? captured_providers : live_providers;
}
