// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a player one of the monitor's providers. */
#include <errno.h>
#include <stdlib.h>

#include "providers/playback/playback.h"

struct playback {
	const struct player *player;
	void *state; /* the player's */
	struct want want;
	bool has_played; /* a sample since the latest want */
	size_t nr_samples; /* that answer it */
};

static void playback_close(void *state)
{
	struct playback *playback = state;

	if (!playback)
		return;
	playback->player->close(playback->state);
	field_set_release(&playback->want.fields);
	free(playback);
}

int playback_open(const struct player *player, const void *recording,
		  const struct provider_args *args, void **ret_state, struct why *why)
{
	struct playback *playback = calloc(1, sizeof(*playback));
	int err;

	if (!playback)
		return -ENOMEM;
	playback->player = player;
	err = player->open(recording, args, &playback->state, why);
	if (err) {
		playback_close(playback);
		return err;
	}
	*ret_state = playback;
	return 0;
}

size_t playback_samples(const void *state)
{
	return ((const struct playback *)state)->nr_samples;
}

static int playback_want(void *state, const struct want *want, struct why *why)
{
	struct playback *playback = state;

	(void)why;
	playback->want.scope = want->scope;
	playback->want.guest = want->guest;
	playback->want.longer_ns = want->longer_ns;
	playback->want.has_halts = want->has_halts;
	playback->has_played = false;
	if (playback->player->rewind)
		playback->nr_samples = playback->player->rewind(playback->state);
	return field_set_copy(&playback->want.fields, &want->fields);
}

/* The first sample of a want has no interval; a later one counts the whole interval before it. */
static int playback_collect(void *state, struct sample *sample, struct why *why)
{
	struct playback *playback = state;
	uint32_t flags = ROW_FROM_ZERO | (playback->has_played ? ROW_WHOLE_INTERVAL : 0);

	playback->has_played = true;
	return playback->player->next(playback->state, &playback->want, flags, sample, why);
}

const struct provider playback_provider = {
	.name = "playback",
	.want = playback_want,
	.collect = playback_collect,
	.close = playback_close,
};
