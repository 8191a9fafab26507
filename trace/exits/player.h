/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * player - plays a recording: its events, and its exits with their times.
 *
 * There are two samples: the recording's first moment, where all counts are 0, and its last one. So
 * the interval between them is the whole recording.
 */
#ifndef KVMTOP_TRACE_EXITS_PLAYER_H
#define KVMTOP_TRACE_EXITS_PLAYER_H

#include "core/provider.h"

/* The providers' input is a struct recorded. NULL ends the list. */
extern const struct provider *const recorded_players[];

/* Their numbers, as in struct field.source. */
enum { RECORDED_EVENTS, RECORDED_EXITS };

#endif
