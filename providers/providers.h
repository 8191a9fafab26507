/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * providers - what counts on this machine. cmd/providers.c has the list.
 */
#ifndef KVMTOP_PROVIDERS_PROVIDERS_H
#define KVMTOP_PROVIDERS_PROVIDERS_H

#include "core/provider.h"

extern const struct provider debugfs_provider;
extern const struct provider tracepoint_provider;
extern const struct provider exits_provider;
extern const struct provider stats_provider;
extern const struct provider host_provider;

#endif
