/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * player - a source of samples that were taken earlier: by a captured machine, or for a recording.
 *
 * It gives its fields the names that the live providers give them, and rows the same meaning. The
 * monitor plays it in place of a live provider, through playback.h. All calls come from one thread.
 */
#ifndef KVMTOP_PROVIDERS_PLAYBACK_PLAYER_H
#define KVMTOP_PROVIDERS_PLAYBACK_PLAYER_H

#include "providers/provider.h"

struct player {
	const char *name;	 /* begins its notices: "exits" */
	bool is_always_by_guest; /* as in struct provider */
	bool is_of_exits;	 /* as in struct provider */

	/*
	 * Adds its fields. recording: what is played, where that is not the captured machine
	 * args->env; it outlives the player. Returns 0, or -errno with why.
	 */
	int (*open)(const void *recording, const struct provider_args *args, void **ret_state,
		    struct why *why);

	/*
	 * Goes back to the first of the samples that show the moment which is looked at, and
	 * returns how many they are: the last two of them are its interval. NULL: it cannot go
	 * back; its samples are played in their order, each when a live one would be taken.
	 */
	size_t (*rewind)(void *state);

	/*
	 * Plays one sample: adds the rows that are wanted, each with these flags, and
	 * sample->time_ns of its source. Returns 0, or -errno with why; a why without an error is a
	 * notice.
	 */
	int (*next)(void *state, const struct want *want, uint32_t flags, struct sample *sample,
		    struct why *why);

	void (*close)(void *state); /* NULL is fine */
};

#endif
