/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_export - `kvmtop --prometheus FILE` and `kvmtop --listen ADDRESS`: facts for Prometheus.
 */
#ifndef KVMTOP_CMD_TOP_EXPORT_H
#define KVMTOP_CMD_TOP_EXPORT_H

#include "cmd/top_options.h"
#include "core/findings/thresholds.h"
#include "host/env.h"

/* Counts until a signal. Returns the exit status; prints its errors. */
int top_export(const struct top_options *options, struct env *env,
	       const struct thresholds *thresholds);

#endif
