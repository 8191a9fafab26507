/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured - plays the counts of a captured machine, the folder DIR of --sysroot DIR.
 *
 * DIR/kvmtop/counters has the counts of the provider "tracepoint", DIR/kvmtop/exits the counts of
 * "exits", DIR/kvmtop/host the numbers of "host". docs/CAPTURED.md says how such a folder is made
 * and what its lines mean. Each collect() plays the next sample. After the last, the latest
 * interval is played again and again, so that a screen goes on showing what the machine did.
 */
#ifndef KVMTOP_PROVIDERS_PLAYBACK_CAPTURED_H
#define KVMTOP_PROVIDERS_PLAYBACK_CAPTURED_H

#include "core/provider.h"

/* In place of the live providers with these names. */
extern const struct provider captured_tracepoint_provider;
extern const struct provider captured_exits_provider;
extern const struct provider captured_host_provider;

#endif
