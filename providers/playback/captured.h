/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured - plays what was counted on a captured machine, the folder DIR of --sysroot DIR.
 *
 * DIR/kvmtop/counters has the counts of the provider "tracepoint", DIR/kvmtop/exits the counts of
 * "exits", DIR/kvmtop/host what "host" says. docs/HACKING.md says how such a folder is made and
 * what its lines mean. Each next() plays the next sample. After the last, the latest interval is
 * played again and again, so that a screen goes on showing what the machine did.
 */
#ifndef KVMTOP_PROVIDERS_PLAYBACK_CAPTURED_H
#define KVMTOP_PROVIDERS_PLAYBACK_CAPTURED_H

#include "providers/playback/player.h"

/*
 * What plays a captured machine in place of a live provider. NULL: the live one reads the folder
 * itself.
 */
const struct player *captured_player(const struct provider *live);

#endif
