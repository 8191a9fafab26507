// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of providers. */
#include "lib/array.h"
#include "providers/provider.h"

static const struct provider *const providers[] = {
	[PROVIDER_DEBUGFS] = &debugfs_provider,
	[PROVIDER_TRACEPOINT] = &tracepoint_provider,
	[PROVIDER_EXITS] = &exits_provider,
	[PROVIDER_STATS] = &stats_provider,
	[PROVIDER_HOST] = &host_provider,
};

const struct provider *provider_at(size_t i)
{
	return i < ARRAY_SIZE(providers) ? providers[i] : NULL;
}
