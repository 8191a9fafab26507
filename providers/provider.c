// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of providers. */
#include "providers/provider.h"

static const struct provider *const providers[] = {
	&debugfs_provider,
	&tracepoint_provider,
	&exits_provider,
};

const struct provider *provider_at(size_t i)
{
	return i < sizeof(providers) / sizeof(providers[0]) ? providers[i] : NULL;
}
