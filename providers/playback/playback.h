/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * playback - the provider of everything that is not live: it plays the samples of a player.
 */
#ifndef KVMTOP_PROVIDERS_PLAYBACK_PLAYBACK_H
#define KVMTOP_PROVIDERS_PLAYBACK_PLAYBACK_H

#include "providers/playback/player.h"

/*
 * What the monitor calls once a player is open. Its open is NULL: playback_open() takes its
 * place. If the player can rewind, each want() does so: all its samples answer the want.
 */
extern const struct provider playback_provider;

/* recording: see struct player. Returns 0, or -errno with why. */
int playback_open(const struct player *player, const void *recording,
		  const struct provider_args *args, void **ret_state, struct why *why);

/* How many samples answer the latest want; 0: the player cannot rewind. */
size_t playback_samples(const void *state);

#endif
