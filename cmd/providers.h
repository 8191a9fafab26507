/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * providers - the list of what counts on a machine, for the monitor.
 */
#ifndef KVMTOP_CMD_PROVIDERS_H
#define KVMTOP_CMD_PROVIDERS_H

#include "core/provider.h"

/* By their numbers; NULL ends the list. */
extern const struct provider *const live_providers[];

/* The same for a machine. Of a captured one some play what it counted. */
const struct provider *const *providers_of(const struct env *env);

#endif
