// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of providers. */
#include "cmd/providers.h"
#include "providers/providers.h"

const struct provider *const live_providers[] = {
	[PROVIDER_DEBUGFS] = &debugfs_provider,
	[PROVIDER_TRACEPOINT] = &tracepoint_provider,
	[PROVIDER_EXITS] = &exits_provider,
	[PROVIDER_STATS] = &stats_provider,
	[PROVIDER_HOST] = &host_provider,
	NULL,
};

/* KVM's counters are read in the captured files themselves. */
static const struct provider *const captured[] = {
	[PROVIDER_DEBUGFS] = &debugfs_provider,
	[PROVIDER_TRACEPOINT] = &captured_tracepoint_provider,
	[PROVIDER_EXITS] = &captured_exits_provider,
	[PROVIDER_STATS] = &stats_provider,
	[PROVIDER_HOST] = &captured_host_provider,
	NULL,
};

const struct provider *const *providers_of(const struct env *env)
{
	return env_is_captured(env) ? captured : live_providers;
}
